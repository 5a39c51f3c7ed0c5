"""Prompts: from a session's history to the ids that ask for the next answer.

The whole conversation goes through the template in every turn. An answer stays the ids that the model generated, where
the template writes its text unchanged, so a prompt begins with the ids of the turn before, and a backend only computes
what is new. Where it doesn't, the divergence says from which id on, and why.

Chapter: A model answers. Cost: that of rendering and encoding the conversation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..chat_templates.apply import apply_chat_template
from ..chat_templates.divergence import Divergence, divergence
from ..chat_templates.fit_to_context import FittedConversation, fit_to_context
from ..chat_templates.messages import Message
from ..errors import ConversationError, TemplateError
from .history import Entry, History

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

ANYTHING: Message = {"role": "user", "content": "a"}
"""A message that is rendered to find a template's errors at once, rather than at the first question."""


@dataclass(frozen=True)
class PromptBuilder:
    """Makes prompts.

    Attributes:
        template: the name of a template, or Jinja; None for the tokenizer's own.
        variables: what the template reads, by name.
        keep_ids: whether answers keep their ids, where they can.
        refusal: why there can be no prompts, if there is no template.
    """

    tokenizer: "BPETokenizer"
    template: str | None
    variables: Mapping[str, Any]
    keep_ids: bool
    refusal: str | None = None

    def template_ids(self, messages: Sequence[Message]) -> list[int]:
        """Return the template's ids for messages that ask for an answer. Raises TemplateError."""
        ids: list[int] = apply_chat_template(
            self.tokenizer,
            messages,
            self.template,
            add_generation_prompt=True,
            template_variables=self.variables,
        )
        return ids

    def check(self, messages: Sequence[Message]) -> None:
        """Render and encode messages with a question after them, to find errors early. Raises TemplateError."""
        self._require_template()
        self.template_ids([*messages, ANYTHING])

    def _require_template(self) -> None:
        if self.refusal is not None:
            raise TemplateError(self.refusal)

    def fit(self, entries: Sequence[Entry], context: int, max_new_tokens: int) -> FittedConversation:
        """Return the prompt without the oldest turns, so that at least a short answer fits after it.

        Raises ConversationError if the last turn alone is too long; TemplateError.
        """
        self._require_template()
        reserve = min(max_new_tokens, context // 2)
        while True:
            try:
                return fit_to_context(
                    self.tokenizer,
                    [entry.message for entry in entries],
                    context,
                    reserve=reserve,
                    template=self.template,
                    answers=[entry.answer for entry in entries] if self.keep_ids else None,
                    template_variables=self.variables,
                )
            except ConversationError as error:
                if reserve <= 1:
                    advice = "shorten it, or open the model with a larger context"
                    raise ConversationError(f"{error}: {advice}") from error
                reserve //= 2

    def divergence(self, history: History, prompt: FittedConversation) -> Divergence | None:
        """Return where a prompt stops following the ids that the model saw last, and why; None if it goes on."""
        changed = divergence(self.tokenizer, history.ids, prompt.ids)
        if changed is None:
            return None
        if prompt.dropped:
            return changed._replace(reason=f"the context is full: {len(prompt.dropped):,} messages were dropped")
        return changed._replace(reason="the last turn was undone") if history.undone else changed
