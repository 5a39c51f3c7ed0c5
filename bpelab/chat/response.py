"""Responses: an answer's tokens, streamed with their final text, and its statistics.

Chapter: A model answers. Cost: linear in the tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ..chat_templates.divergence import Divergence
from ..chat_templates.messages import Message
from ..streaming import StreamDecoder
from .generation import Generated, Reason

if TYPE_CHECKING:
    from ..chat_templates.fit_to_context import FittedConversation
    from ..constraints import Matcher
    from ..tokenizer import BPETokenizer
    from .history import History


class TopToken(NamedTuple):
    """A token that could have come next: its id, its bytes (empty for an id that the tokenizer doesn't have), and the
    model's probability for it."""

    id: int
    token: bytes
    probability: float


@dataclass(frozen=True)
class StreamedToken:
    """One token of a streamed answer.

    Attributes:
        id: the token.
        token: its bytes; empty for an id that the tokenizer doesn't have.
        text: the text that can be shown now. The texts of all tokens, joined, are the answer's text.
        probability: the model's probability for it, before any sampling settings.
        top: the most likely tokens at this place, the likeliest first, as many as the session's `top_tokens`.
    """

    id: int
    token: bytes
    text: str
    probability: float
    top: tuple[TopToken, ...] = ()


@dataclass(frozen=True)
class ExactPrompt:
    """How the end of an exact completion's prompt was spelled.

    Attributes:
        ids: the tokens inside the prompt, without those before it. The answer's ids go on from here, and the first of
            them may spell the prompt's last bytes, too.
        share: the probability of the cover that was chosen, among all covers of the prompt.
        evaluations: how often the model was called for the covers.
        missing: 0, or, if the calls reached their limit, the largest share that the covers left out may have.
    """

    ids: tuple[int, ...]
    share: float
    evaluations: int
    missing: float


@dataclass(frozen=True)
class Response:
    """A whole answer with its statistics.

    Attributes:
        text: the answer without special tokens.
        ids: all ids that the model generated before it stopped.
        reason: "stop", "length", "context" (it is full) or "cancelled".
        prompt_tokens: the number of ids in the prompt.
        reused: how many of them were already in the model's cache.
        divergence: where the prompt stops following the ids that the model saw last (the prompt and the answer before
            it), and why; None if it goes on from them.
        dropped: the messages left out because the context was full, oldest first.
        first_token_seconds: the time from the question to the first token; None if there is none.
        tokens_per_second: the rate after the first token, not counting time between the caller's requests; None if
            there are no such tokens.
        exact: of an exact completion, how the prompt's end was spelled; None for other answers.
    """

    text: str
    ids: tuple[int, ...]
    reason: Reason
    prompt_tokens: int
    reused: int
    divergence: Divergence | None
    dropped: tuple[Message, ...]
    first_token_seconds: float | None
    tokens_per_second: float | None
    exact: ExactPrompt | None = None


class ActiveResponse:
    """An answer in progress.

    Attributes:
        matcher: of the constraint on it, if there is one.
        cancelled: set by the caller to end it.
        reason: why it ended; "cancelled" until then.
        asked: the history with the question, and the prompt; None until then, and for a completion.
        prompt_tokens, reused, divergence, dropped, exact: as in `Response`.
    """

    def __init__(self, tokenizer: "BPETokenizer", matcher: "Matcher | None" = None) -> None:
        self.matcher, self.cancelled = matcher, False
        self.reason: Reason = "cancelled"
        self.asked: tuple[History, FittedConversation] | None = None
        self.prompt_tokens = self.reused = 0
        self.divergence: Divergence | None = None
        self.dropped: tuple[Message, ...] = ()
        self.exact: ExactPrompt | None = None
        self._prompt_characters = self._hidden = 0
        self._tokenizer = tokenizer
        self._decoder = StreamDecoder(tokenizer, skip_special_tokens=True, unknown="replace")
        self._pieces: list[StreamedToken] = []
        self._yielded = 0
        self._started = self._requested = perf_counter()
        self._first_seconds: float | None = None
        self._busy = 0.0

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids that the model has generated so far."""
        return tuple(piece.id for piece in self._pieces)

    def begin_inside(self, exact: ExactPrompt, prompt: bytes) -> None:
        """Begin after tokens inside a prompt: only the text that goes beyond it is shown.

        After a part of a character, that is the whole character.
        """
        self.exact = exact
        self._prompt_characters = self._hidden = len(prompt.decode(errors="ignore"))
        for token in exact.ids:
            self._beyond_prompt(self._decoder.push(token))

    def _beyond_prompt(self, text: str) -> str:
        """Return what of the next piece of text isn't the prompt's."""
        hidden = min(self._hidden, len(text))
        self._hidden -= hidden
        return text[hidden:]

    def add(self, generated: Generated) -> Iterator[StreamedToken]:
        """Add a token, and yield those that can be shown now.

        A token that ends inside a character waits for the next, so that the last token can show the rest of the text.
        """
        now = perf_counter()
        if self._first_seconds is None:
            self._first_seconds = now - self._started
        else:
            self._busy += now - self._requested
        text = self._beyond_prompt(self._decoder.push(generated.id))
        top = tuple(TopToken(token, self._bytes(token), share) for token, share in generated.top)
        self._pieces.append(StreamedToken(generated.id, self._bytes(generated.id), text, generated.probability, top))
        ready = len(self._pieces) - bool(self._decoder.pending)
        while self._yielded < ready:
            self._yielded += 1
            yield self._pieces[self._yielded - 1]
        self._requested = perf_counter()

    def _bytes(self, token: int) -> bytes:
        return self._tokenizer.id_to_token(token) or b""

    def response(self) -> Response:
        """Return the whole answer.

        The text is decoded from the ids again: an interrupt may have come between any two steps.
        """
        ids = self.ids
        spelled = (*self.exact.ids, *ids) if self.exact and ids else ids
        text = self._tokenizer.decode(spelled, unknown="replace", skip_special_tokens=True)
        rate = (len(ids) - 1) / self._busy if self._busy else None
        return Response(
            text[self._prompt_characters :],
            ids,
            self.reason,
            self.prompt_tokens,
            self.reused,
            self.divergence,
            self.dropped,
            self._first_seconds,
            rate,
            self.exact,
        )

    def flush(self, text: str) -> Iterator[StreamedToken]:
        """Yield the remaining tokens; the last has the rest of `text` that hasn't been shown yet."""
        waiting = self._pieces[self._yielded :]
        yield from waiting[:-1]
        if waiting:
            shown = sum(len(piece.text) for piece in self._pieces[:-1])
            yield replace(waiting[-1], text=text[shown:])
