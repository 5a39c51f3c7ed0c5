"""What all post-processors share.

What a post-processor makes of its texts is a list of parts, each a list of `Item`s: ids with one type id, special or
not. Ids, type ids and the mask of special tokens are all read off these.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from ..special_tokens import SpecialTokens

Processor = TypeVar("Processor", bound="PostProcessor")


class Item(NamedTuple):
    """Ids that share a type id: a text's, or a special token's."""

    ids: Sequence[int]
    type_id: int
    special: bool


Part = list[Item]
FindIds = Callable[[str], Sequence[int]]


class PostProcessor:
    """What is done to the ids of a text, or of two, when special tokens are to be added."""

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        """The parts with special tokens among them; `find` gives the ids of a name that the processor has none for."""
        raise NotImplementedError

    def check(self, special: SpecialTokens) -> None:
        """Raise SpecialTokenError if a token is named whose id neither the processor nor `special` has."""

    def with_ids(self: Processor, special: SpecialTokens) -> Processor:
        """The same with the ids of all names filled in, as a tokenizer.json has them."""
        return self

    def without_ids(self: Processor, special: SpecialTokens) -> Processor:
        """The same without the ids that `special` has too, so that they stand in one place only."""
        return self

    def items(
        self, ids: Sequence[int], special: SpecialTokens | None = None, pair: Sequence[int] | None = None
    ) -> list[Item]:
        """What becomes of the ids of a text, and of a second text where there is a `pair`."""
        parts = [[Item(ids, 0, False)]] if pair is None else [[Item(ids, 0, False)], [Item(pair, 1, False)]]
        known = {} if special is None else special.ids
        return [item for part in self.process(parts, lambda name: (known[name],)) for item in part]

    def apply(
        self, ids: Sequence[int], special: SpecialTokens | None = None, pair: Sequence[int] | None = None
    ) -> list[int]:
        """The ids of a text, or of a text and a `pair`, with the special tokens.

        `special` has the ids of the names that the processor has none for; `check` says whether it has them all.
        """
        found: list[int] = []
        for item in self.items(ids, special, pair):
            found += item.ids
        return found

    def added_tokens(self, pair: bool = False) -> int:
        """How many tokens are added to a text, or to two."""
        parts: list[Part] = [[Item((), 0, False)] for _ in range(1 + pair)]
        return sum(len(item.ids) for part in self.process(parts, lambda name: (0,)) for item in part)

    @property
    def added(self) -> int:
        """How many tokens are added to one text."""
        return self.added_tokens()
