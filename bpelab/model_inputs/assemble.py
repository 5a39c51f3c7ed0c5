"""Turn texts into a model's inputs: rows of equal length, truncated if too long and padded if too short.

Names and results are those of transformers' tokenizers; the steps are in encoding.py, truncation.py and padding.py.

Chapter: Streaming. Cost: that of `encode_batch`, or with offsets that of `encode_with_offsets` for each text.
Source: transformers `tokenization_utils_tokenizers.py`.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._support.validate import check_flags, check_name, refuse_keyed
from ..alignment.offsets import trim_steps
from ..core.length_settings import LONGEST
from ..errors import MissingDependencyError
from .batch_encoding import Batch, as_columns, pad_columns
from .encoding import Encoded, build_input, encode_alone
from .padding import pad_rows, resolve_padding
from .truncation import resolve_truncation, windows

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer
    from ..vocab.special_tokens import Special

INTEGERS = {"input_ids", "attention_mask", "token_type_ids", "special_tokens_mask", "offset_mapping"}
INTEGERS |= {"overflow_to_sample_mapping"}
"""The columns that a call returns, as integers; a data collator's own, such as labels, may hold other numbers."""


def encode_rows(
    tokenizer: "Tokenizer",
    text: Any,
    text_pair: Any,
    *,
    add_special_tokens: bool,
    padding: bool | str,
    truncation: bool | str,
    max_length: int | None,
    stride: int,
    pad_to_multiple_of: int | None,
    padding_side: str | None,
    truncation_side: str | None,
    return_tensors: str | None,
    return_offsets: bool,
    return_overflowing_tokens: bool,
    return_special_tokens_mask: bool,
    return_token_type_ids: bool,
    allowed_special: "Special",
    disallowed_special: "Special",
) -> Batch:
    """Return the result of `BPETokenizer.__call__`."""
    check_flags(
        add_special_tokens=add_special_tokens,
        return_offsets=return_offsets,
        return_overflowing_tokens=return_overflowing_tokens,
        return_special_tokens_mask=return_special_tokens_mask,
        return_token_type_ids=return_token_type_ids,
    )
    texts, many = normalize_inputs(text, text_pair)
    names = tokenizer.spec.metadata
    limit = _limit(tokenizer)
    cut = resolve_truncation(
        truncation,
        max_length,
        stride,
        truncation_side or (names.get("truncation_side") if tokenizer.spec.truncation is None else None),
        tokenizer.spec.truncation,
        limit,
    )
    fill = resolve_padding(
        padding,
        max_length,
        pad_to_multiple_of,
        padding_side or (names.get("padding_side") if tokenizer.spec.padding is None else None),
        tokenizer.pad_token_id,
        tokenizer.spec.padding,
        limit if cut is None else cut.max_length,
    )
    if max_length is not None and cut is None and padding != "max_length":
        raise ValueError('max_length does nothing by itself: pass truncation=True, or padding="max_length"')
    if cut is not None and fill is not None and fill.pad_to_multiple_of and cut.max_length % fill.pad_to_multiple_of:
        raise ValueError(
            f"rows of max_length={cut.max_length} tokens would be filled up beyond it: it is not a multiple of "
            f"pad_to_multiple_of={fill.pad_to_multiple_of}"
        )
    around = tokenizer.spec.post_processor
    steps = trim_steps(around)
    parts = [part for pair in texts for part in pair if part is not None]
    found: Iterator[Encoded]
    if return_offsets:
        found = (encode_alone(tokenizer, part, allowed_special, disallowed_special) for part in parts)
    else:
        lists = tokenizer.encode_batch(
            parts,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
            add_special_tokens=False,
        )
        found = map(Encoded, lists)
    rows, sample = [], []
    for index, pair in enumerate(texts):
        first, second = (None if part is None else next(found) for part in pair)
        assert first is not None
        added = 0 if around is None or not add_special_tokens else around.added_tokens(second is not None)
        for window in windows(first, second, cut, added, return_overflowing_tokens):
            rows.append(build_input(*window, around, tokenizer.spec.special_tokens, steps, add_special_tokens))
            sample.append(index)
    if fill is not None:
        rows = pad_rows(rows, fill, max(len(row.ids) for row in rows))
    columns: dict[str, list[Any]] = {"input_ids": [row.ids for row in rows]}
    if return_token_type_ids:
        columns["token_type_ids"] = [row.types for row in rows]
    columns["attention_mask"] = [row.mask for row in rows]
    if return_special_tokens_mask:
        columns["special_tokens_mask"] = [row.special for row in rows]
    if return_offsets:
        columns["offset_mapping"] = [row.offsets for row in rows]
    if return_overflowing_tokens:
        columns["overflow_to_sample_mapping"] = sample
    if return_tensors is not None:
        return Batch(to_tensors(columns, return_tensors))
    return Batch(columns if many or return_overflowing_tokens else {name: rows[0] for name, rows in columns.items()})


