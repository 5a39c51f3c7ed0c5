"""Calls that encode: which of them are served here, and how. All others are the original's.

Source: transformers `tokenization_utils_tokenizers.py`, `_encode_plus`.
"""

from functools import partial
from typing import Any

from transformers import BatchEncoding

from .columns import Column
from .encodings import Encodings
from .engine import Engine
from .lengths import Lengths, lengths_of

ARGUMENTS = {
    "text_pair", "add_special_tokens", "padding_strategy", "truncation_strategy", "max_length", "stride",
    "is_split_into_words", "pad_to_multiple_of", "padding_side", "return_tensors", "return_token_type_ids",
    "return_attention_mask", "return_overflowing_tokens", "return_special_tokens_mask", "return_offsets_mapping",
    "return_length", "verbose", "split_special_tokens",
}  # fmt: skip
"""Arguments of `_encode_plus` whose meaning is known here. A call with any other is the original's."""


def encode(tokenizer: Any, backend: Any, engine: Engine, text: Any, options: dict[str, Any]) -> BatchEncoding | None:
    """What `_encode_plus` returns; None for a call that isn't served."""
    many = isinstance(text, (list, tuple))
    texts = list(text) if many else [text]
    if not _is_served(tokenizer, options) or not _are_texts(texts):
        return None
    get, added = options.get, options.get("add_special_tokens", True)
    before, after = engine.around(added)
    around = len(before.ids) + len(after.ids)
    lengths = lengths_of(tokenizer, options, around)
    if lengths is None:
        return None
    if backend.encode_special_tokens:
        backend.encode_special_tokens = False
    tensor_type, max_length = get("return_tensors"), get("max_length")
    data = _data(tokenizer, engine, texts, options, lengths)
    for row in data["input_ids"] if max_length is None else ():
        tokenizer._eventual_warn_about_too_long_sequence(row, max_length, get("verbose", True))
    if not many and tensor_type is None:
        data = {name: rows[0] if isinstance(rows[0], list) else rows for name, rows in data.items()}
    encodings = Encodings(len(texts), partial(engine.encodings, texts, added, lengths))
    return BatchEncoding(data, encodings, tensor_type=tensor_type, n_sequences=1)


def _is_served(tokenizer: Any, options: dict[str, Any]) -> bool:
    """Whether all that is asked for is served here: one text a row, whole, and nothing about its characters."""
    get = options.get
    splits = get("split_special_tokens")
    return (
        options.keys() <= ARGUMENTS
        and get("text_pair") is None
        and isinstance(get("add_special_tokens", True), bool)
        and get("is_split_into_words", False) is False
        and not get("stride")
        and not get("return_overflowing_tokens")
        and not get("return_offsets_mapping")
        and (tokenizer.split_special_tokens if splits is None else splits) is False
    )


def _are_texts(texts: list[Any]) -> bool:
    """Whether they are what Hugging Face's tokenizers take: at least one, all of them str that can be UTF-8."""
    if set(map(type, texts)) != {str}:
        return False
    try:
        return all(text.isascii() or text.encode() for text in texts)
    except UnicodeEncodeError:
        return False


def _data(
    tokenizer: Any, engine: Engine, texts: list[str], options: dict[str, Any], lengths: Lengths
) -> dict[str, Any]:
    """The columns of a batch, as arrays where tensors are asked for and rows are of one length, else as lists."""
    before, after = engine.around(options.get("add_special_tokens", True))
    around = len(before.ids) + len(after.ids)
    tensors = options.get("return_tensors") in ("np", "pt")
    parts: list[Any] = engine.arrays(texts) if tensors else engine.lists(texts)
    if lengths.truncation is not None:
        parts = [lengths.truncated(part, around) for part in parts]
    width = 0 if lengths.padding is None else lengths.width(around + max(map(len, parts)))
    if tensors:
        sizes = {max(width, around + len(part)) for part in parts}
        if len(sizes) > 1:  # which makes no tensor, as transformers will say
            parts, tensors = [part.tolist() for part in parts], False
        else:
            (width,) = sizes
    make = Column.array if tensors else Column.lists
    columns = _columns(tokenizer, engine, options, lengths)
    data: dict[str, Any] = {name: make(column, parts, width, lengths.pads_left) for name, column in columns}
    if options.get("return_length"):
        data["length"] = list(map(len, data["input_ids"]))
    return data


def _columns(tokenizer: Any, engine: Engine, options: dict[str, Any], lengths: Lengths) -> list[tuple[str, Column]]:
    """The columns that a call asks for, or else the model."""
    names, get = tokenizer.model_input_names, options.get
    before, after = engine.around(get("add_special_tokens", True))
    types, mask = get("return_token_type_ids"), get("return_attention_mask")
    pad_id, pad_type_id = 0, 0
    if lengths.padding is not None:
        pad_id, pad_type_id = lengths.padding["pad_id"], lengths.padding["pad_type_id"]
    columns = [("input_ids", Column(before.ids, None, after.ids, pad_id))]
    if "token_type_ids" in names if types is None else types:
        columns.append(("token_type_ids", Column(before.types, engine.type_id, after.types, pad_type_id)))
    if "attention_mask" in names if mask is None else mask:
        columns.append(("attention_mask", Column([1] * len(before.ids), 1, [1] * len(after.ids), 0)))
    if get("return_special_tokens_mask"):
        columns.append(("special_tokens_mask", Column(before.special, 0, after.special, 1)))
    return columns
