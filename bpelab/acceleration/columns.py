"""Columns of a batch: each row has special tokens before the text, the text, special tokens after it, and padding.

Chapter: Streaming. Cost: linear; arrays are filled row by row, without intermediate lists.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Column(NamedTuple):
    """The recipe for one column, such as the attention mask.

    Attributes:
        before, after: the values of the tokens added before and after a text.
        text: the value of each token of a text; None for the token's id.
        padding: the value of padding.
    """

    before: list[int]
    text: int | None
    after: list[int]
    padding: int

    def lists(self, texts: list[list[int]], width: int, left: bool) -> list[list[int]]:
        """Return the rows, each padded to `width` on its left or its right.

        Without padding they may be `texts` themselves.

        >>> Column([1], None, [2], 0).lists([[7, 8], []], 4, left=False)
        [[1, 7, 8, 2], [1, 2, 0, 0]]
        """
        before, value, after, padding = self
        rows = texts if value is None else [[value] * len(text) for text in texts]
        if before or after:
            rows = [before + row + after for row in rows]
        if width == 0:
            return rows
        if left:
            return [[padding] * (width - len(row)) + row for row in rows]
        return [row + [padding] * (width - len(row)) for row in rows]

    def array(self, texts: Sequence[Any], width: int, left: bool) -> "NDArray[np.int64]":
        """Return the rows as an int64 array of shape (len(texts), width). No row may be longer than `width`.

        >>> Column([1], None, [2], 0).array([[7, 8], []], 4, left=True)
        array([[1, 7, 8, 2],
               [0, 0, 1, 2]])
        """
        import numpy as np

        rows = np.full((len(texts), width), self.padding, np.int64)
        before, after = len(self.before), len(self.after)
        for row, text in zip(rows, texts):
            start = width - before - len(text) - after if left else 0
            stop = start + before + len(text)
            row[start : start + before] = self.before
            row[start + before : stop] = text if self.text is None else self.text
            row[stop : stop + after] = self.after
        return rows
