"""ChatSession: a conversation with a model, its history, its template, its context, and streamed responses.

Every turn, the whole conversation goes through the template and the tokenizer, and the ids go to the backend, which
computes only what differs from the ids in its cache: a turn's prompt starts with the previous turn. It may differ near
the end of the last answer, since a model can spell a text differently from the tokenizer. Then the template's ids win,
since the model was trained on such ids, and the few ids after them are computed again.

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

from .._support.textio import valid_text
from ..chat_templates.apply import FittedConversation, apply_chat_template, fit_to_context
from ..chat_templates.messages import Message
from ..chat_templates.render import find_template
from ..chat_templates.template_variables import own_keywords, variables_for
from ..errors import ConversationError, ModelFileError
from . import transcript
from .backends.base import Backend
from .generation import Generated, generate
from .hardware.detect import Choice
from .opening import choose, open_with_fallback
from .response import ActiveResponse, Response, StreamedToken
from .sampling import GREEDY, SETTINGS, Sampling
from .stop_tokens import stop_ids
from .tokenizer_parity import Parity, check_parity

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .models.find import ModelFiles


ANYTHING: Message = {"role": "user", "content": "a"}
"""A message that is rendered to find a template's errors at once, rather than at the first question."""


class ChatSession:
    """A conversation with a model that runs on this machine.

    Args:
        model: a GGUF file, a folder, a Hub id, or what `find_model` returned; None for the model that bpelab ships.
        tokenizer: by default the model's own, from its files.
        backend: one of BACKENDS; "auto" for the best one on this machine ("reference" for the shipped model, which is
            tiny); or an opened Backend.
        template: the name of a template, or Jinja; by default the tokenizer's own, or the model's if that has none.
        system: the text of the system message.
        max_new_tokens: the most tokens of one answer.
        n_ctx, n_gpu_layers, threads, device: as for `open_backend`. If no device is given and a GPU fails or runs out
            of memory, the processor is used, with a warning (`bpelab.chat.opening.GPUFallback`).
        sampling: how tokens are chosen.
        template_variables: other variables that the template reads, by name.
        options: temperature, top_k, top_p, min_p, repetition_penalty and seed, each overriding that of `sampling`; and
            variables that the template reads (such as `enable_thinking=False`), as for `apply_chat_template`.

    Not reentrant: raises ConversationError if an answer is in progress, in any thread.
    Raises ModelFileError, BackendError, MissingDependencyError, TokenizerFileError; TemplateError if there is no
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
        """The model's files; None if an opened backend and a tokenizer were given instead."""
        if self._opened is None or model is not None or tokenizer is None:
            from .models.find import find_model

            self.files = find_model(model) if model is None or isinstance(model, (str, os.PathLike)) else model
        if tokenizer is None:
            assert self.files is not None
            tokenizer = self.files.tokenizer()
        elif template is None and self.files is not None and not tokenizer.spec.metadata.get("chat_template"):
            self._template = find_template(self.files.tokenizer(), None, False)
        self.tokenizer = tokenizer
        self._variables = self._check_variables(template_variables, options)
        self._turn: ActiveResponse | None = None
        self._lock = Lock()
        self.parity: Parity | None = None
        """The comparison with the backend's own tokenizer on the first prompt; None before that."""
        self.last: Response | None = None
        """The last answer; None before the first."""
        self.reset(system=system)
        known = () if self.files is None else self.files.stop_ids
        self.stop = stop_ids(tokenizer, self._template, known, self._variables)
        """The ids at which an answer ends."""
        self.choice: Choice | None = None if self._opened else choose(str(backend), self.files)
        """The backend's name, and why it was chosen; None for an opened backend."""
        self._check_largest_id()

    @property
    def backend(self) -> Backend:
        """The loaded model. `open_backend` keeps two; one that has since been closed is opened again."""
        if self._opened is not None:
            return self._opened
        assert self.files is not None and self.choice is not None
        return open_with_fallback(self.choice.backend, self.files, self._options)

    def _check_variables(self, given: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Return the template's variables. Raises TypeError for a keyword that isn't one."""
        known = [*own_keywords(ChatSession), *SETTINGS]
        source = find_template(self.tokenizer, self._template, False)
        return variables_for("ChatSession", known, source, given, keywords)

    def _check_largest_id(self) -> None:
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
        copies: list[dict[str, Any]] = transcript.deep_copy_json(self._messages)
        return copies

    def reset(self, *, system: str | EllipsisType | None = ...) -> None:
        """Start a new conversation, with the same system message or another (None for none).

        Raises TemplateError if the template refuses it; then nothing changes.
        """
        self._raise_if_answering()
        if system is ...:
            messages = [message for message in self._messages[:1] if message["role"] == "system"]
        else:
            messages = [] if system is None else [{"role": "system", "content": valid_text(system)}]
        self._check_template(messages)
        self._messages: list[dict[str, Any]] = messages
        self._in_context: list[Message] = list(messages)
        """The messages that still go to the model. A message once dropped stays dropped."""

    def save(self, path: str | Path) -> None:
        """Write messages, max_new_tokens and sampling to a JSON file, whole or not at all. Raises ConversationError."""
        name = "" if self.files is None else self.files.name
        transcript.write(path, transcript.Transcript(self.messages, name, self.max_new_tokens, self.sampling))

    def load(self, path: str | Path) -> None:
        """Replace the conversation with one that `save` wrote; the model stays.

        Raises ConversationError, naming the file and the key, if the file isn't valid, and TemplateError if the
        template refuses the conversation; then nothing changes.
        """
        self._raise_if_answering()
        saved = transcript.read(path)
        self._check_template(saved.messages)
        self.max_new_tokens, self.sampling = saved.max_tokens, saved.sampling
        self._messages, self._in_context, self.last = saved.messages, list(saved.messages), None

    def undo_last_turn(self) -> str | None:
        """Remove the last question and everything after it, and return the question; None if there is none.

        Raises ConversationError while an answer is in progress.
        """
        self._raise_if_answering()
        asked = [index for index, message in enumerate(self._messages) if message["role"] == "user"]
        if not asked:
            return None
        gone = set(map(id, self._messages[asked[-1] :]))
        question = str(self._messages[asked[-1]]["content"])
        self._messages = [message for message in self._messages if id(message) not in gone]
        self._in_context = [message for message in self._in_context if id(message) not in gone]
        return question

    # -- answers -----------------------------------------------------------------------------------------------------

    def ask(self, message: str | Sequence[Message]) -> Response:
        """Return the answer to a user's message, or to several messages (such as a tool's results).

        Like `stream`, but returns the whole answer.
        """
        deque(self.stream(message), 0)  # in C, so that no interrupt can hit a line of Python here
        assert self.last is not None
        return self.last

    def cancel(self) -> None:
        """End the answer in progress before its next token, from another thread. Does nothing if there is none."""
        turn = self._turn
        if turn is not None:
            turn.cancelled = True

    def stream(self, message: str | Sequence[Message]) -> Generator[StreamedToken, None, None]:
        """Yield the answer, token by token; when it ends, `last` is the whole answer.

        A KeyboardInterrupt while the model works ends the answer, and isn't raised again; closing the iterator ends it
        too. The text until then becomes the assistant's message; if there's none, the question is removed.

        Raises ConversationError for an invalid message or one that doesn't fit into the context, TemplateError,
        BackendError; then the conversation is unchanged, and the session can go on.
        """
        turn = ActiveResponse(self.tokenizer)
        try:  # around all of it: an interrupt between two lines must not leave the session locked
            with self._lock:
                self._raise_if_answering()
                self._turn = turn
            yield from self._answer(turn, _messages(message))
        finally:
            if self._turn is turn:
                self._turn = None

    def _raise_if_answering(self) -> None:
        if self._turn is not None:
            raise ConversationError(
                "the session is answering: let it end, cancel() it, or close() the iterator that `stream` returned"
            )

    def _answer(self, turn: ActiveResponse, new: list[dict[str, Any]]) -> Iterator[StreamedToken]:
        shown: list[Message] = []
        gone = False
        try:
            backend = self.backend
            fitted = self._fit([*self._in_context, *new], backend.context)
            shown, ids = fitted.messages, fitted.ids
            kept = set(map(id, shown))
            turn.dropped = tuple(
                transcript.deep_copy_json(message) for message in self._messages if id(message) not in kept
            )
            turn.prompt_tokens = len(ids)
            if self.parity is None:
                self.parity = check_parity(self.tokenizer, backend, fitted.text, ids)
            for made in self._generated(turn, backend, ids):
                yield from turn.add(made)
        except KeyboardInterrupt:
            turn.reason = "cancelled"
        except GeneratorExit:
            gone = True
        self.last = answer = turn.response()
        if answer.ids or answer.reason != "cancelled":
            reply = {"role": "assistant", "content": answer.text}
            self._messages, self._in_context = [*self._messages, *new, reply], [*shown, reply]
        if not gone:
            yield from turn.flush(answer.text)

    def _generated(self, turn: ActiveResponse, backend: Backend, ids: list[int]) -> Generator[Generated, None, None]:
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

    def _check_template(self, messages: Sequence[Message]) -> None:
        """Render and encode messages with a question after them, to find errors early. Raises TemplateError."""
        apply_chat_template(
            self.tokenizer,
            [*messages, ANYTHING],
            self._template,
            add_generation_prompt=True,
            template_variables=self._variables,
        )

    def _fit(self, messages: list[Message], context: int) -> FittedConversation:
        """Return the conversation without its oldest turns, so that at least a short answer fits after it."""
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
                )
            except ConversationError as error:
                if reserve <= 1:
                    advice = "say it in fewer words, or open the model with a larger context"
                    raise ConversationError(f"{error}: {advice}") from error
                reserve //= 2


def _messages(message: str | Sequence[Message]) -> list[dict[str, Any]]:
    return transcript.copy_messages([{"role": "user", "content": message}] if isinstance(message, str) else message)
