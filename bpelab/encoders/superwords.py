"""Two stages for vocabularies with superwords: words first, then what goes over their ends.

A piece is a sentence here, which no cache has met before. But all merges of words rank before the first superword, and
none of them joins a space to most of the bytes that come before one. So the piece is cut before such spaces, and its
parts are encoded by the merges of words alone, with a cache. Of the pairs of their tokens, few are side by side inside
a superword (*bonds*). A run of bonds is a window, in which the remaining merges are made; nothing merges across what is
no bond.

That is exact where each token is made by one merge, of parts that rank before it. `supports` proves it from the merges.

Chapter: Superwords. Cost: a look-up for each word and for each pair of tokens; the merges of short windows.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from .._support.lazy_property import cached_property
from ..model.bpe import BPEModel, Merge, Pair, RankMerges
from .heap import HeapEncoder

SUPERWORD = re.compile(rb"[A-Za-z] [A-Za-z]")
"""What the first superword of a vocabulary is taken for; any token would do."""
MAX_WORDS, LONGEST_KEPT = 1 << 16, 64
"""Words that are kept, and their bytes at most."""


class SuperwordEncoder:
    """Encodes words from a cache, and superwords in windows.

    >>> merges = [(b" ", b"o"), (b" o", b"f"), (b" ", b"t"), (b" of", b" t"), (b"a", b" of t")]
    >>> model = BPEModel.from_merges(merges)
    >>> SuperwordEncoder.supports(model), SuperwordEncoder(model).encode_piece(b"a of that")
    (True, [260, 104, 97, 116])
    """

    def __init__(self, model: BPEModel) -> None:
        self.model, self._heap = model, HeapEncoder(model)
        self._words: dict[bytes, list[int]] = {}

    @staticmethod
    def supports(model: BPEModel) -> bool:
        """Whether a model has superwords, and two stages have its ids. Cost: a look at every merge."""
        if not model.is_byte_level or model.ignore_merges or isinstance(model.merges, RankMerges):
            return False
        if not any(SUPERWORD.search(token) for token in model.tokens.values()):
            return False
        rank_of = dict.fromkeys(model.alphabet.values(), -1)
        for (left, right), (rank, new) in sorted(model.merges.items(), key=lambda item: item[1]):
            if new in rank_of or rank_of.get(left, rank) >= rank or rank_of.get(right, rank) >= rank:
                return False
            rank_of[new] = rank
        return True

    @cached_property
    def _stages(self) -> tuple[HeapEncoder, re.Pattern[bytes], dict[Pair, Merge | None]]:
        """Return the encoder of words, where pieces are cut, and the bonds, each with its merge if it has one."""
        model = self.model
        ranked = sorted((rank, new, pair) for pair, (rank, new) in model.merges.items())
        first = next(at for at, (_, new, _) in enumerate(ranked) if SUPERWORD.search(model.tokens[new]))
        edges = {token: (token, token) for token in model.alphabet.values()}
        before_space = set[int]()
        for _, new, _ in ranked[:first]:
            edges[new] = new, new
            token = model.tokens[new]
            before_space.update(token[at - 1] for at in range(1, len(token)) if token[at] == ord(" "))
        bonds: dict[Pair, Merge | None] = {}
        for _, new, (left, right) in ranked[first:]:
            edges[new] = edges[left][0], edges[right][1]
            bond = edges[left][1], edges[right][0]
            bonds[bond] = model.merges.get(bond)
        words = {pair: (rank, new) for rank, new, pair in ranked[:first]}
        joined = re.escape(bytes(before_space))
        cut = re.compile(b"(?<=[^" + joined + b"])(?= )" if joined else b"(?<=.)(?= )", re.DOTALL)
        tables = model.tokens, MappingProxyType(words), model.alphabet, False, model.units
        return HeapEncoder(BPEModel.from_validated(*tables, model.ids)), cut, bonds

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece."""
        encoder, cut, bonds = self._stages
        known, ids = self._words, list[int]()
        for part in cut.split(piece):
            found = known.get(part)
            if found is None:
                found = encoder.encode_piece(part)
                if len(known) >= MAX_WORDS:
                    known.clear()
                if len(part) <= LONGEST_KEPT:
                    known[part] = found
            ids += found
        out, window = list[int](), ids[:1]
        for pair in zip(ids, ids[1:]):
            if pair in bonds:
                window.append(pair[1])
            else:
                self._close(window, bonds, out)
                window = [pair[1]]
        self._close(window, bonds, out)
        return out

    def _close(self, window: list[int], bonds: dict[Pair, Merge | None], out: list[int]) -> None:
        """Append what merging makes of a window."""
        if len(window) == 2:
            merge = bonds[window[0], window[1]]
            window = window if merge is None else [merge[1]]
        elif len(window) > 2:
            window = self._heap.merge(window)
        out += window
