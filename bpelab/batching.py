"""Texts as a model takes them: in rows of equal length, cut where they are too long, filled up where they are short.

Cutting leaves room for the tokens that the post-processor adds. What is cut off can be had as further rows, which
overlap by `stride` tokens. Names and results are those of transformers' tokenizers.

Chapter: Special tokens, chat templates, injection. Cost: that of encoding; threads would not help, as encoding is pure
Python: eight threads take as long as one. Source: tokenizers `utils/truncation.rs`, `utils/padding.rs` and
`tokenizer/encoding.rs`; transformers `tokenization_utils_tokenizers.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

from .errors import MissingDependencyError, SpecialTokenError
from .placing import Offsets, trimmed
from .postprocessors import PostProcessor
from .sections import LONGEST, Padding, Truncation
from .special_tokens import SpecialTokens

STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
SIDES = {"left": "Left", "right": "Right"}


@dataclass(frozen=True)
class Encoded:
    """The ids of one text. Offsets, and the spaces at the edges of the tokens, are there where they were asked for."""

    ids: list[int]
    offsets: list[Offsets] | None = None
    edges: list[tuple[int, int]] | None = None

    def part(self, start: int, end: int) -> "Encoded":
        """The tokens from `start` to `end`."""
        return Encoded(
            self.ids[start:end],
            None if self.offsets is None else self.offsets[start:end],
            None if self.edges is None else self.edges[start:end],
        )

    def trimmed(self, trimmings: Sequence[bool]) -> list[Offsets]:
        """The offsets after each of the `trimmings`."""
        offsets = self.offsets or []
        for keep_first in trimmings:
            offsets = trimmed(offsets, self.edges or (), keep_first)
        return offsets


class Row(NamedTuple):
    """One row of a batch: lists of the same length."""

    ids: list[int]
    mask: list[int]
    types: list[int]
    special: list[int]
    offsets: list[Offsets]


def make_row(
    first: Encoded,
    second: Encoded | None,
    post_processor: PostProcessor | None,
    special: SpecialTokens,
    trimmings: Sequence[bool],
) -> Row:
    """A row of one text or two, with what the post-processor, if there is one, puts around them."""
    texts = [first] if second is None else [first, second]
    ids = [list(text.ids) for text in texts]  # lists of their own: that is how they are found again
    items = (post_processor or PostProcessor()).items(ids[0], special, *ids[1:])
    row = Row([], [], [], [], [])
    for item in items:
        count = len(item.ids)
        row.ids.extend(item.ids)
        row.mask.extend(repeat(1, count))
        row.types.extend(repeat(item.type_id, count))
        row.special.extend(repeat(int(item.special), count))
        text = next((text for text, own in zip(texts, ids) if own is item.ids), None)
        placed = text is not None and text.offsets is not None
        row.offsets.extend(text.trimmed(trimmings) if placed else repeat((0, 0), count))  # type: ignore[union-attr]
    return row


# -- truncation --------------------------------------------------------------------------------------------------------


def choose_truncation(
    wanted: bool | str, max_length: int | None, stride: int, side: str | None, from_file: Truncation | None, limit: Any
) -> Truncation | None:
    """What to do about long texts. `from_file` says what the caller doesn't, `limit` the length if that doesn't either.

    Raises ValueError for a strategy or a side that doesn't exist, for lengths below 0, and where no length is known.
    """
    check_size(stride, "stride")
    if max_length is not None:
        check_size(max_length, "max_length")
    direction = SIDES[check_name(side, "truncation_side", SIDES)] if side is not None else None
    if wanted is False or wanted == "do_not_truncate" or wanted is None:
        return None
    strategy = None if wanted is True else STRATEGIES[check_name(wanted, "truncation", [*STRATEGIES, "do_not_truncate"])]
    if max_length is None and from_file is not None:
        max_length, stride = from_file.max_length, stride or from_file.stride
    if max_length is None and isinstance(limit, int) and 0 < limit <= LONGEST:
        max_length = limit
    if max_length is None:
        raise ValueError(
            "truncation needs a length, and neither max_length nor the tokenizer's file says one: pass max_length=512"
        )
    if from_file is not None:
        strategy, direction = strategy or from_file.strategy, direction or from_file.direction
    return Truncation(max_length, strategy or "LongestFirst", stride, direction or "Right")


def windows(
    first: Encoded, second: Encoded | None, truncation: Truncation | None, added: int, overflow: bool
) -> Iterator[tuple[Encoded, Encoded | None]]:
    """The text, or the two, cut so that `added` tokens more fit; then, with `overflow`, what was cut off.

    Raises ValueError where the strategy can't make them short enough, and where `stride` leaves no room for new tokens.
    """
    if truncation is None:
        yield first, second
        return
    room = truncation.max_length - added
    if room < 0:
        raise ValueError(
            f"max_length={truncation.max_length} is too small: the {added} tokens that are added do not fit. Make it "
            "larger, or pass add_special_tokens=False"
        )
    if truncation.stride and truncation.stride >= room:
        raise ValueError(
            f"stride={truncation.stride} has to be less than the {room} tokens that max_length={truncation.max_length} "
            f"leaves beside {added} special ones"
        )
    keep_first, keep_second = _lengths(len(first.ids), None if second is None else len(second.ids), room, truncation)
    cut_first = _cut(first, keep_first, truncation, overflow)
    if second is None:
        yield from ((part, None) for part in cut_first)
        return
    cut_second = _cut(second, keep_second, truncation, overflow)
    yield cut_first[0], cut_second[0]
    for part in cut_first[1:]:
        yield from ((part, other) for other in cut_second)
    yield from ((cut_first[0], other) for other in cut_second[1:])


def _lengths(first: int, second: int | None, room: int, truncation: Truncation) -> tuple[int, int]:
    """How many tokens of each text stay."""
    more = first + (second or 0) - room
    if more <= 0:
        return first, second or 0
    if truncation.strategy == "LongestFirst":
        if second is None:
            return room, 0
        short, long = sorted((first, second))
        long = short if short > room else max(short, room - short)
        if short + long > room:
            short, long = room // 2, room - room // 2
        return (long, short) if first > second else (short, long)
    if truncation.strategy == "OnlySecond" and second is None:
        raise ValueError('truncation="only_second" needs a second text: pass text_pair, or truncation=True')
    which, length = ("first", first) if truncation.strategy == "OnlyFirst" else ("second", second or 0)
    if length <= more and room:
        raise ValueError(
            f"{more} tokens have to go, and the {which} text, the only one to be cut, has {length}: make max_length "
            "larger, or pass truncation=True to cut both"
        )
    return (max(0, first - more), second or 0) if which == "first" else (first, max(0, length - more))


def _cut(text: Encoded, keep: int, truncation: Truncation, overflow: bool) -> list[Encoded]:
    """The first `keep` tokens, or the last, and with `overflow` the others in parts of that length."""
    count, left = len(text.ids), truncation.direction == "Left"
    if keep >= count:
        return [text]
    if not overflow:
        return [text.part(count - keep, count) if left else text.part(0, keep)]
    step = keep - truncation.stride
    if step <= 0:
        raise ValueError(
            f"a part of {keep} tokens can't overlap the next by stride={truncation.stride}: make max_length larger"
        )
    parts = range(0, max(1, count - keep + step), step) if not left else range(count, min(count - 1, keep - step), -step)
    return [text.part(max(0, at - keep), at) if left else text.part(at, at + keep) for at in parts]


# -- padding -----------------------------------------------------------------------------------------------------------


class PadToken(NamedTuple):
    """What rows are filled up with."""

    id: int
    type_id: int


def choose_padding(
    wanted: bool | str,
    max_length: int | None,
    multiple: int | None,
    side: str | None,
    pad_id: int | None,
    from_file: Padding | None,
) -> Padding | None:
    """What to do about short rows; `from_file` says what the caller doesn't.

    Raises ValueError for a strategy or a side that doesn't exist, for "max_length" without a length, for a multiple
    below 1, and where there is no pad token.
    """
    if multiple is not None:
        check_size(multiple, "pad_to_multiple_of", 1)
    direction = SIDES[check_name(side, "padding_side", SIDES)] if side is not None else None
    if wanted is False or wanted == "do_not_pad" or wanted is None:
        return None
    strategy: str | dict[str, int] = "BatchLongest"
    if wanted is not True:
        check_name(wanted, "padding", ("longest", "max_length", "do_not_pad"))
    if wanted == "max_length":
        if max_length is None and from_file is not None and isinstance(from_file.strategy, dict):
            max_length = from_file.strategy["Fixed"]
        if max_length is None:
            raise ValueError('padding="max_length" needs a length: pass max_length=512, or padding=True')
        strategy = {"Fixed": max_length}
    elif wanted is True and from_file is not None and max_length is None:
        strategy = from_file.strategy
    if pad_id is None and from_file is not None:
        pad_id = from_file.pad_id
    if pad_id is None:
        raise SpecialTokenError(
            "padding needs a token to fill up with, and this tokenizer has no pad_token: name one of its special tokens, "
            'tokenizer.with_options(pad_token="<|endoftext|>"), or add one, '
            'tokenizer.with_special_tokens(["<|pad|>"], pad_token="<|pad|>")'
        )
    if from_file is None:
        return Padding(strategy, direction or "Right", multiple, pad_id)
    return Padding(
        strategy,
        direction or from_file.direction,
        multiple or from_file.pad_to_multiple_of,
        pad_id,
        from_file.pad_type_id,
    )


def pad_rows(rows: list[Row], padding: Padding, longest: int) -> list[Row]:
    """Every row filled up, to a fixed length or to `longest`, rounded up to the multiple."""
    length = padding.strategy["Fixed"] if isinstance(padding.strategy, dict) else longest
    if padding.pad_to_multiple_of:
        length += -length % padding.pad_to_multiple_of
    return [_padded(row, length - len(row.ids), padding) for row in rows]


def _padded(row: Row, count: int, padding: Padding) -> Row:
    if count <= 0:
        return row
    values: tuple[Any, ...] = (padding.pad_id, 0, padding.pad_type_id, 1, (0, 0))
    more = [[value] * count for value in values]
    left = padding.direction == "Left"
    return Row(*(new + old if left else old + new for old, new in zip(row, more)))


# -- tensors and checks ------------------------------------------------------------------------------------------------


def to_tensors(columns: dict[str, list[Any]], kind: str) -> dict[str, Any]:
    """The columns as arrays of 64-bit integers: of numpy for "np", of torch for "pt".

    Raises ValueError for rows of different lengths and for other kinds, MissingDependencyError where the package is not
    installed.
    """
    make = _array_maker(kind)
    lengths = sorted(set(map(len, columns["input_ids"])))
    if len(lengths) > 1:
        raise ValueError(
            f"rows of {lengths[0]} to {lengths[-1]} tokens make no tensor: pass padding=True, and truncation=True with "
            "max_length where they may get too long"
        )
    return {name: make(column) for name, column in columns.items()}


def _array_maker(kind: str) -> Callable[[list[Any]], Any]:
    check_name(kind, "return_tensors", ("np", "pt"))
    package = {"np": "numpy", "pt": "torch"}[kind]
    try:
        if kind == "np":
            import numpy

            return lambda column: numpy.array(column, dtype=numpy.int64)
        import torch

        return lambda column: torch.tensor(column, dtype=torch.int64)
    except ImportError as error:
        raise MissingDependencyError(
            f'return_tensors="{kind}" needs {package}: pip install {package}, or leave return_tensors out for lists'
        ) from error


def check_name(value: object, what: str, known: Any) -> str:
    """`value`, if it is one of `known`. Raises ValueError."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{what} is one of {', '.join(map(repr, known))}, not {value!r}")
    return value


def check_size(value: object, what: str, least: int = 0) -> None:
    """Raise ValueError for what is no integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{what} is a number from {least} up, not {value!r}")


def texts_and_pairs(text: Any, text_pair: Any) -> tuple[list[tuple[str, str | None]], bool]:
    """(text, second text or None) for each row, and whether there is more than one text to ask about.

    Raises TypeError naming the place of what is no text, ValueError for an empty batch and for lists of two lengths.
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
    if isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__") or isinstance(texts, dict):
        raise TypeError(f"{what} is a text or a list of texts, not {type(texts).__name__}")
    listed = list(texts)
    for number, item in enumerate(listed):
        if not isinstance(item, str):
            hint = "; pairs are given as two lists, text and text_pair" if isinstance(item, (tuple, list)) else ""
            raise TypeError(f"{what}[{number}] is a {type(item).__name__}, not a str{hint}")
    return listed
