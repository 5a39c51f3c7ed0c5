"""Lazy `Encoding` objects of a `BatchEncoding` of transformers, created on first access.

One `tokenizers.Encoding` per row holds where each token begins in the text, which word it belongs to, and the like;
only that library can create it. These are rarely used, so the library encodes the texts on access, with a copy of the
tokenizer as it was.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .._support.lazy_property import cached_property


class LazyEncodings(Sequence[Any]):
    """A sequence of `length` encodings; `make` creates them all when an item is first accessed.

    >>> rows = LazyEncodings(2, lambda: ["first", "second"])
    >>> len(rows), rows[1]
    (2, 'second')
    """

    def __init__(self, length: int, make: Callable[[], list[Any]]) -> None:
        self._length, self._make = length, make

    @cached_property
    def _list(self) -> list[Any]:
        return self._make()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        return self._list[index]

    def __repr__(self) -> str:
        return repr(self._list)

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        return list, (self._list,)
