"""ConversationRecord: a conversation's state, without its tokenizer and template, and its JSON format.

Chapter: The ids that were never yours. Cost: linear in the conversation.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from ..errors import ConversationError
from .messages import Message, check


class Step(NamedTuple):
    """The state of a conversation after a step.

    Attributes:
        messages: the number of messages.
        ids: the number of ids.
        after: the template's text after the last message, as far as the ids contain it; after an answer, the text of
            the token that ended it.
        generated: whether the step was an answer.
    """

    messages: int = 0
    ids: int = 0
    after: str = ""
    generated: bool = False


@dataclass
class ConversationRecord:
    """The messages, the ids, who wrote each, its log-probability if known, the steps, and whether an answer is due."""

    messages: list[Message] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    logprobs: list[float | None] = field(default_factory=list)
    steps: list[Step] = field(default_factory=lambda: [Step()])
    prompted: bool = False

    def extend(self, ids: Sequence[int], authors: Sequence[str], logprobs: Sequence[float | None]) -> None:
        """Append ids, with an author and a log-probability for each."""
        self.ids += ids
        self.authors += authors
        self.logprobs += logprobs

    def end_step(self, messages: Sequence[Message], after: str, generated: bool) -> None:
        """Append the messages of a step whose ids have already been appended."""
        self.messages += messages
        self.steps.append(Step(len(self.messages), len(self.ids), after, generated))

    def rollback(self, step: int) -> None:
        """Remove everything after the step with index `step`."""
        del self.steps[step + 1 :]
        del self.messages[self.steps[-1].messages :]
        for values in (self.ids, self.authors, self.logprobs):
            del values[self.steps[-1].ids :]
        self.prompted = False

    def to_json(self) -> str:
        """Return the record as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "ConversationRecord":
        """Read what `to_json` wrote. Raises ConversationError, saying what is wrong, for anything else.

        >>> ConversationRecord.from_json(ConversationRecord().to_json()) == ConversationRecord()
        True
        """
        try:
            saved: dict[str, Any] = json.loads(text)
            record = cls(**{**saved, "steps": [Step(*step) for step in saved["steps"]]})
            record._check()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ConversationError(f"this isn't a conversation's JSON: {str(error)[:300]}") from error
        return record

    def _check(self) -> None:
        """Raise ValueError or TypeError for a record that no conversation can have."""
        if self.messages:
            check(self.messages)
        kinds: dict[str, type | tuple[type, ...]] = {"ids": int, "authors": str, "logprobs": (float, int, type(None))}
        for name, kind in kinds.items():
            values = getattr(self, name)
            if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
                raise TypeError(f"{name} isn't a list of the expected type")
            if len(values) != len(self.ids):
                raise ValueError(f"there are {len(self.ids):,} ids and {len(values):,} {name}")
        shapes = [tuple(map(type, step)) for step in self.steps]
        if not shapes or any(shape != (int, int, str, bool) for shape in shapes):
            raise TypeError("a step is two numbers, a text, and whether it was an answer")
        numbers = [(step.messages, step.ids) for step in self.steps]
        grows = all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(numbers))
        if numbers[0] != (0, 0) or numbers[-1][0] != len(self.messages) or not grows or numbers[-1][1] > len(self.ids):
            raise ValueError("the steps don't lead from nothing to these messages and ids")
        if not self.prompted and numbers[-1][1] != len(self.ids):
            raise ValueError("ids follow the last step, and no answer is due")
