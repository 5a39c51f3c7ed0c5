"""Encoding calls: which ones are served here, and how. All others are left to the original.

Source: transformers `tokenization_utils_tokenizers.py`, `_encode_plus`.
"""

from functools import partial
from typing import Any

from transformers import BatchEncoding

from .columns import Column
from .encodings import LazyEncodings
from .engine import Engine
from .lengths import LengthOptions, length_options

ARGUMENTS = {
    "text_pair", "add_special_tokens", "padding_strategy", "truncation_strategy", "max_length", "stride",
    "is_split_into_words", "pad_to_multiple_of", "padding_side", "return_tensors", "return_token_type_ids",
    "return_attention_mask", "return_overflowing_tokens", "return_special_tokens_mask", "return_offsets_mapping",
    "return_length", "verbose", "split_special_tokens",
}  # fmt: skip
"""Arguments of `_encode_plus` that are supported here. A call with any other is left to the original."""


def encode(tokenizer: Any, backend: Any, engine: Engine, text: Any, options: dict[str, Any]) -> BatchEncoding | None:
    """Encode as `_encode_plus` does; return None for a call that isn't served here."""
    is_batch = isinstance(text, (list, tuple))
    texts = list(text) if is_batch else [text]
    if not _is_served(tokenizer, options) or not _are_texts(texts):
        return None
    get, added = options.get, options.get("add_special_tokens", True)
    before, after = engine.affixes(added)
    added_count = len(before.ids) + len(after.ids)
    lengths = length_options(tokenizer, options, added_count)
    if lengths is None:
        return None
    if backend.encode_special_tokens:
        backend.encode_special_tokens = False
    tensor_type, max_length = get("return_tensors"), get("max_length")
    data = _data(tokenizer, engine, texts, options, lengths)
    for row in data["input_ids"] if max_length is None else ():
        tokenizer._eventual_warn_about_too_long_sequence(row, max_length, get("verbose", True))  # noqa: SLF001 - what the original calls here
    if not is_batch and tensor_type is None:
        data = {name: rows[0] if isinstance(rows[0], list) else rows for name, rows in data.items()}
    encodings = LazyEncodings(len(texts), partial(engine.encodings, texts, added, lengths))
    return BatchEncoding(data, encodings, tensor_type=tensor_type, n_sequences=1)


def _is_served(tokenizer: Any, options: dict[str, Any]) -> bool:
    """Return whether the arguments are served here: one whole text per row, and no information about characters."""
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
    """Return whether Hugging Face's tokenizers accept the texts: one or more, all str without lone surrogates."""
    if set(map(type, texts)) != {str}:
        return False
    try:
        return all(text.isascii() or text.encode() for text in texts)
    except UnicodeEncodeError:
        return False


def _data(
    tokenizer: Any, engine: Engine, texts: list[str], options: dict[str, Any], lengths: LengthOptions
) -> dict[str, Any]:
    """Return the columns of a batch: arrays if tensors are requested and all rows have the same length, else lists."""
    before, after = engine.affixes(options.get("add_special_tokens", True))
    added_count = len(before.ids) + len(after.ids)
    tensors = options.get("return_tensors") in ("np", "pt")
    parts: list[Any] = engine.arrays(texts) if tensors else engine.lists(texts)
    if lengths.truncation is not None:
        parts = [lengths.truncate(part, added_count) for part in parts]
    width = 0 if lengths.padding is None else lengths.padded_width(added_count + max(map(len, parts)))
    if tensors:
        sizes = {max(width, added_count + len(part)) for part in parts}
        if len(sizes) > 1:  # they can't form a tensor, and transformers raises its own error
            parts, tensors = [part.tolist() for part in parts], False
        else:
            (width,) = sizes
    make = Column.array if tensors else Column.lists
    columns = _columns(tokenizer, engine, options, lengths)
    data: dict[str, Any] = {name: make(column, parts, width, lengths.pads_left) for name, column in columns}
    if options.get("return_length"):
        data["length"] = list(map(len, data["input_ids"]))
    return data


def _columns(
    tokenizer: Any, engine: Engine, options: dict[str, Any], lengths: LengthOptions
) -> list[tuple[str, Column]]:
    """Return the columns that a call requests; by default, the model's inputs."""
    names, get = tokenizer.model_input_names, options.get
    before, after = engine.affixes(get("add_special_tokens", True))
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
