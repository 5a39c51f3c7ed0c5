"""Conversations: in the format that a model was trained on, and with a model that runs here.

`apply_chat_template`, `count_conversation` and `fit_to_context` take a tokenizer and a list of messages. Templates are
Jinja, by name, from the tokenizer's files, or your own; they run in a sandbox with limits. Every character of their
output knows where it comes from, and only the template's own can be a control token's. `ChatSession` talks with a
model, on any of several backends.

The names are loaded when they are first used. Chapters: Special tokens, chat templates, injection; Chat on your
hardware.
"""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .answering import Answer as Answer, Piece as Piece
    from .conversation import (
        Fitted as Fitted,
        apply_chat_template as apply_chat_template,
        count_conversation as count_conversation,
        fit_to_context as fit_to_context,
    )
    from .named import NAMED as NAMED, NamedTemplate as NamedTemplate
    from .sampling import GREEDY as GREEDY, Sampling as Sampling
    from .session import ChatSession as ChatSession

_HOMES = {
    "NAMED": "named",
    "NamedTemplate": "named",
    "Fitted": "conversation",
    "apply_chat_template": "conversation",
    "count_conversation": "conversation",
    "fit_to_context": "conversation",
    "ChatSession": "session",
    "Answer": "answering",
    "Piece": "answering",
    "Sampling": "sampling",
    "GREEDY": "sampling",
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazily(_HOMES, globals())
