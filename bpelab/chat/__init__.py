"""Chat templates: conversations in the format that a model was trained on, safe against injection by construction.

`apply_chat_template`, `count_conversation` and `fit_to_context` take a tokenizer and a list of messages. Templates are
Jinja, by name, from the tokenizer's files, or your own; they run in a sandbox with limits. Every character of their
output knows where it comes from, and only the template's own can be a control token's.

Chapter: Special tokens, chat templates, injection.
"""

from .conversation import Fitted, apply_chat_template, count_conversation, fit_to_context
from .named import NAMED, NamedTemplate

__all__ = ["NAMED", "Fitted", "NamedTemplate", "apply_chat_template", "count_conversation", "fit_to_context"]
