"""Assistant mask: which tokens belong to the assistant, for training.

A token is the assistant's if it covers a character of an assistant's message, apart from its role. That is
exact: a token that covers the end of a header and the start of an answer is the assistant's, since the model has to
generate it. What the template writes between two parts of one message (`", "arguments": `) also belongs to it. If a
message has tool calls, so does everything from the end of the generation prompt to the end of the turn. In a template
with `{% generation %}` blocks, the blocks decide instead, as in transformers.

Chapter: Chat templates. Cost: linear in the tokens and runs.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .encode import Encoded
from .messages import SPEAKERS, Message
from .provenance import Provenance

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

Span = tuple[int, int]


def assistant_mask(
    tokenizer: "Tokenizer",
    encoded: Encoded,
    messages: Sequence[Message],
    blocks: bool,
    opening: str,
    end_of_turn: bool,
) -> list[int]:
    """Return the mask: 1 for each of the assistant's tokens, else 0.

    Args:
        blocks: whether the template has `{% generation %}` blocks, which then decide.
        opening: the generation prompt, if messages have tool calls.
        end_of_turn: whether the control token right after a message, or after its tool calls, counts.
    """
    if blocks:
        return _mask_spans(encoded, [(start, stop) for start, stop, origin in _runs(encoded) if origin.generated])
    controls = [offset for offset, control in zip(encoded.offsets, encoded.control) if control]
    special = frozenset(tokenizer.special_tokens.values())
    closing = [offset for token_id, offset in zip(encoded.ids, encoded.offsets) if token_id in special]
    spans = []
    for message, first, last, before, after in _assistant_spans(encoded, messages):
        start, stop = first, last
        closing_span = next((offset for offset in _after(controls, stop) if offset[0] <= stop), None)
        if messages[message].get("tool_calls"):
            found = encoded.text.rfind(opening, before, start) if opening else -1
            start = start if found < 0 else found + len(opening)
            closing_span = next((offset for offset in _after(closing, stop) if offset[1] <= after), closing_span)
            stop = stop if closing_span is None else max(stop, closing_span[0])
        spans.append((start, closing_span[1] if closing_span is not None and end_of_turn else stop))
    return _mask_spans(encoded, spans, cores=True)


def _runs(encoded: Encoded) -> Iterator[tuple[int, int, Provenance]]:
    position = 0
    for length, origin in encoded.text.runs:
        yield position, position + length, origin
        position += length


def _assistant_spans(encoded: Encoded, messages: Sequence[Message]) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield (message, start, stop, before, after) for each run of text from one assistant message.

    No other message's text is inside a run. `before` is where the other text before it ends, `after` where the next
    starts.
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


def _after(spans: list[Span], stop: int) -> Iterator[Span]:
    """Yield the spans that end after `stop`."""
    return (spans[index] for index in range(bisect_right(spans, stop, key=lambda span: span[1]), len(spans)))


def _mask_spans(encoded: Encoded, spans: list[Span], cores: bool = False) -> list[int]:
    """Return 1 for each token that overlaps a span, else 0.

    With `cores`, white space that a control token absorbs at its end doesn't count.
    """
    mask, index = [], 0
    for (start, stop), control in zip(encoded.offsets, encoded.control):
        while index < len(spans) and spans[index][1] <= start:
            index += 1
        if control and cores:
            stop = start + len(encoded.text[start:stop].rstrip())  # noqa: PLW2901
        mask.append(int(index < len(spans) and spans[index][0] < max(stop, start + 1)))
    return mask
