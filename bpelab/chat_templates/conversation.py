"""Conversation: the append-only ids of a conversation with a model.

A model's answer is the ids that it generated. Encoding their text again may give different ids, since a model can
spell a text differently from the tokenizer. Then a KV cache is lost, or a model is trained on ids that it never
generated. Here an answer's ids never change, and the template only adds what lies between answers.

Chapter: The ids that were never yours. Cost: each step renders and encodes the conversation once.
"""

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

from .._support.first_difference import first_difference
from ..errors import ConversationError
from .appended_ids import appended, end_of_answer, end_of_message
from .conversation_record import ConversationRecord, Step
from .divergence import Divergence, divergence
from .encode import encode, without_surrogates
from .messages import Message, check, turns_of, turns_to_drop
from .render import find_template, render
from .tainted_string import TaintedStr
from .template_variables import own_keywords, variables_for

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

MODEL = "model"


class Conversation:
    """The ids of a conversation, who wrote each, and which of them the model produced.

    Args:
        template: as for `apply_chat_template`.
        tools: JSON schemas of functions; documents: dicts. Both go to the template.
        template_variables: other variables that the template reads, by name; or pass them as keywords.

    Raises what `apply_chat_template` raises, and ConversationError for a step that isn't possible.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("user hello hello", 260, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> talk = Conversation(t, "chatml")
    >>> talk.add({"role": "user", "content": "hi"})
    >>> prompt = talk.prompt()
    >>> answer = [*t.encode("hel"), *t.encode("lo"), t.token_to_id("<|im_end|>")]
    >>> talk.add_generated(answer)
    >>> talk.add({"role": "user", "content": "and?"})
    >>> talk.ids[: len(prompt) + len(answer)] == prompt + answer, sum(talk.mask) == len(answer)
    (True, True)
    """

    def __init__(
        self,
        tokenizer: "Tokenizer",
        template: str | None = None,
        *,
        tools: Sequence[Any] | None = None,
        documents: Sequence[Any] | None = None,
        template_variables: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> None:
        self.tokenizer = tokenizer
        self._source = find_template(tokenizer, template, tools is not None)
        own = own_keywords(Conversation)
        self._options: dict[str, Any] = {
            "tools": tools,
            "documents": documents,
            "variables": variables_for("Conversation", own, self._source, template_variables, variables),
        }
        self.record = ConversationRecord()
        """The conversation's whole state."""

    # -- contents ----------------------------------------------------------------------------------------------------

    @property
    def messages(self) -> list[Message]:
        """The messages, as copies. A model's answer is its decoded text, or the message given to `add_generated`."""
        return deepcopy(self.record.messages)

    @property
    def ids(self) -> list[int]:
        """The ids, as a copy."""
        return list(self.record.ids)

    @property
    def authors(self) -> list[str]:
        """The author of each id: "model" if it was generated, "template", or the role of the message it's from."""
        return list(self.record.authors)

    @property
    def mask(self) -> list[int]:
        """The loss mask for training: 1 for each id that the model generated, else 0."""
        return [int(author == MODEL) for author in self.record.authors]

    @property
    def logprobs(self) -> list[float | None]:
        """The log-probability of each id, None if it's unknown."""
        return list(self.record.logprobs)

    def __len__(self) -> int:
        return len(self.record.ids)

    def diverges(self, *messages: Message) -> Divergence | None:
        """Return the first difference from the template's ids once `messages` are appended; None if there is none.

        Cost: rendering and encoding the conversation once.
        """
        together = [*self.record.messages, *messages]
        text = self._render(together, self.record.prompted and not messages)
        return divergence(self.tokenizer, self.record.ids, encode(self.tokenizer, text, with_offsets=False).ids)

    # -- steps -------------------------------------------------------------------------------------------------------

    def add(self, *messages: Message) -> None:
        """Append messages that the model didn't generate: a user's message, a tool's result, an example answer.

        Raises ConversationError after `prompt`, and if the template now ends the previous message differently.
        """
        self._raise_if_prompted()
        together = [*self.record.messages, *deepcopy(messages)]
        text = self._render(together)
        end = end_of_message(self._render, together, len(together) - 1, text)
        self._append(text, together)
        self.record.end_step(together[len(self.record.messages) :], str.__str__(text[end:]), generated=False)

    def prompt(self) -> list[int]:
        """Append the generation prompt, unless it's already there, and return all ids: the model's input."""
        if not self.record.prompted:
            self._append(self._render(self.record.messages, True), self.record.messages)
            self.record.prompted = True
        return self.ids

    def add_generated(
        self, ids: Sequence[int], *, logprobs: Sequence[float | None] | None = None, message: Message | None = None
    ) -> None:
        """Append the ids that the model generated after `prompt`, unchanged.

        Args:
            ids: the answer, including the token that ended it, if the model generated one.
            logprobs: the log-probability of each id.
            message: the message for the template to read, if it's more than the text: tool calls, for example.

        Raises ConversationError without a prompt, and ValueError for an id that the tokenizer doesn't have.
        """
        if not self.record.prompted:
            raise ConversationError("there is no prompt to answer: call prompt() first")
        if logprobs is not None and len(logprobs) != len(ids):
            raise ConversationError(f"there are {len(ids):,} ids and {len(logprobs):,} log-probabilities")
        special = {number: name for name, number in self.tokenizer.special_tokens.items()}
        ending = special.get(ids[-1], "") if ids else ""
        text = self.tokenizer.decode(list(ids[:-1]) if ending else list(ids))
        answer = {"role": "assistant", "content": text} if message is None else deepcopy(message)
        check([*self.record.messages, answer])
        self.record.extend(ids, [MODEL] * len(ids), [None] * len(ids) if logprobs is None else logprobs)
        self.record.end_step([answer], ending, generated=True)
        self.record.prompted = False

    def fork(self) -> "Conversation":
        """Return an independent copy."""
        return self._with(deepcopy(self.record))

    def rollback(self, messages: int) -> None:
        """Go back to the step that ended with this number of messages, and remove an unanswered prompt.

        Raises ConversationError, naming the possible numbers, if no step ended with that one.
        """
        numbers = [step.messages for step in self.record.steps]
        if messages not in numbers:
            raise ConversationError(f"no step ended with {messages} messages; steps ended with {numbers}")
        self.record.rollback(numbers.index(messages))

    def truncate(self, max_tokens: int) -> int | None:
        """Drop just enough of the oldest turns to make the ids fit, and return the index of the first changed id.

        A turn is a user's message and what follows it, up to the next one. System messages and the last turn stay.
        Answers keep their ids. Returns None if everything fits. Raises ConversationError if the last turn doesn't fit,
        and after `prompt`. Cost: that of all steps, for each doubling of the number of turns.
        """
        self._raise_if_prompted()
        if len(self) <= max_tokens:
            return None
        turns = turns_of(self.record.messages)
        without = cache(lambda dropped: self._without(dropped, turns) if dropped else self)
        room = f"max_tokens is {max_tokens:,}"
        dropped = turns_to_drop(turns, lambda number: len(without(number)), max_tokens, room)
        before, self.record = self.record, without(dropped).record
        return first_difference(before.ids, self.record.ids)

    def to_json(self) -> str:
        """Return the conversation as JSON, without the tokenizer, the template and its variables."""
        return self.record.to_json()

    def load_json(self, text: str) -> None:
        """Replace the conversation with what `to_json` returned. Raises ConversationError for anything else."""
        record = ConversationRecord.from_json(text)
        try:
            self.tokenizer.decode(record.ids)
        except ValueError as error:
            raise ConversationError(f"the conversation belongs to another tokenizer: {error}") from error
        self.record = record

    # -- internals ---------------------------------------------------------------------------------------------------

    def _render(self, messages: Sequence[Message], prompt: bool = False) -> TaintedStr:
        text = render(
            self.tokenizer,
            messages,
            self._source,
            add_generation_prompt=prompt,
            continue_final_message=False,
            **self._options,
        )
        return without_surrogates(text)

    def _append(self, text: TaintedStr, messages: Sequence[Message]) -> None:
        """Append the ids of the part of `text` after the last message that is already encoded."""
        last = self.record.steps[-1]
        if last.generated:
            start = self._end_of_answer(text, messages, last)
        else:
            end = end_of_message(self._render, messages, last.messages - 1, text)
            start = end + len(last.after)
            if not text.startswith(last.after, end):
                where, now = f"messages[{last.messages - 1}]", str.__str__(text[end:start])
                raise ConversationError(f"the template wrote {last.after!r} after {where}, and writes {now!r} now")
        roles = [message["role"] for message in messages]
        new = appended(self.tokenizer, text, start, self.record.ids[-1] if self.record.ids else None, roles)
        self.record.extend(new.ids, new.authors, [None] * len(new.ids))

    def _end_of_answer(self, text: TaintedStr, messages: Sequence[Message], step: Step) -> int:
        """Return where the template continues after a step's answer. One without text ends where its prompt does."""
        number = step.messages - 1
        answer = messages[number]
        only_text = answer.keys() <= {"role", "content"}
        prompt = self._render(messages[:number], True) if only_text and not answer["content"] else ""
        if prompt and text.startswith(prompt):
            end = len(prompt)
        else:
            end = end_of_message(self._render, messages, number, text)
        return end_of_answer(self.tokenizer, text, end, step.after, only_text)

    def _raise_if_prompted(self) -> None:
        if self.record.prompted:
            raise ConversationError("prompt() began an answer: add_generated() comes next, or rollback()")

    def _with(self, record: ConversationRecord) -> "Conversation":
        other = copy(self)
        other.record = record
        return other

    def _without(self, dropped: int, turns: Sequence[int | None]) -> "Conversation":
        """Return the conversation without its first `dropped` turns: the same steps, for the remaining messages."""
        other, old = self._with(ConversationRecord()), self.record
        for before, step in zip(old.steps, old.steps[1:]):
            numbers = range(before.messages, step.messages)
            stay = [old.messages[n] for n in numbers if (turn := turns[n]) is None or turn >= dropped]
            if stay and step.generated:
                own = [index for index in range(before.ids, step.ids) if old.authors[index] == MODEL]
                other.prompt()
                logprobs = [old.logprobs[index] for index in own]
                other.add_generated([old.ids[index] for index in own], logprobs=logprobs, message=stay[0])
            elif stay:
                other.add(*stay)
        return other
