"""Truncation: cut one text or two to a model's maximum length, and return what was cut off as further parts.

Each part overlaps the next by `stride` tokens. Of two texts, the longer one is cut first, until both are equally long;
or only one is cut, depending on the strategy.

Chapter: Streaming. Cost: linear. Source: tokenizers `utils/truncation.rs` and `Encoding::truncate` and `merge_with` in
`tokenizer/encoding.rs`.
"""

from collections.abc import Iterator

from .._support.validate import check_name, check_size
from ..core.length_settings import Truncation
from .encoding import Encoded

STRATEGIES = {"longest_first": "LongestFirst", "only_first": "OnlyFirst", "only_second": "OnlySecond"}
SIDES = {"left": "Left", "right": "Right"}


def resolve_truncation(
    truncation: bool | str,
    max_length: int | None,
    stride: int,
    side: str | None,
    from_file: Truncation | None,
    limit: int | None,
) -> Truncation | None:
    """Return how to truncate long texts.

    Defaults come from `from_file`, and the length, if missing there too, from `limit`.

    Raises ValueError for an unknown strategy or side, for lengths below 0, and if no length is known.
    """
    check_size(stride, "stride")
    if max_length is not None:
        check_size(max_length, "max_length")
    direction = SIDES[check_name(side, "truncation_side", SIDES)] if side is not None else None
    if truncation is False or truncation == "do_not_truncate" or truncation is None:
        return None
    strategy = None
    if truncation is not True:
        strategy = STRATEGIES[check_name(truncation, "truncation", (*STRATEGIES, "do_not_truncate"))]
    if max_length is None and from_file is not None:
        max_length, stride = from_file.max_length, stride or from_file.stride
    max_length = limit if max_length is None else max_length
    if max_length is None:
        raise ValueError(
            "truncation needs a length, and neither max_length nor the tokenizer's file gives one: pass max_length=512"
        )
    if from_file is not None:
        strategy, direction = strategy or from_file.strategy, direction or from_file.direction
    return Truncation(max_length, strategy or "LongestFirst", stride, direction or "Right")


def windows(
    first: Encoded, second: Encoded | None, truncation: Truncation | None, added: int, overflow: bool
) -> Iterator[tuple[Encoded, Encoded | None]]:
    """Yield the text, or the two, cut so that `added` more tokens fit; then, with `overflow`, the parts cut off.

    Raises ValueError if the strategy can't make them short enough, or if `stride` leaves no room for new tokens.
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
    """Return how many tokens of each text remain."""
    more = first + (second or 0) - room
    if more <= 0:
        return first, second or 0
    if not room:
        return 0, 0
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
    if length <= more:
        raise ValueError(
            f"{more} tokens have to go, and the {which} text, the only one to be cut, has {length}: make max_length "
            "larger, or pass truncation=True to cut both"
        )
    return (first - more, second or 0) if which == "first" else (first, length - more)


def _cut(text: Encoded, keep: int, truncation: Truncation, overflow: bool) -> list[Encoded]:
    """Truncate to the first or last `keep` tokens; with `overflow`, also return the rest, in parts of that length."""
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
    if left:
        return [text.part(max(0, end - keep), end) for end in range(count, truncation.stride, -step)]
    return [text.part(start, start + keep) for start in range(0, count - truncation.stride, step)]