def pad(
    tokenizer: "Tokenizer",
    encoded: Any,
    padding: bool | str,
    *,
    max_length: int | None,
    pad_to_multiple_of: int | None,
    padding_side: str | None,
    return_tensors: str | None,
) -> Batch:
    """Return the result of `BPETokenizer.pad`."""
    columns, many = as_columns(encoded)
    side = padding_side or (tokenizer.spec.metadata.get("padding_side") if tokenizer.spec.padding is None else None)
    fill = resolve_padding(
        "longest" if padding is True else padding,
        max_length,
        pad_to_multiple_of,
        side,
        tokenizer.pad_token_id,
        tokenizer.spec.padding,
        _limit(tokenizer),
    )
    padded = pad_columns(columns if many else {name: [row] for name, row in columns.items()}, fill)
    if return_tensors is not None:
        return Batch(to_tensors(padded, return_tensors))
    return Batch(padded if many else {name: rows[0] for name, rows in padded.items()})


def _limit(tokenizer: "Tokenizer") -> int | None:
    """Return the "model_max_length" of the tokenizer's file. Files without a limit write 10^30."""
    limit = tokenizer.spec.metadata.get("model_max_length")
    return limit if isinstance(limit, int) and 0 < limit <= LONGEST else None


def normalize_inputs(text: Any, text_pair: Any) -> tuple[list[tuple[str, str | None]], bool]:
    """Return (text, second text or None) for each row, and whether the input is a batch.

    Raises TypeError naming the index of an item that isn't a text, ValueError for an empty batch and for lists of
    different lengths.
    """
    many = not isinstance(text, str)
    if not many:
        if text_pair is not None and not isinstance(text_pair, str):
            raise TypeError(f"text is one text, so text_pair is one too, not {type(text_pair).__name__}")
        return [(text, text_pair)], False
    texts = _listed(text, "text")
    if not texts:
        raise ValueError("the batch is empty: there is no text to encode")
    pairs = [None] * len(texts) if text_pair is None else _listed(text_pair, "text_pair")
    if len(pairs) != len(texts):
        raise ValueError(f"text has {len(texts)} texts and text_pair {len(pairs)}: each text needs its second one")
    return list(zip(texts, pairs)), True


def _listed(texts: Any, what: str) -> list[Any]:
    refuse_keyed(texts, what)
    if isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__"):
        raise TypeError(f"{what} is a text or a list of texts, not {type(texts).__name__}")
    listed = list(texts)
    for index, item in enumerate(listed):
        if not isinstance(item, str):
            hint = "; pairs are given as two lists, text and text_pair" if isinstance(item, (tuple, list)) else ""
            raise TypeError(f"{what}[{index}] is a {type(item).__name__}, not a str{hint}")
    return listed


def to_tensors(columns: dict[str, list[Any]], kind: str) -> dict[str, Any]:
    """Return the columns as arrays, of numpy for "np" and of torch for "pt"; a call's own columns as 64-bit integers.

    Raises ValueError for rows of different lengths and for other kinds, MissingDependencyError if the package isn't
    installed.
    """
    make, integers = _array_maker(kind)
    lengths = sorted(set(map(len, columns["input_ids"])))
    if len(lengths) > 1:
        raise ValueError(
            f"rows of {lengths[0]} to {lengths[-1]} tokens make no tensor: pass padding=True, and truncation=True with "
            "max_length where they may get too long"
        )
    for name, column in columns.items():
        if len({len(row) if isinstance(row, list) else None for row in column}) > 1:
            raise ValueError(f"the rows of {name!r} have different lengths and make no tensor: make them equally long")
    return {name: make(column, dtype=integers if name in INTEGERS else None) for name, column in columns.items()}


def _array_maker(kind: str) -> tuple[Callable[..., Any], Any]:
    """Return the function that creates an array, and the type of 64-bit integers."""
    check_name(kind, "return_tensors", ("np", "pt"))
    package, maker = {"np": ("numpy", "array"), "pt": ("torch", "tensor")}[kind]
    try:
        module = import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f'return_tensors="{kind}" needs {package}: pip install {package}, or leave return_tensors out for lists'
        ) from error
    return getattr(module, maker), module.int64
