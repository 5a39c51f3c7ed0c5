"""Lazy models: models from files, kept as arrays, whose dictionaries are built when one of them is first asked for.

Encoding in C needs no dictionaries in Python, so a first text doesn't wait for them.

Chapter: Native code. Cost: creating one, microseconds; its dictionaries, a second for a million tokens and merges.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from types import MappingProxyType

from .._support.gc_paused import gc_paused
from .._support.lazy_property import cached_property
from .bpe import BPEModel
from .rank_merges import RankMerges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .initial_symbols import InitialSymbols
    from .rank_merges import Merge, Pair

    Numbers = memoryview | array[int]
    MergeColumns = tuple[Numbers, Numbers, Numbers, Numbers]
    """The rank, the left, the right and the new id of each merge, as arrays of uint32 in the order of ranks."""


class ModelColumns:
    """A model's tokens and merges as arrays of uint32.

    Attributes:
        ids: the tokens' ids.
        ends: where each token ends in `content`.
        data: bytes that end with the tokens' bytes, concatenated.
        start: where these begin in `data`.
        highest: the highest id.
        merges: the merges' columns; None for a rank table.
    """

    def __init__(
        self, ids: Numbers, ends: Numbers, data: bytes, start: int, highest: int, merges: MergeColumns | None
    ) -> None:
        self.ids, self.ends = ids, ends
        self.data, self.start = data, start
        self.highest, self.merges = highest, merges

    @property
    def content(self) -> memoryview:
        """The tokens' bytes, concatenated."""
        return memoryview(self.data)[self.start :]

    @classmethod
    def of_tokens(cls, ids: Collection[int], tokens: Collection[bytes], merges: MergeColumns | None) -> ModelColumns:
        """Return the columns of tokens, each with its id, and of merges that are columns already."""
        ends = array("I", accumulate(map(len, tokens)))
        return cls(array("I", ids), ends, b"".join(tokens), 0, max(ids), merges)

    @classmethod
    def of(cls, model: BPEModel) -> ModelColumns:
        """Return a model's columns. Cost: if it has none yet, half a second for 500,000 merges."""
        if model.columns is not None:
            return model.columns
        if isinstance(model.merges, RankMerges):
            return cls.of_tokens(model.tokens.keys(), model.tokens.values(), None)
        return cls.of_tokens(model.tokens.keys(), model.tokens.values(), merge_columns(model.merges))


def merge_columns_of(model: BPEModel) -> MergeColumns:
    """Return a model's merges as columns, even if the model is a rank table."""
    columns = None if model.columns is None else model.columns.merges
    return merge_columns(model.merges) if columns is None else columns


def are_distinct(ranks: Numbers) -> bool:
    """Return whether no two merges have the same rank; `ranks` ascend, and are nearly always 0, 1, 2 ...

    >>> are_distinct(array("I", [0, 1])), are_distinct(array("I", [0, 2])), are_distinct(array("I", [0, 0]))
    (True, True, False)
    """
    return ranks == array("I", range(len(ranks))) or len(set(ranks)) == len(ranks)


def merge_columns(merges: Mapping[Pair, Merge]) -> MergeColumns:
    """Return the rank, the left, the right and the new id of each merge, in the order of ranks."""
    rows = sorted((rank, *pair, new) for pair, (rank, new) in merges.items())
    rank, left, right, new = (array("I", column) for column in zip(*rows)) if rows else (array("I") for _ in range(4))
    return rank, left, right, new


class LazyModel(BPEModel):
    """A `BPEModel` whose tables are made from `columns` when they are first accessed.

    The columns are trusted: whoever makes them has checked that they fit each other.
    """

    columns: ModelColumns

    def __init__(self, columns: ModelColumns, ignore_merges: bool, initial_symbols: InitialSymbols | None) -> None:
        vars(self).update(columns=columns, ignore_merges=ignore_merges, initial_symbols=initial_symbols)

    @cached_property
    @gc_paused()  # hundreds of thousands of objects are made, none of them garbage
    def tokens(self) -> Mapping[int, bytes]:  # type: ignore[override]
        """Id -> bytes."""
        content, ends = self.columns.content.tobytes(), self.columns.ends
        written = [content[start:end] for start, end in zip([0, *ends], ends)]
        return MappingProxyType(dict(zip(self.columns.ids, written)))

    @cached_property
    def alphabet(self) -> Mapping[bytes, int]:  # type: ignore[override]
        """Symbol -> id."""
        if (symbols := self.initial_symbols) is not None:
            longest = symbols.longest
            short = {token: token_id for token_id, token in self.tokens.items() if len(token) <= longest}
            return MappingProxyType(symbols.alphabet(short))
        return MappingProxyType({byte: self.ids[byte] for byte in map(bytes, zip(range(256)))})

    @cached_property
    @gc_paused()
    def merges(self) -> Mapping[Pair, Merge]:  # type: ignore[override]
        """(left id, right id) -> (rank, new id)."""
        if self.columns.merges is None:
            return RankMerges(self.tokens, self.ids)
        rank, left, right, new = self.columns.merges
        return MappingProxyType(dict(zip(zip(left, right), zip(rank, new))))

    @property
    def is_rank_table(self) -> bool:
        """True if any two neighbours merge whose concatenation is a token, False for a list of merges."""
        return self.columns.merges is None

    def definitely_lacks(self, token_id: int, token: bytes) -> bool:
        """Return True if the model, without making its tables, is known to have neither this id nor this token."""
        columns = self.columns
        return token_id > columns.highest and columns.data.find(token, columns.start) < 0
