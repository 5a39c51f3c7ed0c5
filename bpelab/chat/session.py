"""ChatSession: a conversation with a model, its history, its template, its context, and streamed responses.

In every turn `prompts.py` makes the ids of the whole conversation, and a backend computes only those that differ from
the ids in its cache. An answer stays the ids that the model generated, so unless the template rewrites what it wrote
before, only the new question and what the template writes around it are computed.

Chapters: A model answers; Chat on your hardware. Cost: templates and tokens take milliseconds; the rest is the model's.
"""

import os
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from .._support.textio import valid_text
from .._support.validate import check_flags, check_size
from ..chat_templates.divergence import Divergence
from ..chat_templates.messages import Message
from ..chat_templates.render import find_template
from ..chat_templates.template_variables import own_keywords, variables_for
from ..errors import ConversationError, ModelFileError
from ..prefix.answers import NextBytes, TextProbability
from ..prefix.byte_model import ByteModel
from ..prefix.covers import as_bytes
from . import transcript
from .answerer import Answerer
from .backends.base import Backend
from .base_models import another_format, has_template, why_not_asked
from .completion import complete_as_encoded
from .generation import Generated
from .hardware.detect import Choice
from .history import Entry, History
from .opening import choose, open_with_fallback
from .prompts import PromptBuilder
from .response import ActiveResponse, Response, StreamedToken
from .sampling import GREEDY, SETTINGS, Sampling
from .stop_tokens import stop_ids
from .text_bits import start_ids
from .tokenizer_parity import Parity, check_parity
from .turns import Turns

if TYPE_CHECKING:
    from ..chat_templates.fit_to_context import FittedConversation
    from ..constraints import Constraint, Matcher
    from ..tokenizer import BPETokenizer
    from .models.find import ModelFiles


