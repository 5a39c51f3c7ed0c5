"""Two stages for vocabularies with superwords: words first, then what goes over their ends.

A piece is a sentence here, which no cache has met before. But all merges of words rank before the first superword, and
none of them joins a space to most of the bytes that come before one. So the piece is cut before such spaces, and its
parts are encoded by the merges of words alone, with a cache. A part that the cache lacks is cut once more, between any
two bytes that no token of words has side by side; most of what that leaves are words, which have a cache of their own.
Of the pairs of their tokens, few are side by side inside a superword (*bonds*). A run of bonds is a window, in which
the remaining merges are made; nothing merges across what is no bond.

That is exact where each token is made by one merge, of parts that rank before it. `supports` proves it from the merges.

Chapter: Superwords. Cost: a look-up for each word and for each pair of tokens; the merges of short windows.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TypeVar

from .._support.lazy_property import cached_property
from ..model.bpe import BPEModel, Pair, RankMerges
from .heap import HeapEncoder

SUPERWORD = re.compile(rb"[A-Za-z] [A-Za-z]")
"""What the first superword of a vocabulary is taken for; any token would do. `analysis.superwords` defines the word."""
MAX_KEPT, LONGEST_KEPT, LONGEST_WINDOW = 1 << 16, 64, 16
"""Words and windows that are kept; bytes and tokens that one may have."""
Key = TypeVar("Key", bytes, tuple[int, ...])
END = -1, -1
"""In place of the pair after the last token, which is no bond."""


class SuperwordEncoder:
    """Encodes words from a cache, and superwords in windows.

    >>> merges = [(b" ", b"o"), (b" o", b"f"), (b" ", b"t"), (b" of", b" t"), (b"a", b" of t")]
    >>> model = BPEModel.from_merges(merges)
    >>> SuperwordEncoder.supports(model), SuperwordEncoder(model).encode_piece(b"a of that")
    (True, [260, 104, 97, 116])
    """

    def __init__(self, model: BPEModel) -> None:
        self.model, self._heap = model, HeapEncoder(model)
        self._parts: dict[bytes, list[int]] = {}
        self._words: dict[bytes, list[int]] = {}
        self._windows: dict[tuple[int, ...], list[int]] = {}

    @staticmethod
    def supports(model: BPEModel) -> bool:
        """Whether a model has superwords, and two stages have its ids. Cost: a look at every merge."""
        if not model.covers_utf8 or model.ignore_merges or isinstance(model.merges, RankMerges):
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
    def _ranked(self) -> tuple[list[tuple[int, int, Pair]], int]:
        """Return (rank, token, pair) of the merges in order, and where the second stage begins."""
        ranked = sorted((rank, new, pair) for pair, (rank, new) in self.model.merges.items())
        return ranked, next(at for at, merge in enumerate(ranked) if SUPERWORD.search(self.model.tokens[merge[1]]))

    @cached_property
    def _joined(self) -> set[tuple[int, int]]:
        """Return the pairs of bytes between which nothing is cut: a token of words has them, or one will be dropped."""
        ranked, first = self._ranked
        joined = set(chain.from_iterable(pairwise(self.model.tokens[new]) for _, new, _ in ranked[:first]))
        for dropped in (byte for byte in range(256) if bytes([byte]) not in self.model.alphabet):
            joined.update(pair for byte in range(256) for pair in ((dropped, byte), (byte, dropped)))
        return joined

    @cached_property
    def _stages(self) -> tuple[HeapEncoder, re.Pattern[bytes], set[Pair]]:
        """Return the encoder of words, where pieces are cut, and the bonds."""
        model, (ranked, first) = self.model, self._ranked
        edges = {token: (token, token) for token in model.alphabet.values()}
        edges.update((new, (new, new)) for _, new, _ in ranked[:first])
        bonds: set[Pair] = set()
        for _, new, (left, right) in ranked[first:]:
            edges[new] = edges[left][0], edges[right][1]
            bonds.add((edges[left][1], edges[right][0]))
        words = {pair: (rank, new) for rank, new, pair in ranked[:first]}
        joined = re.escape(bytes(left for left, right in self._joined if right == ord(" ")))
        cut = re.compile(b"(?<=[^" + joined + b"])(?= )" if joined else b"(?<=.)(?= )", re.DOTALL)
        tables = model.tokens, MappingProxyType(words), model.alphabet, False, model.units
        return HeapEncoder(BPEModel.from_validated(*tables, model.ids)), cut, bonds

    def cuts_between(self, left: str, right: str) -> bool:
        """Whether a piece is cut between two characters, wherever they are."""
        return right == " " and len(self._stages[1].split((left + right).encode())) == 2

    def apart(self, left: list[bytes], right: list[bytes]) -> bool:
        """Whether no superword goes over the end of the pieces of a word, and over the beginning of those of the next.

        False where nothing is known, since a word has no ids.
        """
        before, after = self._word_ids(left[-1]), self._word_ids(right[0])
        return bool(before and after) and (before[-1], after[0]) not in self._stages[2]

    def _word_ids(self, piece: bytes) -> list[int]:
        """Return the ids of a piece after the first stage."""
        known, ids = self._parts, list[int]()
        for part in self._stages[1].split(piece):
            found = known.get(part)
            ids += self._new_ids(part) if found is None else found
        return ids

    def _new_ids(self, part: bytes) -> list[int]:
        """Return the ids of a part that the cache lacks, and keep them."""
        joined, known, encoder = self._joined, self._words, self._stages[0]
        cuts = [at for at, pair in enumerate(pairwise(part), 1) if pair not in joined]
        ids = list[int]()
        for start, end in pairwise([0, *cuts, len(part)]):
            word = part[start:end]
            found = known.get(word)
            ids += kept(known, word, encoder.encode_piece(word), LONGEST_KEPT) if found is None else found
        return kept(self._parts, part, ids, LONGEST_KEPT)

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece."""
        ids, bonds = self._word_ids(piece), self._stages[2]
        if not ids:  # nothing, or bytes that have no token
            return []
        out, start = list[int](), 0
        for end, pair in enumerate(chain(pairwise(ids), [END]), 1):
            if pair in bonds:
                continue
            if end - start == 1:
                out.append(ids[start])
            else:
                out += self._merged(tuple(ids[start:end]))
            start = end
        return out

    def _merged(self, window: tuple[int, ...]) -> list[int]:
        """Return what merging makes of a window."""
        found = self._windows.get(window)
        if found is None:
            found = kept(self._windows, window, self._heap.merge(list(window)), LONGEST_WINDOW)
        return found


def kept(cache: dict[Key, list[int]], key: Key, ids: list[int], longest: int) -> list[int]:
    """Put ids into a cache, unless the key is longer than `longest`, and return them; a full cache begins anew."""
    if len(cache) >= MAX_KEPT:
        cache.clear()
    if len(key) <= longest:
        cache[key] = ids
    return ids
