"""What a `BatchEncoding` of transformers knows beside its columns, found out when it is asked for.

Where a token begins in the text, which word it is of, and the like are in one `tokenizers.Encoding` for each row, which
only that library can make. Few ask: so it encodes the texts then, with a copy of the tokenizer as it was.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..cached import cached_property


class Encodings(Sequence[Any]):
    """A list of so many encodings, which is made by `make` when somebody looks into it.

    >>> rows = Encodings(2, lambda: ["first", "second"])
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
