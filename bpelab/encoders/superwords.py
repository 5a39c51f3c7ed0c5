"""Two-stage encoding for vocabularies with superwords: first the words, then the merges across them.

Here a piece is a whole sentence, so a cache of pieces doesn't help. But all word merges rank before the first
superword, and none of them joins a space to most of the bytes that can precede it. So the piece is cut before such
spaces, and its parts are encoded with the word merges alone, with a cache. A part that isn't in the cache is cut again,
between any two bytes that are adjacent in no word token; the result is mostly words, which have their own cache.
Few pairs of the resulting tokens are adjacent inside a superword (*superword pairs*), and nothing merges across any
other pair. So the remaining merges are made in each run of superword pairs by itself.

That is exact if each token has exactly one merge and ranks after its parts. `supports` checks it in the merges.

Chapter: Superwords. Cost: a look-up for each word and for each pair of tokens; the merges of short runs.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TypeVar

from .._support.lazy_property import cached_property
from ..model.bpe import BPEModel
from ..model.rank_merges import Pair, RankMerges
from .heap import HeapEncoder

SUPERWORD = re.compile(rb"[A-Za-z] [A-Za-z]")
"""Identifies the first superword, though any token would do here. `analysis.superwords` has the proper definition."""
MAX_CACHED, LONGEST_CACHED, LONGEST_RUN = 1 << 16, 64, 16
"""Limits of the caches: entries in each, bytes in a word, and tokens in a run."""
Key = TypeVar("Key", bytes, tuple[int, ...])
END = -1, -1
"""A stand-in for the pair after the last token; it isn't a superword pair."""


class SuperwordEncoder:
    """Encodes words with a cache, then superwords, in runs of superword pairs.

    >>> merges = [(b" ", b"o"), (b" o", b"f"), (b" ", b"t"), (b" of", b" t"), (b"a", b" of t")]
    >>> model = BPEModel.from_merges(merges)
    >>> SuperwordEncoder.supports(model), SuperwordEncoder(model).encode_piece(b"a of that")
    (True, [260, 104, 97, 116])
    """

    def __init__(self, model: BPEModel) -> None:
        self.model, self._heap = model, HeapEncoder(model)
        self._ids_of_parts: dict[bytes, list[int]] = {}
        self._ids_of_words: dict[bytes, list[int]] = {}
        self._ids_of_runs: dict[tuple[int, ...], list[int]] = {}

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
    def _pairs_in_words(self) -> set[tuple[int, int]]:
        """Return the byte pairs that must not be cut: a word token contains them, or one byte will be dropped."""
        ranked, first = self._ranked
        pairs = set(chain.from_iterable(pairwise(self.model.tokens[new]) for _, new, _ in ranked[:first]))
        for dropped in (byte for byte in range(256) if bytes([byte]) not in self.model.alphabet):
            pairs.update(pair for byte in range(256) for pair in ((dropped, byte), (byte, dropped)))
        return pairs

    @cached_property
    def _word_encoder(self) -> HeapEncoder:
        """Return the encoder of the first stage."""
        model, (ranked, first) = self.model, self._ranked
        merges = {pair: (rank, new) for rank, new, pair in ranked[:first]}
        tables = model.tokens, MappingProxyType(merges), model.alphabet, False, model.initial_symbols
        return HeapEncoder(BPEModel(*tables, validated_ids=model.ids))

    @cached_property
    def word_starts(self) -> re.Pattern[bytes]:
        """Return the pattern that matches before the spaces where a piece is cut."""
        joined = re.escape(bytes(left for left, right in self._pairs_in_words if right == ord(" ")))
        return re.compile(b"(?<=[^" + joined + b"])(?= )" if joined else b"(?<=.)(?= )", re.DOTALL)

    @cached_property
    def superword_pairs(self) -> set[Pair]:
        """Return the pairs of word tokens that are adjacent inside a superword."""
        ranked, first = self._ranked
        edges = {token: (token, token) for token in self.model.alphabet.values()}
        edges.update((new, (new, new)) for _, new, _ in ranked[:first])
        pairs: set[Pair] = set()
        for _, new, (left, right) in ranked[first:]:
            edges[new] = edges[left][0], edges[right][1]
            pairs.add((edges[left][1], edges[right][0]))
        return pairs

    def cuts_between(self, left: str, right: str) -> bool:
        """Return whether a piece is always cut between these two characters."""
        return right == " " and len(self.word_starts.split((left + right).encode())) == 2

    def no_superword_across(self, left: list[bytes], right: list[bytes]) -> bool:
        """Return whether no superword can cross from one word to the next, given the pieces of both.

        Return False if that is unknown because a word has no ids.
        """
        before, after = self.word_ids(left[-1]), self.word_ids(right[0])
        return bool(before and after) and (before[-1], after[0]) not in self.superword_pairs

    def word_ids(self, piece: bytes) -> list[int]:
        """Return the ids of a piece after the first stage."""
        cache, ids = self._ids_of_parts, list[int]()
        for part in self.word_starts.split(piece):
            cached = cache.get(part)
            ids += self._encode_part(part) if cached is None else cached
        return ids

    def _encode_part(self, part: bytes) -> list[int]:
        """Encode a part that isn't in the cache, and cache its ids."""
        in_words, cache, encoder = self._pairs_in_words, self._ids_of_words, self._word_encoder
        cuts = [at for at, pair in enumerate(pairwise(part), 1) if pair not in in_words]
        ids = list[int]()
        for start, end in pairwise([0, *cuts, len(part)]):
            word = part[start:end]
            cached = cache.get(word)
            ids += cache_put(cache, word, encoder.encode_piece(word), LONGEST_CACHED) if cached is None else cached
        return cache_put(self._ids_of_parts, part, ids, LONGEST_CACHED)

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece."""
        ids, superword_pairs = self.word_ids(piece), self.superword_pairs
        if not ids:  # an empty piece, or bytes without a token
            return []
        out, start = list[int](), 0
        for end, pair in enumerate(chain(pairwise(ids), [END]), 1):
            if pair in superword_pairs:
                continue
            if end - start == 1:
                out.append(ids[start])
            else:
                out += self._merge_run(tuple(ids[start:end]))
            start = end
        return out

    def _merge_run(self, run: tuple[int, ...]) -> list[int]:
        """Merge the tokens of a run, with a cache."""
        cached = self._ids_of_runs.get(run)
        if cached is None:
            cached = cache_put(self._ids_of_runs, run, self._heap.merge(list(run)), LONGEST_RUN)
        return cached


def cache_put(cache: dict[Key, list[int]], key: Key, ids: list[int], longest: int) -> list[int]:
    """Cache ids unless the key is longer than `longest`, and return them. A full cache is cleared first."""
    if len(cache) >= MAX_CACHED:
        cache.clear()
    if len(key) <= longest:
        cache[key] = ids
    return ids
