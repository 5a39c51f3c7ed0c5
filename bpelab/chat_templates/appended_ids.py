"""Appended ids: what a template adds to a conversation that is already encoded, and who wrote each new id.

A rendering knows which message each character comes from. So the end of the last message can be located in it,
whatever the template did to earlier messages, and everything after it is new. Even a template that removes an earlier
answer's thinking shows exactly what stands between that answer and the next question.

Chapter: The ids that were never yours. Cost: rendering and encoding the conversation once.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConversationError
from .encode import Encoded, encode
from .messages import Message
from .tainted_string import TaintedStr

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

TEMPLATE = "template"
ANY_WORD = "a"
"""A placeholder put into a message without text, to locate where its text would go."""

Renderer = Callable[[Sequence[Message]], TaintedStr]


class Appended(NamedTuple):
    """New ids and the author of each: "template", or the role of the message whose text it contains."""

    ids: list[int]
    authors: list[str]


def end_of_message(render: Renderer, messages: Sequence[Message], number: int, text: TaintedStr) -> int:
    """Return where message `number` ends in `text`, the rendering of `messages`; 0 if `number` is -1.

    Raises ConversationError if the template leaves that message out.
    """
    if number < 0:
        return 0
    ends = _ends(text, number)
    if ends:
        return ends[-1]
    with_word = [*messages[:number], {**messages[number], "content": ANY_WORD}, *messages[number + 1 :]]
    other = render(with_word)
    for end in _ends(other, number):
        if other[: end - len(ANY_WORD)] + other[end:] == text:
            return end - len(ANY_WORD)
    raise ConversationError(f"the template leaves out messages[{number}], so nothing can be appended to it")


def _ends(text: TaintedStr, number: int) -> list[int]:
    stops = accumulate(length for length, _ in text.runs)
    return [stop for stop, (_, origin) in zip(stops, text.runs) if origin.message == number]


def end_of_answer(tokenizer: "Tokenizer", text: TaintedStr, end: int, ending: str, only_text: bool) -> int:
    """Return where the template continues after a generated answer whose text ends at `end` in `text`.

    The model also generates `ending`, the token that ends its turn (unless that is ""). An answer that is more than its
    text, such as a tool call, goes on to the next special token.
    """
    if ending and (place := text.find(ending, end)) >= 0:
        return place + len(ending)
    if only_text:
        return end
    places = [place for name in tokenizer.special_tokens if (place := text.find(name, end)) >= 0]
    return min(places, default=end)


def appended(tokenizer: "Tokenizer", text: TaintedStr, start: int, last: int | None, roles: Sequence[str]) -> Appended:
    """Return the ids of `text` from `start` on, as in the encoding of the whole text.

    If `start` falls inside a token, the rest is encoded by itself: ids are only appended, and none changes. A control
    token that absorbs the white space after it is already there if `last` is its id.
    """
    whole = encode(tokenizer, text)
    first, crosses = first_token(whole, start)
    if crosses and not (whole.control[first - 1] and whole.ids[first - 1] == last):
        whole, first = encode(tokenizer, text[start:], goes_on=True), 0  # type: ignore[arg-type]
    return Appended(whole.ids[first:], _authors(whole, roles)[first:])


def first_token(encoded: Encoded, start: int) -> tuple[int, bool]:
    """Return the index of the first token that begins at `start` or later, and whether the one before it ends later."""
    first = bisect_left(encoded.offsets, start, key=lambda offset: offset[0])
    return first, first > 0 and encoded.offsets[first - 1][1] > start


def _authors(encoded: Encoded, roles: Sequence[str]) -> list[str]:
    """Return the author of each token: the role of the message whose text it contains, or else "template"."""
    edges = [0, *accumulate(length for length, _ in encoded.text.runs)]
    by_run = [
        TEMPLATE if origin.trusted or origin.message is None or origin.field == "role" else roles[origin.message]
        for _, origin in encoded.text.runs
    ]
    authors = []
    for start, stop in encoded.offsets:
        runs = by_run[bisect_right(edges, start) - 1 : bisect_left(edges, stop)]
        authors.append(next((author for author in runs if author != TEMPLATE), TEMPLATE))
    return authors
