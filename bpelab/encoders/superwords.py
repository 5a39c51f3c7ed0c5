"""Two-stage encoding for vocabularies with superwords: first the words, then the merges across them.

Here a piece is a whole sentence, so a cache of pieces doesn't help. But all word merges rank before the first
superword, and none of them joins a space to most of the bytes that can precede it. So the piece is cut before such
spaces, and its parts are encoded with the word merges alone, with a cache. A part that isn't in the cache is cut again,
between any two bytes that are adjacent in no word token; the result is mostly words, which have their own cache.
Few pairs of the resulting tokens are adjacent inside a superword (*bonds*). A run of bonds is a window, in which the
remaining merges are made; nothing merges across a pair that isn't a bond.

That is exact if each token has exactly one merge and ranks after its parts. `supports` checks it in the merges.

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
"""Identifies the first superword, though any token would do here. `analysis.superwords` has the proper definition."""
MAX_KEPT, LONGEST_KEPT, LONGEST_WINDOW = 1 << 16, 64, 16
"""Limits of the caches: entries in each, bytes in a word, and tokens in a window."""
Key = TypeVar("Key", bytes, tuple[int, ...])
END = -1, -1
"""A stand-in for the pair after the last token; it isn't a bond."""


class SuperwordEncoder:
    """Encodes words with a cache, then superwords in windows.

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
        """Return whether a model has superwords and two stages give the same ids. Cost: linear in the merges."""
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
        """Return the (rank, token, pair) of each merge in order, and the index where the second stage starts."""
        ranked = sorted((rank, new, pair) for pair, (rank, new) in self.model.merges.items())
        return ranked, next(at for at, merge in enumerate(ranked) if SUPERWORD.search(self.model.tokens[merge[1]]))

    @cached_property
    def _joined(self) -> set[tuple[int, int]]:
        """Return the byte pairs that must not be cut: a word token contains them, or one byte will be dropped."""
        ranked, first = self._ranked
        joined = set(chain.from_iterable(pairwise(self.model.tokens[new]) for _, new, _ in ranked[:first]))
        for dropped in (byte for byte in range(256) if bytes([byte]) not in self.model.alphabet):
            joined.update(pair for byte in range(256) for pair in ((dropped, byte), (byte, dropped)))
        return joined

    @cached_property
    def _stages(self) -> tuple[HeapEncoder, re.Pattern[bytes], set[Pair]]:
        """Return the encoder of words, the pattern that cuts pieces, and the bonds."""
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
        """Return whether a piece is always cut between these two characters."""
        return right == " " and len(self._stages[1].split((left + right).encode())) == 2

    def apart(self, left: list[bytes], right: list[bytes]) -> bool:
        """Return whether no superword can cross from one word to the next, given the pieces of both.

        Return False if that is unknown because a word has no ids.
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
        """Encode a part that isn't in the cache, and cache its ids."""
        joined, known, encoder = self._joined, self._words, self._stages[0]
        cuts = [at for at, pair in enumerate(pairwise(part), 1) if pair not in joined]
        ids = list[int]()
        for start, end in pairwise([0, *cuts, len(part)]):
            word = part[start:end]
            found = known.get(word)
            ids += cache_put(known, word, encoder.encode_piece(word), LONGEST_KEPT) if found is None else found
        return cache_put(self._parts, part, ids, LONGEST_KEPT)

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece."""
        ids, bonds = self._word_ids(piece), self._stages[2]
        if not ids:  # an empty piece, or bytes without a token
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
        """Merge the tokens of a window, with a cache."""
        found = self._windows.get(window)
        if found is None:
            found = cache_put(self._windows, window, self._heap.merge(list(window)), LONGEST_WINDOW)
        return found


def cache_put(cache: dict[Key, list[int]], key: Key, ids: list[int], longest: int) -> list[int]:
    """Cache ids unless the key is longer than `longest`, and return them. A full cache is cleared first."""
    if len(cache) >= MAX_KEPT:
        cache.clear()
    if len(key) <= longest:
        cache[key] = ids
    return ids
