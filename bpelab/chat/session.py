"""A conversation with a model: its history, its template, its budget, and the answer as it comes.

Every turn, the whole conversation goes through the template and the tokenizer, and those ids to the backend, which
computes only what differs from the ids that it held: the prompt of a turn begins with the turn before. It may differ
near the end of the last answer, since a model can spell a text otherwise than the tokenizer does; there the template's
ids win, which are those that the model was trained on, and the few behind are computed again.

Chapter: Chat on your hardware. Cost: templates and tokens take milliseconds; the rest is the model's.
"""

import os
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from ..errors import ConversationError, ModelFileError
from ..textio import valid_text
from . import transcript
from .answering import Answer, Piece, Turn
from .backends.base import Backend
from .conversation import apply_chat_template, fit_to_context
from .generation import Generated, generate
from .hardware import Choice
from .messages import Message
from .opening import choose, open_somewhere
from .parity import Parity, compare
from .sampling import GREEDY, Sampling
from .stopping import stop_ids
from .template import find_template
from .variables import SETTINGS, own_keywords, variables_for

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .models import ModelFiles


ANYTHING: Message = {"role": "user", "content": "a"}
"""What is put through a template to see at once, and not at the first question, what it refuses."""


class ChatSession:
    """A conversation with a model that runs here.

    Args:
        model: a GGUF file, a folder, a Hub id, or what `find_model` gave; None for the model that bpelab ships.
        tokenizer: by default the model's own, out of its files.
        backend: one of BACKENDS, or "auto" for the best one that this machine has (the shipped model is so small that
            "reference" is); or an opened Backend.
        template: the name of a template, or Jinja; by default the tokenizer's own, and the model's where that has none.
        system: the text of the system message.
        max_new_tokens: an answer ends after so many.
        n_ctx, n_gpu_layers, threads, device: as for `open_backend`. Where no device is asked for and a GPU fails, or
            its memory is short, the processor is taken, with a warning (`bpelab.chat.opening.OnProcessor`).
        sampling: how tokens are chosen.
        template_variables: what else the template reads, by name.
        options: temperature, top_k, top_p, min_p, repetition_penalty and seed, each in place of that of `sampling`; and
            variables that the template reads (`enable_thinking=False`, say), as for `apply_chat_template`.

    One answer at a time: who asks while another answer is under way, in whatever thread, gets a ConversationError.
    Raises ModelFileError, BackendError, MissingDependencyError, TokenizerFileError; TemplateError where there is no
    template, or it can't be used with this tokenizer; TypeError for an option that is neither a setting nor read by the
    template.

    >>> session = ChatSession()
    >>> answer = session.ask("What is a token?")
    >>> answer.reason, len(session.messages)
    ('stop', 2)
    """

    def __init__(
        self,
        model: "str | Path | ModelFiles | None" = None,
        *,
        tokenizer: "BPETokenizer | None" = None,
        backend: str | Backend = "auto",
        template: str | None = None,
        system: str | None = None,
        max_new_tokens: int = 256,
        n_ctx: int | None = None,
        n_gpu_layers: int | None = None,
        threads: int | None = None,
        device: str | None = None,
        sampling: Sampling = GREEDY,
        template_variables: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(max_new_tokens, int) or isinstance(max_new_tokens, bool) or max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be a whole number of at least 1, and is {max_new_tokens!r}")
        self.max_new_tokens = max_new_tokens
        self.sampling = replace(sampling, **{name: options.pop(name) for name in SETTINGS if name in options})
        self._template = template
        self._options: dict[str, Any] = {
            "n_ctx": n_ctx,
            "n_gpu_layers": n_gpu_layers,
            "threads": threads,
            "device": device,
        }
        self._opened = backend if isinstance(backend, Backend) else None
        self.files: ModelFiles | None = None
        """The model's files; None where an opened backend and a tokenizer were given instead."""
        if self._opened is None or model is not None or tokenizer is None:
            from .models import find_model

            self.files = find_model(model) if model is None or isinstance(model, (str, os.PathLike)) else model
        if tokenizer is None:
            assert self.files is not None
            tokenizer = self.files.tokenizer()
        elif template is None and self.files is not None and not tokenizer.metadata.get("chat_template"):
            self._template = find_template(self.files.tokenizer(), None, False)
        self.tokenizer = tokenizer
        self._variables = self._checked(template_variables, options)
        self._turn: Turn | None = None
        self._guard = Lock()
        self.parity: Parity | None = None
        """How the backend's own tokenizer reads the first prompt; None before it."""
        self.last: Answer | None = None
        """The answer before."""
        self.reset(system=system)
        known = () if self.files is None else self.files.stop_ids
        self.stop = stop_ids(tokenizer, self._template, known, self._variables)
        """The ids at which an answer ends."""
        self.choice: Choice | None = None if self._opened else choose(str(backend), self.files)
        """The backend's name, and why it; None for an opened one."""
        self._refuse_large_ids()

    @property
    def backend(self) -> Backend:
        """The loaded model. `open_backend` keeps two; one that was closed meanwhile is opened again."""
        if self._opened is not None:
            return self._opened
        assert self.files is not None and self.choice is not None
        return open_somewhere(self.choice.backend, self.files, self._options)

    def _checked(self, given: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The template's variables. Raises TypeError for a keyword that is none."""
        known = [*own_keywords(ChatSession), *SETTINGS]
        source = find_template(self.tokenizer, self._template, False)
        return variables_for("ChatSession", known, source, given, keywords)

    def _refuse_large_ids(self) -> None:
        highest, rows = max(self.tokenizer.model.tokens), self.backend.vocab_size
        if highest >= rows:
            raise ModelFileError(
                f"the tokenizer has ids up to {highest:,} and the model has {rows:,} tokens: it was not trained "
                "with this tokenizer; take the model's own"
            )

    # -- the conversation --------------------------------------------------------------------------------------------

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far, the system message included, as copies."""
        copies: list[dict[str, Any]] = transcript.own(self._messages)
        return copies

    def reset(self, *, system: str | EllipsisType | None = ...) -> None:
        """Begin anew, with the same system message, or with another (None for none).

        Raises TemplateError for a template that refuses it; then nothing has changed.
        """
        self._refuse_while_answering()
        if system is ...:
            messages = [message for message in self._messages[:1] if message["role"] == "system"]
        else:
            messages = [] if system is None else [{"role": "system", "content": valid_text(system)}]
        self._prompt([*messages, ANYTHING])
        self._messages: list[dict[str, Any]] = messages
        self._shown: list[Message] = list(messages)
        """Those of the messages that still go to the model. What was left out once stays out."""

    def save(self, path: str | Path) -> None:
        """Write messages, max_new_tokens and sampling to a JSON file, whole or not at all. Raises ConversationError."""
        name = "" if self.files is None else self.files.name
        transcript.write(path, transcript.Transcript(self.messages, name, self.max_new_tokens, self.sampling))

    def load(self, path: str | Path) -> None:
        """Go on with what `save` wrote, in place of the conversation so far; the model stays.

        Raises ConversationError, which names the file and the key, for a file that is none, and TemplateError for a
        conversation that the template refuses; then nothing has changed.
        """
        self._refuse_while_answering()
        saved = transcript.read(path)
        self._prompt([*saved.messages, ANYTHING])
        self.max_new_tokens, self.sampling = saved.max_tokens, saved.sampling
        self._messages, self._shown, self.last = saved.messages, list(saved.messages), None

    def take_back(self) -> str | None:
        """Forget the last question, with what came after it, and return it; None where there is none.

        Raises ConversationError while an answer is under way.
        """
        self._refuse_while_answering()
        asked = [number for number, message in enumerate(self._messages) if message["role"] == "user"]
        if not asked:
            return None
        gone = set(map(id, self._messages[asked[-1] :]))
        question = str(self._messages[asked[-1]]["content"])
        self._messages = [message for message in self._messages if id(message) not in gone]
        self._shown = [message for message in self._shown if id(message) not in gone]
        return question

    # -- answers -----------------------------------------------------------------------------------------------------

    def ask(self, said: str | Sequence[Message]) -> Answer:
        """The answer to a user's message, or to several messages (a tool's results, say), which are added to the rest.

        As `stream`, at once.
        """
        deque(self.stream(said), 0)  # and no line of Python here that an interrupt could fall on
        assert self.last is not None
        return self.last

    def cancel(self) -> None:
        """End the answer under way, from another thread: before its next token. Where there is none, nothing."""
        turn = self._turn
        if turn is not None:
            turn.cancelled = True

    def stream(self, said: str | Sequence[Message]) -> Generator[Piece, None, None]:
        """The answer, token by token; when it has ended, `last` is the whole of it.

        A KeyboardInterrupt while the model works ends the answer and goes no further; so does closing the iterator.
        What was said until then stays as the assistant's message; if that is nothing, the question is withdrawn too.

        Raises ConversationError for messages that are none or don't fit into the context, TemplateError, BackendError;
        then the conversation is as it was before, and the session goes on.
        """
        turn = Turn(self.tokenizer)
        try:  # around all of it: an interrupt between two lines must not leave the session taken
            with self._guard:
                self._refuse_while_answering()
                self._turn = turn
            yield from self._answer(turn, _messages(said))
        finally:
            if self._turn is turn:
                self._turn = None

    def _refuse_while_answering(self) -> None:
        if self._turn is not None:
            raise ConversationError(
                "the session is answering: let it end, cancel() it, or close() the iterator that `stream` gave"
            )

    def _answer(self, turn: Turn, new: list[dict[str, Any]]) -> Iterator[Piece]:
        shown: list[Message] = []
        gone = False
        try:
            backend = self.backend
            shown = self._fitted([*self._shown, *new], backend.context)
            kept = set(map(id, shown))
            turn.dropped = tuple(transcript.own(message) for message in self._messages if id(message) not in kept)
            ids = self._prompt(shown)
            turn.prompt_tokens = len(ids)
            if self.parity is None:
                self.parity = compare(self.tokenizer, backend, self._prompt(shown, tokenize=False), ids)
            for made in self._generated(turn, backend, ids):
                yield from turn.take(made)
        except KeyboardInterrupt:
            turn.reason = "cancelled"
        except GeneratorExit:
            gone = True
        self.last = answer = turn.answer()
        if answer.ids or answer.reason != "cancelled":
            said = {"role": "assistant", "content": answer.text}
            self._messages, self._shown = [*self._messages, *new, said], [*shown, said]
        if not gone:
            yield from turn.rest(answer.text)

    def _generated(self, turn: Turn, backend: Backend, ids: list[int]) -> Generator[Generated, None, None]:
        made = generate(
            backend,
            ids,
            self.sampling,
            max_new_tokens=self.max_new_tokens,
            stop=self.stop,
            cancelled=lambda: turn.cancelled,
        )
        try:
            first = next(made)
        except StopIteration as end:
            turn.reason, turn.reused = end.value, backend.reused
            return
        turn.reused = backend.reused
        yield first
        turn.reason = yield from made

    def _prompt(self, messages: Sequence[Message], **options: Any) -> Any:
        return apply_chat_template(
            self.tokenizer,
            messages,
            self._template,
            add_generation_prompt=True,
            template_variables=self._variables,
            **options,
        )

    def _fitted(self, messages: list[Message], context: int) -> list[Message]:
        """The messages without the oldest turns, so that an answer fits behind them; a short one, if it must be."""
        reserve = min(self.max_new_tokens, context // 2)
        while True:
            try:
                return fit_to_context(
                    self.tokenizer,
                    messages,
                    context,
                    reserve=reserve,
                    template=self._template,
                    template_variables=self._variables,
                ).messages
            except ConversationError as error:
                if reserve <= 1:
                    advice = "say it in fewer words, or open the model with a larger context"
                    raise ConversationError(f"{error}: {advice}") from error
                reserve //= 2


def _messages(said: str | Sequence[Message]) -> list[dict[str, Any]]:
    return transcript.own_messages([{"role": "user", "content": said}] if isinstance(said, str) else said)
