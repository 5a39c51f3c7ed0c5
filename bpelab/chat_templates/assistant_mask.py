"""Which tokens the assistant said: the mask that training needs.

A token is the assistant's if it covers a character of an assistant's message, its role and name aside. That is exact:
where a token covers the end of a header and the beginning of an answer, it is the assistant's, since the model has to
say it. What the template writes between two parts of one message (`", "arguments": `) belongs to it too, and where a
message has tool calls, so does what stands between the beginning of an answer, as the generation prompt has it, and the
end of the turn. In a template with `{% generation %}` blocks, these say it instead, as in transformers.

Chapter: Special tokens, chat templates, injection. Cost: linear in the tokens and runs.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .encoding import Encoded
from .messages import SPEAKERS, Message
from .provenance import Origin

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

Span = tuple[int, int]


def assistant_mask(
    tokenizer: "BPETokenizer",
    encoded: Encoded,
    messages: Sequence[Message],
    blocks: bool,
    opening: str,
    end_of_turn: bool,
) -> list[int]:
    """1 for each token that the assistant said, else 0.

    Args:
        blocks: whether the template has `{% generation %}` blocks, which then say it.
        opening: the generation prompt, if messages have tool calls.
        end_of_turn: whether the control token right behind a message, or behind its tool calls, is in.
    """
    if blocks:
        return _cover(encoded, [(start, stop) for start, stop, origin in _runs(encoded) if origin.generated])
    controls = [place for place, control in zip(encoded.places, encoded.control) if control]
    special = frozenset(tokenizer.special_tokens.values())
    closing = [place for number, place in zip(encoded.ids, encoded.places) if number in special]
    spans = []
    for message, first, last, before, after in _said(encoded, messages):
        start, stop = first, last
        behind = next((place for place in _from(controls, stop) if place[0] <= stop), None)
        if messages[message].get("tool_calls"):
            found = encoded.text.rfind(opening, before, start) if opening else -1
            start = start if found < 0 else found + len(opening)
            behind = next((place for place in _from(closing, stop) if place[1] <= after), behind)
            stop = stop if behind is None else max(stop, behind[0])
        spans.append((start, behind[1] if behind is not None and end_of_turn else stop))
    return _cover(encoded, spans, cores=True)


def _runs(encoded: Encoded) -> Iterator[tuple[int, int, Origin]]:
    position = 0
    for length, origin in encoded.text.runs:
        yield position, position + length, origin
        position += length


def _said(encoded: Encoded, messages: Sequence[Message]) -> Iterator[tuple[int, int, int, int, int]]:
    """(message, start, stop, before, after) for what each assistant's message wrote without another's in between.

    `before` is where the last foreign character ends, `after` where the next begins.
    """
    parts: list[tuple[int, int, int]] = []  # (message or -1, start, stop)
    for start, stop, origin in _runs(encoded):
        if origin.trusted or (origin.message is None and not origin.field and parts and parts[-1][0] >= 0):
            continue
        speaker = origin.message if origin.message is not None and origin.field != "role" else -1
        if speaker >= 0 and messages[speaker]["role"] not in SPEAKERS:
            speaker = -1
        if parts and parts[-1][0] == speaker:
            parts[-1] = (speaker, parts[-1][1], stop)
        else:
            parts.append((speaker, start, stop))
    edges = [(-1, 0, 0), *parts, (-1, len(encoded.text), len(encoded.text))]
    for (_, _, before), (speaker, start, stop), (_, after, _) in zip(edges, edges[1:], edges[2:]):
        if speaker >= 0:
            yield speaker, start, stop, before, after


def _from(places: list[Span], stop: int) -> Iterator[Span]:
    """The places that end behind `stop`."""
    return (places[number] for number in range(bisect_right(places, stop, key=lambda place: place[1]), len(places)))


def _cover(encoded: Encoded, spans: list[Span], cores: bool = False) -> list[int]:
    """1 for each token that stands in a span; with `cores`, the white space that a control token takes is no part."""
    mask, number = [], 0
    for (start, stop), control in zip(encoded.places, encoded.control):
        while number < len(spans) and spans[number][1] <= start:
            number += 1
        if control and cores:
            stop = start + len(encoded.text[start:stop].rstrip())  # noqa: PLW2901
        mask.append(int(number < len(spans) and spans[number][0] < max(stop, start + 1)))
    return mask
