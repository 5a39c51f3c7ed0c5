"""The interface of all post-processors.

A post-processor turns its texts into parts, each a list of `Segment` objects: ids with one type id, special or not.
Ids, type ids and the special tokens mask are derived from these.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar

from ..vocab.special_tokens import SpecialTokens

Processor = TypeVar("Processor", bound="PostProcessor")


class Segment(NamedTuple):
    """Ids with one type id, from a text or from a special token."""

    ids: Sequence[int]
    type_id: int
    special: bool


Part = list[Segment]
FindIds = Callable[[str], Sequence[int]]


class PostProcessor:
    """Add special tokens to the ids of one text or two."""

    def process(self, parts: list[Part], find: FindIds) -> list[Part]:
        """Return the parts with special tokens added; `find` returns the ids of names the processor can't resolve."""
        raise NotImplementedError

    def check(self, special: SpecialTokens) -> None:
        """Raise SpecialTokenError if neither the processor nor `special` has the id of a named token."""

    def resolve_ids(self: Processor, special: SpecialTokens) -> Processor:
        """Return the post-processor with all names' ids filled in, as in a tokenizer.json."""
        return self

    def strip_ids(self: Processor, special: SpecialTokens) -> Processor:
        """Return the post-processor without the ids that `special` also has, so that they are stored only once."""
        return self

    def map_ids(self: Processor, new_id: Callable[[int], int]) -> Processor:
        """Return the post-processor for a renumbered vocabulary: `new_id` maps each old id to its new one."""
        return self

    def items(
        self, ids: Sequence[int], special: SpecialTokens | None = None, pair: Sequence[int] | None = None
    ) -> list[Segment]:
        """Return the segments for the ids of a text, and of a second text if there is a `pair`."""
        parts = [[Segment(ids, 0, False)]] if pair is None else [[Segment(ids, 0, False)], [Segment(pair, 1, False)]]
        known = {} if special is None else special.ids
        return [item for part in self.process(parts, lambda name: (known[name],)) for item in part]

    def apply(
        self, ids: Sequence[int], special: SpecialTokens | None = None, pair: Sequence[int] | None = None
    ) -> list[int]:
        """Return the ids of a text, or of a text and a `pair`, with special tokens added.

        `special` has the ids of names that the processor has none for; `check` tests that all are there.
        """
        found: list[int] = []
        for item in self.items(ids, special, pair):
            found += item.ids
        return found

    def affixes(self, special: SpecialTokens) -> tuple[list[int], list[int]] | None:
        """Return the ids that `apply` puts before and after those of one text; None if it does anything else.

        >>> from bpelab.postprocessors import ByteLevel
        >>> ByteLevel().affixes(SpecialTokens({}))
        ([], [])
        """
        marker = (0,)
        ids = [item.ids for item in self.items(marker, special)]
        if [part is marker for part in ids].count(True) != 1:
            return None
        place = next(place for place, part in enumerate(ids) if part is marker)
        return list(chain(*ids[:place])), list(chain(*ids[place + 1 :]))

    def added_tokens(self, pair: bool = False) -> int:
        """Return the number of tokens added to one text, or to two."""
        parts: list[Part] = [[Segment((), 0, False)] for _ in range(1 + pair)]
        return sum(len(item.ids) for part in self.process(parts, lambda name: (0,)) for item in part)

    @property
    def added(self) -> int:
        """The number of tokens added to one text."""
        return self.added_tokens()
