"""Conversations in the format that a model was trained on, and chats with a model on this machine.

`apply_chat_template`, `count_conversation` and `fit_to_context` take a tokenizer and a list of messages. Templates are
Jinja, by name, from the tokenizer's files, or your own; they run in a sandbox with limits. Every character of their
output knows where it comes from, and only the template's own can be a control token's. `Conversation` keeps the ids
that a model produced, and `check_prefixes` says whether a template only appends. `ChatSession` talks with a model, on
any of several backends.

Names are loaded when they're first used. This package may import everything below the tokenizer, and a backend's
packages when that backend is opened. Begin with `session.py`. Chapters: Chat templates; A model answers; Chat on
your hardware.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from ..chat_templates.apply import (
        apply_chat_template as apply_chat_template,
        count_conversation as count_conversation,
    )
    from ..chat_templates.builtin import NAMED as NAMED, NamedTemplate as NamedTemplate
    from ..chat_templates.conversation import Conversation as Conversation
    from ..chat_templates.fit_to_context import (
        FittedConversation as FittedConversation,
        fit_to_context as fit_to_context,
    )
    from ..chat_templates.prefix_check import check_prefixes as check_prefixes
    from .response import (
        ExactPrompt as ExactPrompt,
        Response as Response,
        StreamedToken as StreamedToken,
        TopToken as TopToken,
    )
    from .sampling import GREEDY as GREEDY, Sampling as Sampling
    from .session import ChatSession as ChatSession
    from .text_bits import bits_per_byte as bits_per_byte

_HOMES = {
    "NAMED": ".chat_templates.builtin",
    "NamedTemplate": ".chat_templates.builtin",
    "FittedConversation": ".chat_templates.fit_to_context",
    "Conversation": ".chat_templates.conversation",
    "check_prefixes": ".chat_templates.prefix_check",
    "apply_chat_template": ".chat_templates.apply",
    "count_conversation": ".chat_templates.apply",
    "fit_to_context": ".chat_templates.fit_to_context",
    "ChatSession": "session",
    "bits_per_byte": "text_bits",
    "ExactPrompt": "response",
    "Response": "response",
    "StreamedToken": "response",
    "TopToken": "response",
    "Sampling": "sampling",
    "GREEDY": "sampling",
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
