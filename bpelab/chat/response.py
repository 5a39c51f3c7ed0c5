"""An answer as it comes: tokens to text that is sure, and what the answer cost.

Chapter: Chat on your hardware. Cost: linear in the tokens.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from ..streaming import StreamDecoder
from .generation import Generated, Reason
from .messages import Message

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer


@dataclass(frozen=True)
class Piece:
    """One token of an answer, as it comes.

    Attributes:
        id: the token.
        token: its bytes; none for an id that the tokenizer doesn't have.
        text: what is sure to be shown now. The texts of all pieces, joined, are the answer's.
        probability: how sure the model was of it, before any sampling setting.
    """

    id: int
    token: bytes
    text: str
    probability: float


@dataclass(frozen=True)
class Answer:
    """A whole answer, and what it cost.

    Attributes:
        text: without special tokens.
        ids: all that the model said before it stopped.
        reason: "stop", "length", "context" (it is full) or "cancelled".
        prompt_tokens: ids that the model was given.
        reused: how many of them it held already.
        dropped: the messages that it was not shown, oldest first, since the context holds no more.
        first_token_seconds: from the question to the first token; None if there is none.
        tokens_per_second: of the tokens behind the first, without the time in which nobody asked for one; None if there
            is none.
    """

    text: str
    ids: tuple[int, ...]
    reason: Reason
    prompt_tokens: int
    reused: int
    dropped: tuple[Message, ...]
    first_token_seconds: float | None
    tokens_per_second: float | None


class Turn:
    """An answer under way.

    Attributes:
        cancelled: set by who wants it to end.
        reason: why it ended; until then, that it was cancelled.
        prompt_tokens, reused, dropped: as in `Answer`.
    """

    def __init__(self, tokenizer: "BPETokenizer") -> None:
        self.cancelled = False
        self.reason: Reason = "cancelled"
        self.prompt_tokens = self.reused = 0
        self.dropped: tuple[Message, ...] = ()
        self._tokenizer = tokenizer
        self._decoder = StreamDecoder(tokenizer, skip_special_tokens=True, unknown="replace")
        self._pieces: list[Piece] = []
        self._given = 0
        self._began = self._asked = perf_counter()
        self._first: float | None = None
        self._busy = 0.0

    @property
    def ids(self) -> tuple[int, ...]:
        """What the model has said so far."""
        return tuple(piece.id for piece in self._pieces)

    def take(self, made: Generated) -> Iterator[Piece]:
        """The pieces that can be given out once `made` is there.

        One that ends in half a character waits for the next, so that the last one can show what is left of it.
        """
        now = perf_counter()
        if self._first is None:
            self._first = now - self._began
        else:
            self._busy += now - self._asked
        token = self._tokenizer.id_to_token(made.id) or b""
        self._pieces.append(Piece(made.id, token, self._decoder.push(made.id), made.probability))
        ready = len(self._pieces) - bool(self._decoder.pending)
        while self._given < ready:
            self._given += 1
            yield self._pieces[self._given - 1]
        self._asked = perf_counter()

    def answer(self) -> Answer:
        """All of it. The text is decoded from the ids anew: an interrupt may have come between any two steps."""
        ids = self.ids
        text = self._tokenizer.decode(ids, unknown="replace", skip_special_tokens=True)
        rate = (len(ids) - 1) / self._busy if self._busy else None
        return Answer(text, ids, self.reason, self.prompt_tokens, self.reused, self.dropped, self._first, rate)

    def rest(self, text: str) -> Iterator[Piece]:
        """The pieces that were not given out yet; the last has all of `text` that none has shown."""
        waiting = self._pieces[self._given :]
        yield from waiting[:-1]
        if waiting:
            shown = sum(len(piece.text) for piece in self._pieces[:-1])
            yield replace(waiting[-1], text=text[shown:])
