"""Base models: they continue a text, and were never trained to answer messages.

A model that was has a chat template in its files: the format of the conversations that it was trained on. So a model
without one counts as a base model. It can be asked in another model's format, but that format's control tokens mean
nothing to it, and it seldom ends an answer.

Chapter: Chat on your hardware.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer


class BaseModelWarning(UserWarning):
    """The warning that a base model is asked in another model's format."""


def has_template(tokenizer: "BPETokenizer") -> bool:
    """Return whether a tokenizer comes with a chat template of its own."""
    return bool(tokenizer.spec.metadata.get("chat_template"))


def why_not_asked(name: str) -> str:
    """Return why the base model `name` can't be asked, and what to do instead."""
    return (
        f"there is none: {name} is a base model, which continues a text and answers no messages. `complete` lets it "
        "continue one. A template, such as alpaca, asks it in another model's format"
    )


def another_format(name: str) -> BaseModelWarning:
    """Return the warning that the base model `name` is asked in another model's format."""
    return BaseModelWarning(
        f"{name} is a base model, without a chat template. It wasn't trained on messages in this format: answers may "
        "make no sense, or not end. `complete` lets it continue a text instead"
    )
