"""The interface of all post-processors.

A post-processor turns its texts into a list of parts, each a list of `Segment`s: ids with one type id, special or not.
Ids, type ids and the mask of special tokens are all read off these.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ..vocab.special_tokens import SpecialTokens

Processor = TypeVar("Processor", bound="PostProcessor")


class Segment(NamedTuple):
    """Ids that share a type id: a text's, or a special token's."""

    ids: Sequence[int]
    type_id: int
    special: bool


Part = list[Segment]
FindIds = Callable[[str], Sequence[int]]


class PostProcessor:
    """Add special tokens to the ids of a text, or of two."""

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        """Return the parts with special tokens among them; `find` returns the ids of names that the processor lacks."""
        raise NotImplementedError

    def check(self, special: SpecialTokens) -> None:
        """Raise SpecialTokenError if a token is named whose id neither the processor nor `special` has."""

    def resolve_ids(self: Processor, special: SpecialTokens) -> Processor:
        """Return the same with the ids of all names filled in, as a tokenizer.json has them."""
        return self

    def strip_ids(self: Processor, special: SpecialTokens) -> Processor:
        """Return the same without the ids that `special` has too, so that they are stored once only."""
        return self

    def map_ids(self: Processor, new_id: Callable[[int], int]) -> Processor:
        """Return the same for a vocabulary in which each id is what `new_id` returns for it."""
        return self

    def items(
        self, ids: Sequence[int], special: SpecialTokens | None = None, pair: Sequence[int] | None = None
    ) -> list[Segment]:
        """Return the items for the ids of a text, and of a second text if there is a `pair`."""
        parts = [[Segment(ids, 0, False)]] if pair is None else [[Segment(ids, 0, False)], [Segment(pair, 1, False)]]
        known = {} if special is None else special.ids
        return [item for part in self.process(parts, lambda name: (known[name],)) for item in part]

    def apply(
        self, ids: Sequence[int], special: SpecialTokens | None = None, pair: Sequence[int] | None = None
    ) -> list[int]:
        """Return the ids of a text, or of a text and a `pair`, with the special tokens.

        `special` has the ids of the names for which the processor has none; `check` tests that it has them all.
        """
        found: list[int] = []
        for item in self.items(ids, special, pair):
            found += item.ids
        return found

    def added_tokens(self, pair: bool = False) -> int:
        """Return how many tokens are added to a text, or to two."""
        parts: list[Part] = [[Segment((), 0, False)] for _ in range(1 + pair)]
        return sum(len(item.ids) for part in self.process(parts, lambda name: (0,)) for item in part)

    @property
    def added(self) -> int:
        """How many tokens are added to one text."""
        return self.added_tokens()
