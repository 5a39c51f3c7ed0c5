"""History: what was said in a session, what the model generated for each answer, and what still goes to the model.

A history never changes: each step returns the next one. So an interrupt at any moment leaves a session with the old
history or the new one.

Chapter: A model answers. Cost: linear in the number of messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..chat_templates.fit_to_context import FittedConversation
from ..chat_templates.kept_answers import GeneratedAnswer
from .transcript import deep_copy_json


class Entry(NamedTuple):
    """One message.

    Attributes:
        message: a dict with "role" and "content".
        answer: what the model generated, if it did.
        in_context: whether the message still goes to the model. Once dropped, it stays dropped.
    """

    message: dict[str, Any]
    answer: GeneratedAnswer | None = None
    in_context: bool = True


@dataclass(frozen=True)
class History:
    """The conversation of a session.

    Attributes:
        entries: all messages, in order.
        ids: the ids that the model saw last: a prompt and its answer.
        undone: whether a turn was undone since then.
    """

    entries: tuple[Entry, ...] = ()
    ids: tuple[int, ...] = ()
    undone: bool = False

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages, as copies."""
        return [deep_copy_json(entry.message) for entry in self.entries]

    @property
    def in_context(self) -> list[Entry]:
        """The messages that still go to the model."""
        return [entry for entry in self.entries if entry.in_context]

    @property
    def has_answers(self) -> bool:
        """Whether the model generated any of the messages."""
        return any(entry.answer is not None for entry in self.entries)

    @property
    def dropped(self) -> list[dict[str, Any]]:
        """The messages that no longer go to the model, as copies, oldest first."""
        return [deep_copy_json(entry.message) for entry in self.entries if not entry.in_context]

    def asked(self, messages: Sequence[dict[str, Any]], prompt: FittedConversation) -> "History":
        """Return the history with new messages at its end, and without those in the context that `prompt` dropped."""
        gone = set(map(id, prompt.dropped))
        entries = (*self.entries, *map(Entry, messages))
        kept = tuple(entry._replace(in_context=entry.in_context and id(entry.message) not in gone) for entry in entries)
        return replace(self, entries=kept)

    def answered(self, text: str, ids: tuple[int, ...], prompt: FittedConversation) -> "History":
        """Return the history with the answer to `prompt` at its end: its text, and the ids that the model generated."""
        entry = Entry({"role": "assistant", "content": text}, GeneratedAnswer(ids, prompt.opening))
        return History((*self.entries, entry), (*prompt.ids, *ids))

    def without_last_turn(self) -> tuple[str | None, "History"]:
        """Return the last question, and the history before it; None and this history if there is no question."""
        questions = [index for index, entry in enumerate(self.entries) if entry.message["role"] == "user"]
        if not questions:
            return None, self
        question = str(self.entries[questions[-1]].message["content"])
        return question, replace(self, entries=self.entries[: questions[-1]], undone=True)
