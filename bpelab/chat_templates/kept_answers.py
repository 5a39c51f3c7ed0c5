"""Kept answers: the ids of a rendered conversation in which a model's answers are the ids that it generated.

A model can spell a text differently from the tokenizer. Encoded again, its answer would have other ids, and a KV cache
would be lost from there on. So an answer keeps its ids wherever they say what the template writes: the answer's whole
text, after the opening that the model was given. What lies between two such answers is encoded by itself, so its ids
are the same in every longer conversation. Where the template changes an answer, the template's ids are used.

Chapter: Chat templates. Cost: that of encoding the text with offsets.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UnknownTokenError
from .appended_ids import first_token
from .encode import encode, without_surrogates
from .messages import Message
from .tainted_string import TaintedStr

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer


class GeneratedAnswer(NamedTuple):
    """What a model generated for an assistant's message.

    Attributes:
        ids: its ids, without the token that ended it.
        opening: the template's text right before it, in the prompt that it answers: `opening_of` that prompt.
    """

    ids: tuple[int, ...]
    opening: str


def opening_of(text: TaintedStr) -> str:
    """Return what a template writes after the last message's text: with a generation prompt, what opens an answer."""
    start = len(text)
    for length, origin in reversed(text.runs):
        if origin.message is not None:
            break
        start -= length
    return str.__str__(text)[start:]


def encode_with_answers(
    tokenizer: "Tokenizer",
    text: TaintedStr,
    messages: Sequence[Message],
    answers: Sequence[GeneratedAnswer | None],
) -> list[int]:
    """Return the ids of `text`, the rendering of `messages`, with the answers' own ids where they can stay.

    `answers` has one entry for each message. An answer's ids stay if the template writes its text once, whole, and
    right after its opening; if they decode to that text and contain no special token; and if the tokenizer makes no
    token from the answer's end and what follows.

    >>> from bpelab import BPETokenizer
    >>> from bpelab.chat_templates.provenance import Provenance
    >>> t = BPETokenizer.train("lo lo", 257)
    >>> text = TaintedStr.of("lo", Provenance(False, 0, "content"))
    >>> said = [{"role": "assistant", "content": "lo"}]
    >>> [encode_with_answers(t, text, said, [answer]) for answer in (None, GeneratedAnswer((108, 111), ""))]
    [[256], [108, 111]]
    """
    text = without_surrogates(text)
    end, parts = len(text), []
    for start, stop, ids in reversed([*_unchanged(tokenizer, text, messages, answers)]):
        rest = encode(tokenizer, text[start:end], goes_on=True)  # type: ignore[arg-type]
        first, crosses = first_token(rest, stop - start)
        if not crosses:
            parts.append([*ids, *rest.ids[first:]])
            end = start
    parts.append(encode(tokenizer, text[:end], with_offsets=False).ids)  # type: ignore[arg-type]
    return [number for part in reversed(parts) for number in part]


def _unchanged(
    tokenizer: "Tokenizer",
    text: TaintedStr,
    messages: Sequence[Message],
    answers: Sequence[GeneratedAnswer | None],
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield (start, stop, ids) of the answers that the template writes unchanged, in their order in `text`."""
    places: dict[int, list[tuple[int, int]]] = {}
    stops = accumulate(length for length, _ in text.runs)
    for stop, (length, origin) in zip(stops, text.runs):
        if origin.message is not None and origin.field == "content":
            places.setdefault(origin.message, []).append((stop - length, stop))
    special = frozenset(tokenizer.special_tokens.values())
    done = 0
    for number, [(first, last), *others] in places.items():
        answer, content = answers[number], messages[number]["content"]
        if answer is None or others:
            continue
        start = first - content.find(text[first:last])  # a template may trim a space, and write one of its own
        stop = start + len(content)
        whole = start >= done and text[start:stop] == content and text.endswith(answer.opening, 0, start)
        if whole and special.isdisjoint(answer.ids) and _text_of(tokenizer, answer.ids) == content:
            yield start, stop, answer.ids
            done = stop


def _text_of(tokenizer: "Tokenizer", ids: Sequence[int]) -> str | None:
    """Return the text of `ids`; None if one of them doesn't exist."""
    try:
        return tokenizer.decode(ids)
    except UnknownTokenError:
        return None
