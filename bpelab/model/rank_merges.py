"""Rank merges: which tokens merge by tiktoken's rule, computed on demand from a table of ranks.

Chapter: Matching GPT-2 and GPT-4. Source: tiktoken's `src/lib.rs`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Pair = tuple[int, int]
Merge = tuple[int, int]
"""(rank, id of the new token)."""

MAX_WORK = 10**9
"""Limit on the bytes of the tokens split in two, in all ways, to list merges: fifty times the largest vocabularies'."""


class RankMerges(Mapping[Pair, Merge]):
    """The merges of a rank table, computed on demand: a pair merges if its concatenation is a token.

    `get` costs one concatenation and one lookup, and nothing is built beforehand. Iteration tries every split of every
    token (233,378 pairs for cl100k_base), and raises ModelError if there are too many. The rank of a token is its id,
    unless `rank_of` says otherwise.
    """

    def __init__(
        self, tokens: Mapping[int, bytes], ids: Mapping[bytes, int], rank_of: Mapping[int, int] | None = None
    ) -> None:
        self._tokens, self._ids, self.rank_of = tokens, ids, rank_of

    @property
    def plain(self) -> bool:
        """True if the rank of a token is its id."""
        return self.rank_of is None

    def get(self, pair: Pair, default: object = None) -> Merge | None:  # type: ignore[override]
        new = self._ids.get(self._tokens[pair[0]] + self._tokens[pair[1]])
        if new is None:
            return None
        return new if self.rank_of is None else self.rank_of[new], new

    def __getitem__(self, pair: Pair) -> Merge:
        try:
            merge = self.get(pair)
        except KeyError:
            merge = None
        if merge is None:
            raise KeyError(pair)
        return merge

    def __iter__(self) -> Iterator[Pair]:
        from bisect import bisect_left

        ids, work = self._ids, 0
        lengths = sorted(set(map(len, ids)) - {0})
        known, first_bytes = set(lengths), {token[0] for token in ids if token}  # in UTF-8, few cuts are between these
        for token in ids:
            for cut in lengths[: bisect_left(lengths, len(token))]:
                if token[cut] not in first_bytes or len(token) - cut not in known:
                    continue
                if (work := work + len(token)) > MAX_WORK:
                    raise ModelError(
                        "the tokens are so long and so alike that there are too many pairs to list; the tokenizer "
                        "encodes and decodes, but operations that need all merges don't work"
                    )
                left, right = ids.get(token[:cut]), ids.get(token[cut:])
                if left is None or right is None:
                    continue
                if self.rank_of is None or self.get((left, right)) is not None:  # some tokens may have no rank
                    yield left, right

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def extended(self, more: Mapping[int, bytes]) -> RankMerges:
        """Return the merges of the table and of more tokens, id -> bytes, which rank after all others, in this order.

        If ranks are ids, the new ids must be above all others.
        """
        tokens, ids = {**self._tokens, **more}, {**self._ids, **{token: token_id for token_id, token in more.items()}}
        if self.rank_of is None:
            return RankMerges(tokens, ids)
        first = 1 + max(self.rank_of.values(), default=-1)
        return RankMerges(tokens, ids, {**self.rank_of, **{i: first + at for at, i in enumerate(more)}})

    def renumbered(self, new_ids: Mapping[int, int]) -> RankMerges:
        """Return the merges of the tokens in `new_ids`, old id -> new id, in their old order."""
        tokens = {new_ids[old]: token for old, token in self._tokens.items() if old in new_ids}
        ids = {token: new_ids[old] for token, old in self._ids.items() if old in new_ids}
        if self.rank_of is None:
            return RankMerges(tokens, ids)
        return RankMerges(tokens, ids, {new_ids[old]: rank for old, rank in self.rank_of.items() if old in new_ids})

    def __reduce__(self) -> tuple[object, ...]:
        return RankMerges, (dict(self._tokens), dict(self._ids), self.rank_of)
