"""The result of a call: the columns of a batch, by key or as attributes; and padding of columns afterwards.

Names and results are those of transformers' `BatchEncoding` and of its tokenizers' `pad`, which data collators call.

Chapter: Streaming. Cost: linear. Source: transformers `tokenization_utils_base.py`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._support.migration_hints import BATCH, explained
from ..core.length_settings import Padding

if TYPE_CHECKING:
    Columns = dict[str, Any]


class Batch(dict[str, Any]):
    """A dict whose entries are also attributes.

    >>> batch = Batch(input_ids=[1, 2])
    >>> batch.input_ids is batch["input_ids"], batch
    (True, {'input_ids': [1, 2]})
    """

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(explained("what the call gave", name, BATCH), name=name, obj=self)


def as_columns(encoded: Any) -> "tuple[Columns, bool]":
    """Return the columns, as lists, of a call's result or of several results, one a row; and whether they are a batch.

    Raises TypeError for any other input, ValueError without "input_ids".
    """
    if not isinstance(encoded, Mapping):
        if not isinstance(encoded, Sequence) or not all(isinstance(row, Mapping) for row in encoded):
            raise TypeError(f"pad takes what the tokenizer's call gave, or a list of it, not {type(encoded).__name__}")
        if not encoded:
            raise ValueError("the batch is empty: there is nothing to pad")
        encoded = {name: [row[name] for row in encoded] for name in encoded[0]}
    if "input_ids" not in encoded:
        raise ValueError(f'pad needs "input_ids", and there are {", ".join(map(str, encoded)) or "no columns"}')
    columns = {name: _listed(column) for name, column in encoded.items()}
    ids = columns["input_ids"]
    return columns, bool(ids) and isinstance(ids[0], list)


def _listed(column: Any) -> Any:
    """Return a column with its arrays converted to lists."""
    if hasattr(column, "tolist"):
        return column.tolist()
    return [row.tolist() if hasattr(row, "tolist") else row for row in column] if isinstance(column, list) else column


def pad_columns(columns: "Columns", padding: Padding | None) -> "Columns":
    """Return the columns with rows padded to the longest, or as `padding` says; unknown columns are unchanged.

    >>> pad_columns({"input_ids": [[1], [2, 3]], "labels": [0, 1]}, Padding("BatchLongest", "Left", None, 9))
    {'input_ids': [[9, 1], [2, 3]], 'labels': [0, 1], 'attention_mask': [[0, 1], [1, 1]]}
    """
    rows = columns["input_ids"]
    columns = {**columns, "attention_mask": columns.get("attention_mask", [[1] * len(row) for row in rows])}
    if padding is None:
        return columns
    length = padding.length(max(map(len, rows), default=0))
    values = {
        "input_ids": padding.pad_id,
        "attention_mask": 0,
        "token_type_ids": padding.pad_type_id,
        "special_tokens_mask": 1,
    }
    for name in values.keys() & columns.keys():
        columns[name] = [
            padding.filled(list(row), length - len(ids), values[name]) for row, ids in zip(columns[name], rows)
        ]
    return columns
