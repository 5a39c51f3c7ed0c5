"""Calls of a tokenizer of transformers that are served here, and how. All others are the original's.

Source: transformers `tokenization_utils_tokenizers.py`, `_encode_plus`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from transformers import BatchEncoding
from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils import PaddingStrategy

from .columns import Column
from .encodings import Encodings
from .engine import Engine, Side


def _anything(value: Any) -> bool:
    return True


def _one_of(*values: Any) -> Callable[[Any], bool]:
    return lambda value: any(value is served for served in values)


def _number(value: Any) -> bool:
    return value is None or type(value) is int


SERVED: dict[str, Callable[[Any], bool]] = {
    "text_pair": _one_of(None),
    "add_special_tokens": _one_of(True, False),
    "padding_strategy": _anything,
    "truncation_strategy": _one_of(
        TruncationStrategy.DO_NOT_TRUNCATE, TruncationStrategy.LONGEST_FIRST, TruncationStrategy.ONLY_FIRST
    ),
    "max_length": _number,
    "stride": lambda value: type(value) is int and value == 0,
    "is_split_into_words": _one_of(False),
    "pad_to_multiple_of": _number,
    "padding_side": _anything,
    "return_tensors": _anything,
    "return_token_type_ids": _anything,
    "return_attention_mask": _anything,
    "return_overflowing_tokens": _one_of(False),
    "return_special_tokens_mask": _anything,
    "return_offsets_mapping": _one_of(False),
    "return_length": _anything,
    "verbose": _anything,
    "split_special_tokens": _one_of(None, False),
}
"""Arguments of `_encode_plus`, and which of their values are served. A call with any other is the original's."""


def encode(tokenizer: Any, backend: Any, engine: Engine, text: Any, options: dict[str, Any]) -> BatchEncoding | None:
    """What `_encode_plus` returns; None for a call that isn't served."""
    for name, value in options.items():
        if name not in SERVED or not SERVED[name](value):
            return None
    get, many = options.get, isinstance(text, (list, tuple))
    texts = list(text) if many else [text]
    if not _are_texts(texts) or (get("split_special_tokens") is None and tokenizer.split_special_tokens):
        return None
    added = get("add_special_tokens", True)
    before, after = engine.around(added)
    around, max_length = len(before.ids) + len(after.ids), get("max_length")
    truncation = get("truncation_strategy", TruncationStrategy.DO_NOT_TRUNCATE)
    cuts = truncation is not TruncationStrategy.DO_NOT_TRUNCATE
    if cuts and (max_length or 0) <= around:
        return None
    tokenizer.set_truncation_and_padding(  # it checks them all, and leaves in the backend what others may read there
        padding_strategy=get("padding_strategy", PaddingStrategy.DO_NOT_PAD),
        truncation_strategy=truncation,
        max_length=max_length,
        stride=0,
        pad_to_multiple_of=get("pad_to_multiple_of"),
        padding_side=get("padding_side"),
    )
    if backend.encode_special_tokens:
        backend.encode_special_tokens = False
    cut = _cut(tokenizer, truncation, max_length) if cuts else None
    fill = _fill(tokenizer, options)

    tensors = get("return_tensors") in ("np", "pt")
    parts: list[Any] = engine.arrays(texts) if tensors else engine.lists(texts)
    if cut is not None:
        parts = [_shortened(part, max_length - around, cut["direction"] == "left") for part in parts]
    width = 0 if fill is None else _width(fill, around + max(map(len, parts)))
    widths = {max(width, around + len(part)) for part in parts}
    if tensors and len(widths) > 1:
        parts, tensors = [part.tolist() for part in parts], False  # which makes no tensor, as transformers will say
    make = Column.array if tensors else Column.lists
    left = fill is not None and fill["direction"] == "left"
    data = {
        name: make(column, parts, max(widths) if tensors else width, left)
        for name, column in _columns(tokenizer, engine, options, before, after).items()
    }
    if get("return_length"):
        data["length"] = list(map(len, data["input_ids"]))
    for row in data["input_ids"]:
        tokenizer._eventual_warn_about_too_long_sequence(row, max_length, get("verbose", True))
    encodings = Encodings(len(texts), partial(engine.encodings, texts, added, cut, fill))
    tensor_type = get("return_tensors")
    if not many and tensor_type is None:
        data = {name: rows[0] if isinstance(rows[0], list) else rows for name, rows in data.items()}
    return BatchEncoding(data, encodings, tensor_type=tensor_type, n_sequences=1)