class ChatSession:
    """A conversation with a model that runs on this machine.

    Args:
        model: a GGUF file, a folder, a Hub id, or what `find_model` returned; None for the model that bpelab ships.
        tokenizer: by default the model's own, from its files.
        backend: one of BACKENDS; "auto" for the best one on this machine ("reference" for the shipped model, which is
            tiny); or an opened Backend.
        template: the name of a template, or Jinja; by default the tokenizer's own, or the model's if that has none. If
            neither has one, the model is a base model: `complete` works without a template, and asking with one warns
            (`bpelab.chat.base_models.BaseModelWarning`).
        system: the text of the system message.
        keep_ids: whether an answer goes back into the next prompt as the ids that the model generated, wherever the
            template writes its text unchanged. Otherwise its text is encoded again, which may give other ids: then the
            cache is lost from there on. `Response.divergence` says where ids changed, `diverges` where they would.
        max_new_tokens: the most tokens of one answer.
        top_tokens: how many of the most likely tokens to stream with each token, with their probabilities.
        n_ctx, n_gpu_layers, threads, device: as for `open_backend`. If no device is given and a GPU fails or runs out
            of memory, the processor is used, with a warning (`bpelab.chat.opening.GPUFallback`).
        sampling: how tokens are chosen.
        template_variables: other variables that the template reads, by name.
        options: temperature, top_k, top_p, min_p, repetition_penalty and seed, each overriding that of `sampling`; and
            variables that the template reads (such as `enable_thinking=False`), as for `apply_chat_template`.

    Not reentrant: raises ConversationError if an answer is in progress, in any thread.
    Raises ModelFileError, BackendError, MissingDependencyError, TokenizerFileError; TemplateError for a
    template that can't be used with this tokenizer; TypeError for an option that is neither a setting nor read by the
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
        keep_ids: bool = True,
        max_new_tokens: int = 256,
        top_tokens: int = 0,
        n_ctx: int | None = None,
        n_gpu_layers: int | None = None,
        threads: int | None = None,
        device: str | None = None,
        sampling: Sampling = GREEDY,
        template_variables: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        check_size(max_new_tokens, "max_new_tokens", 1)
        check_size(top_tokens, "top_tokens")
        check_flags(keep_ids=keep_ids)
        self.max_new_tokens, self.top_tokens = max_new_tokens, top_tokens
        self.sampling = replace(sampling, **{name: options.pop(name) for name in SETTINGS if name in options})
        self._options = {"n_ctx": n_ctx, "n_gpu_layers": n_gpu_layers, "threads": threads, "device": device}
        self._opened = backend if isinstance(backend, Backend) else None
        self.files: ModelFiles | None = None
        """The model's files; None if an opened backend and a tokenizer were given instead."""
        if self._opened is None or model is not None or tokenizer is None:
            from .models.find import find_model

            self.files = find_model(model) if model is None or isinstance(model, (str, os.PathLike)) else model
        of_files = tokenizer
        if self.files is not None and (tokenizer is None or not has_template(tokenizer)):
            of_files = self.files.tokenizer()
        assert of_files is not None
        self.tokenizer = tokenizer = of_files if tokenizer is None else tokenizer
        self.is_base = not has_template(of_files)
        """Whether the model is a base model: neither it nor the tokenizer has a chat template."""
        if template is None and not self.is_base and of_files is not tokenizer:
            template = find_template(of_files, None, False)
        elif template is not None and self.is_base and self.files is not None:
            warnings.warn(another_format(self.files.name), stacklevel=2)
        self.takes_messages = not self.is_base or template is not None
        """Whether there is a template, so that the model can be asked; otherwise it can only complete texts."""
        own = [*own_keywords(ChatSession), *SETTINGS]
        source = find_template(tokenizer, template, False) if self.takes_messages else ""
        variables = variables_for("ChatSession", own, source, template_variables, options)
        self._prompts = PromptBuilder(
            tokenizer,
            template,
            variables,
            keep_ids,
            None if self.takes_messages else why_not_asked("this model" if self.files is None else self.files.name),
        )
        self._history = History()
        self._turns = Turns()
        self._byte_model: tuple[object, ByteModel] | None = None
        self.parity: Parity | None = None
        """The comparison with the backend's own tokenizer on the first prompt; None before that."""
        self.last: Response | None = None
        """The last answer; None before the first."""
        self.reset(system=system)
        of_model = () if self.files is None else self.files.stop_ids
        self.stop = stop_ids(tokenizer, template, of_model, variables)
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

    def _check_largest_id(self) -> None:
        highest, rows = max(self.tokenizer.model.tokens), self.backend.vocab_size
        if highest >= rows:
            raise ModelFileError(
                f"the tokenizer has ids up to {highest:,}, but the model has only {rows:,} tokens: it wasn't trained "
                "with this tokenizer; use the model's own"
            )

    # -- the conversation --------------------------------------------------------------------------------------------

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far, the system message included, as copies."""
        return self._history.messages

    @property
    def ids(self) -> list[int]:
        """The ids that the model saw last, as a copy: the last prompt and its answer."""
        return list(self._history.ids)

    def reset(self, *, system: str | EllipsisType | None = ...) -> None:
        """Start a new conversation, with the same system message or a different one (None removes it).

        Raises TemplateError if the template refuses it; then nothing changes.
        """
        self._turns.raise_if_taken()
        if system is ...:
            messages = [message for message in self.messages[:1] if message["role"] == "system"]
        else:
            messages = [] if system is None else [{"role": "system", "content": valid_text(system)}]
        if messages or self.takes_messages:
            self._prompts.check(messages)
        self._history = History(tuple(map(Entry, messages)))

    def save(self, path: str | Path) -> None:
        """Write messages, answers' ids, max_new_tokens and sampling to a JSON file, whole or not at all.

        Raises ConversationError.
        """
        name = "" if self.files is None else self.files.name
        answers = tuple(entry.answer for entry in self._history.entries)
        transcript.write(path, transcript.Transcript(self.messages, name, self.max_new_tokens, self.sampling, answers))

    def load(self, path: str | Path) -> None:
        """Replace the conversation with one that `save` wrote; the model stays.

        An answer whose text was edited, or whose ids are another tokenizer's, is encoded again.
        Raises ConversationError, naming the file and the key, if the file isn't valid, and TemplateError if the
        template refuses the conversation; then nothing changes.
        """
        self._turns.raise_if_taken()
        saved = transcript.read(path)
        self._prompts.check(saved.messages)
        self.max_new_tokens, self.sampling = saved.max_tokens, saved.sampling
        answers = saved.answers or [None] * len(saved.messages)
        self._history, self.last = History(tuple(map(Entry, saved.messages, answers))), None

    def undo_last_turn(self) -> str | None:
        """Remove the last question and everything after it, and return the question; None if there is none.

        Raises ConversationError while an answer is in progress.
        """
        self._turns.raise_if_taken()
        question, self._history = self._history.without_last_turn()
        return question

    # -- answers -----------------------------------------------------------------------------------------------------

    def ask(self, message: str | Sequence[Message], *, constraint: "Constraint | None" = None) -> Response:
        """Return the answer to a user's message, or to several messages (such as a tool's results); see `stream`."""
        tokens = self.stream(message, constraint=constraint)
        deque(tokens, 0)  # in C, so that no interrupt can hit a line of Python here
        assert self.last is not None
        return self.last

    def diverges(self, message: str | Sequence[Message]) -> Divergence | None:
        """Return where the prompt of `message` would stop following the ids that the model saw last, and why.

        None if it goes on from them. Nothing is asked. Raises as `stream` does. Cost: that of encoding the prompt.
        """
        prompt = self._prompt(_messages(message))
        return self._prompts.divergence(self._history, prompt)

    def cancel(self) -> None:
        """End the answer in progress before its next token, from another thread. Does nothing if there is none."""
        self._turns.cancel()

    def stream(
        self, message: str | Sequence[Message], *, constraint: "Constraint | None" = None
    ) -> Generator[StreamedToken, None, None]:
        """Yield the answer, token by token; when it ends, `last` is the whole answer.

        With a `constraint` (`bpelab.constraints`) the answer matches it, unless it is cut off by max_new_tokens.

        A KeyboardInterrupt while the model works ends the answer, and isn't raised again; closing the iterator ends it
        too. The text until then becomes the assistant's message; if there's none, the question is removed.

        Raises ConversationError for an invalid message or one that doesn't fit into the context, TemplateError,
        BackendError; then the conversation is unchanged, and the session can go on.
        """
        turn = ActiveResponse(self.tokenizer, self._matcher(constraint))
        with self._turns.take(turn):
            yield from self._shown(turn, self._asked(turn, message))

    def complete(
        self,
        text: str | bytes,
        *,
        exact: bool = False,
        message: str | Sequence[Message] | None = None,
        constraint: "Constraint | None" = None,
    ) -> Response:
        """Return how the model continues a text, without a template; see `stream_completion`.

        >>> session = ChatSession(max_new_tokens=5)
        >>> session.complete("A toke", exact=True, message="What is a token?").text
        'n is a piece of'
        """
        deque(self.stream_completion(text, exact=exact, message=message, constraint=constraint), 0)  # as in `ask`
        assert self.last is not None
        return self.last

    def stream_completion(
        self,
        text: str | bytes,
        *,
        exact: bool = False,
        message: str | Sequence[Message] | None = None,
        constraint: "Constraint | None" = None,
    ) -> Generator[StreamedToken, None, None]:
        """Yield how the model continues a text, token by token; when it ends, `last` is all of it.

        There is no template, and the conversation is neither read nor changed. The tokenizer adds its bos token, if
        it does that; control tokens that the text spells stay text. Interrupts and `close` end this as they end
        `stream`.

        Args:
            exact: whether the text may end anywhere: inside a word, after a space, and if it's bytes, inside a
                character. The usual way encodes it as if it ended there, so the model goes on from tokens that it may
                never have seen. The exact way chooses the text's last tokens, too, among its covers and by their
                probabilities (`BPETokenizer.covers`), and only what goes beyond the text is shown: the first token
                may begin inside it. After a part of a character the whole character is shown. `Response.exact` says
                what was chosen, and the cost in calls of the model. The text stands after the bos token, or else eos.
            message: a question, or several messages, whose answer the text begins; the conversation is then read.
            constraint: one on what follows, by itself; not together with `exact`.

        Raises ConversationError for a text that doesn't fit into the context, or an empty one without a bos token;
        BackendError; as `stream` does for a message; TypeError for bytes that aren't completed exactly. With `exact`,
        ValueError for bytes that no text begins with, or a constraint, and ModelError or PatternError if the tokenizer
        isn't served.
        """
        if exact and constraint is not None:
            raise ValueError("a constraint is on what follows the text's tokens, which exact=True leaves open")
        turn = ActiveResponse(self.tokenizer, self._matcher(constraint))
        with self._turns.take(turn):
            yield from self._shown(turn, self._continued(turn, text, exact, message))

    def _matcher(self, constraint: "Constraint | None") -> "Matcher | None":
        """Return a matcher for one answer."""
        if constraint is None:
            return None
        if constraint.tokenizer != self.tokenizer:
            raise ConversationError("the constraint is for another tokenizer: make it with the session's")
        return constraint.matcher()

    # -- probabilities of texts --------------------------------------------------------------------------------------

    def byte_model(self, message: str | Sequence[Message] | None = None, **options: Any) -> ByteModel:
        """Return the session's model as one of bytes, which takes texts that end anywhere; see `bpelab.prefix`.

        Args:
            message: the question, or several messages, whose answer a text begins; it isn't added to the conversation.
                By default the text stands alone, after the tokenizer's bos token, or else its eos token.
            options: max_evaluations and cache_size, as for ByteModel.

        The same object as the last time, with what it has cached, if it would be equal. The sampling settings don't
        apply. Raises as `stream` does, ConversationError if there is no token to start with, and ModelError or
        PatternError if the tokenizer can't be served (`BPETokenizer.covers`).

        >>> after = ChatSession().byte_model("What is a token?").next_bytes("A toke")
        >>> chr(max(after.probabilities, key=after.probabilities.get)), after.missing
        ('n', 0.0)
        """
        self._turns.raise_if_taken()
        backend, before = self.backend, self._before(message)
        wanted = (backend, before, options)
        if self._byte_model is None or self._byte_model[0] != wanted:
            model = ByteModel(backend.next_logits, self.tokenizer, before=before, stop=self.stop, **options)
            self._byte_model = (wanted, model)
        return self._byte_model[1]

    def next_bytes(
        self, prompt: str | bytes, message: str | Sequence[Message] | None = None, **options: Any
    ) -> NextBytes:
        """Return the probability of each byte after a prompt that may end anywhere; see `ByteModel.next_bytes`.

        `message` and `options` are those of `byte_model`, and so are the errors; ConversationError while an answer is
        in progress. What the model was asked before is cached.

        >>> after = ChatSession().next_bytes("A toke", "What is a token?")
        >>> chr(max(after.probabilities, key=after.probabilities.get)), after.evaluations
        ('n', 4)
        """
        model = self.byte_model(message, **options)
        with self._turns.take(ActiveResponse(self.tokenizer)):
            return model.next_bytes(prompt)

    def probability(
        self,
        text: str | bytes,
        message: str | Sequence[Message] | None = None,
        *,
        spellings: bool = False,
        **options: Any,
    ) -> TextProbability:
        """Return how probable it is that the model's text begins with this one; see `ByteModel.probability`.

        `message` and `options` are those of `byte_model`, and so are the errors; ConversationError while an answer is
        in progress. Cost: a call of the model for each token.

        >>> found = ChatSession().probability("A toke", "What is a token?")
        >>> round(found.log_covers, 2), found.log_canonical < -10
        (-0.0, True)
        """
        model = self.byte_model(message, **options)
        with self._turns.take(ActiveResponse(self.tokenizer)):
            return model.probability(text, spellings=spellings)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _shown(self, turn: ActiveResponse, tokens: Iterator[Generated]) -> Iterator[StreamedToken]:
        gone = False
        try:
            for made in tokens:
                yield from turn.add(made)
        except KeyboardInterrupt:
            turn.reason = "cancelled"
        except GeneratorExit:
            gone = True
        self.last = answer = turn.response()
        if turn.asked is not None and (answer.ids or answer.reason != "cancelled"):
            history, prompt = turn.asked
            self._history = history.answered(answer.text, answer.ids, prompt)
        if not gone:
            yield from turn.flush(answer.text)

    def _prompt(self, new: list[dict[str, Any]]) -> "FittedConversation":
        """Return the prompt of the conversation with new messages after it, as far as it fits into the context."""
        entries = [*self._history.in_context, *map(Entry, new)]
        return self._prompts.fit(entries, self.backend.context, self.max_new_tokens)

    def _asked(self, turn: ActiveResponse, message: str | Sequence[Message]) -> Iterator[Generated]:
        """Yield what the model generates for a message, and note in `turn` what was asked."""
        answerer, new = self._answerer(), _messages(message)
        prompt = self._prompt(new)
        asked = self._history.asked(new, prompt)
        turn.asked = asked, prompt
        turn.prompt_tokens, turn.dropped = len(prompt.ids), tuple(asked.dropped)
        turn.divergence = self._prompts.divergence(self._history, prompt)
        if self.parity is None:
            written = self._prompts.template_ids(prompt.messages) if self._history.has_answers else prompt.ids
            self.parity = check_parity(self.tokenizer, answerer.backend, prompt.text, written)
        yield from answerer.answer(turn, prompt.ids)

    def _continued(
        self, turn: ActiveResponse, text: str | bytes, exact: bool, message: str | Sequence[Message] | None
    ) -> Iterator[Generated]:
        """Yield what the model generates after a text."""
        check_flags(exact=exact)
        if not (exact or isinstance(text, str)):
            raise TypeError(f"text is a str, or with exact=True bytes, not {type(text).__name__}")
        data, answerer = as_bytes(text), self._answerer()
        plain = data.decode(errors="ignore")
        if self.parity is None:
            own = self.tokenizer.encode(plain, add_special_tokens=False)
            self.parity = check_parity(self.tokenizer, answerer.backend, plain, own)
        if exact:
            from .exact_completion import complete_exactly

            yield from complete_exactly(answerer, turn, self._before(message), data)
        else:
            before = None if message is None else self._before(message)
            yield from complete_as_encoded(answerer, turn, before, plain)

    def _before(self, message: str | Sequence[Message] | None) -> list[int]:
        """Return the ids before a text: those of a prompt, or one token to start with."""
        return start_ids(self.tokenizer) if message is None else self._prompt(_messages(message)).ids

    def _answerer(self) -> Answerer:
        return Answerer(self.backend, self.tokenizer, self.sampling, self.stop, self.max_new_tokens, self.top_tokens)


def _messages(message: str | Sequence[Message]) -> list[dict[str, Any]]:
    return transcript.copy_messages([{"role": "user", "content": message}] if isinstance(message, str) else message)