def _are_texts(texts: list[Any]) -> bool:
    """Whether they are what Hugging Face's tokenizers take: at least one, all of them str that can be UTF-8."""
    if set(map(type, texts)) != {str}:
        return False
    try:
        return all(text.isascii() or text.encode() for text in texts)
    except UnicodeEncodeError:
        return False


def _cut(tokenizer: Any, truncation: TruncationStrategy, max_length: int) -> dict[str, Any]:
    """The arguments of `enable_truncation`."""
    return {
        "max_length": max_length,
        "stride": 0,
        "strategy": truncation.value,
        "direction": tokenizer.truncation_side,
    }


def _fill(tokenizer: Any, options: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of `enable_padding`; None where nothing is filled up."""
    strategy, side = options.get("padding_strategy", PaddingStrategy.DO_NOT_PAD), options.get("padding_side")
    if strategy == PaddingStrategy.DO_NOT_PAD:
        return None
    return {
        "length": options.get("max_length") if strategy == PaddingStrategy.MAX_LENGTH else None,
        "direction": tokenizer.padding_side if side is None else side,
        "pad_id": tokenizer.pad_token_id,
        "pad_token": tokenizer.pad_token,
        "pad_type_id": tokenizer.pad_token_type_id,
        "pad_to_multiple_of": options.get("pad_to_multiple_of"),
    }


def _width(fill: dict[str, Any], longest: int) -> int:
    """The length that rows are filled up to."""
    width: int = longest if fill["length"] is None else fill["length"]
    multiple: int = fill["pad_to_multiple_of"] or 1
    return -(-width // multiple) * multiple


def _shortened(part: Any, room: int, left: bool) -> Any:
    if len(part) <= room:
        return part
    return part[len(part) - room :] if left else part[:room]


def _columns(
    tokenizer: Any, engine: Engine, options: dict[str, Any], before: Side, after: Side
) -> dict[str, Column]:
    """The columns that a call asks for, or else the model."""

    def wanted(name: str, default: bool) -> Any:
        asked = options.get(f"return_{name}")
        return default if asked is None else asked

    names = tokenizer.model_input_names
    pad_id = tokenizer.pad_token_id if options.get("padding_strategy", "do_not_pad") != "do_not_pad" else 0
    columns = {"input_ids": Column(before.ids, None, after.ids, pad_id)}
    if wanted("token_type_ids", "token_type_ids" in names):
        columns["token_type_ids"] = Column(before.types, engine.type_id, after.types, tokenizer.pad_token_type_id)
    if wanted("attention_mask", "attention_mask" in names):
        columns["attention_mask"] = Column([1] * len(before.ids), 1, [1] * len(after.ids), 0)
    if wanted("special_tokens_mask", False):
        columns["special_tokens_mask"] = Column(before.special, 0, after.special, 1)
    return columns


def decode(tokenizer: Any, engine: Engine, ids: Any, skip_special_tokens: Any, options: dict[str, Any]) -> Any:
    """What `decode` returns for a list of ids, or for a list of such lists; None for a call that isn't served."""
    if type(ids) is not list or not ids or type(ids[0]) is not list:
        return decode_one(tokenizer, engine, ids, skip_special_tokens, options)
    options = {"clean_up_tokenization_spaces": False, **options}
    texts = [decode_one(tokenizer, engine, row, skip_special_tokens, options) for row in ids]
    return None if None in texts else texts


def decode_one(
    tokenizer: Any, engine: Engine, ids: Any, skip_special_tokens: Any, options: dict[str, Any]
) -> str | None:
    """What `_decode` returns; None for a call that isn't served."""
    if not engine.decodes or type(ids) is not list or type(skip_special_tokens) is not bool:
        return None
    if options.keys() - {"clean_up_tokenization_spaces"}:
        return None
    text = engine.text(ids, skip_special_tokens)
    clean = options.get("clean_up_tokenization_spaces")
    if text is not None and (tokenizer.clean_up_tokenization_spaces if clean is None else clean):
        text = tokenizer.clean_up_tokenization(text)
    return text
