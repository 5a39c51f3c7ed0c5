"""Fit a conversation into a model's context: drop just enough of its oldest turns.

Chapter: Chat templates. Cost: that of encoding the conversation, for each doubling of the number of turns.
"""

from collections.abc import Sequence
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConversationError
from .apply import raise_if_tokens_are_missing, render_conversation
from .kept_answers import GeneratedAnswer, encode_with_answers, opening_of
from .messages import Message, check, turns_of, turns_to_drop, with_system_prompt

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer


class FittedConversation(NamedTuple):
    """A conversation that fits the context.

    Attributes:
        messages: the remaining messages, in order.
        dropped: the dropped messages, oldest first.
        tokens: the number of `ids`, including the template's own and the generation prompt, if there is one.
        text: the rendered text of the remaining messages.
        ids: the token ids of `text`, as `apply_chat_template` returns them, but for the ids of `answers`.
        opening: what the template writes after the last message's text.
    """

    messages: list[Message]
    dropped: list[Message]
    tokens: int
    text: str
    ids: list[int]
    opening: str


def fit_to_context(
    tokenizer: "Tokenizer",
    messages: Sequence[Message],
    max_tokens: int,
    *,
    reserve: int = 0,
    template: str | None = None,
    add_generation_prompt: bool = True,
    system_prompt: str | None = None,
    answers: Sequence[GeneratedAnswer | None] | None = None,
    **options: Any,
) -> FittedConversation:
    """Return the conversation after dropping just enough of its oldest turns to make it fit.

    Args:
        max_tokens: the size of the model's context.
        reserve: tokens to leave free for the answer.
        add_generation_prompt: whether the generation prompt counts.
        answers: for each message, what a model generated for it, or None. Such an answer keeps its ids if the template
            writes it unchanged (`encode_with_answers`).
        options: as for `apply_chat_template`, but for those about what it returns.

    A turn is a user's message and what follows it, tool calls and results included, up to the next user's message.
    System messages and the last turn always stay. Raises ConversationError if those alone don't fit. Cost: encoding
    the conversation once if it fits, else once more for each doubling of the number of turns.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("user", 258, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> turns = [{"role": "user", "content": word} for word in ("first", "second", "third")]
    >>> fitted = fit_to_context(t, turns, 60, reserve=10, template="chatml")
    >>> [m["content"] for m in fitted.messages], [m["content"] for m in fitted.dropped], fitted.tokens
    (['second', 'third'], ['first'], 38)
    """
    for option in ("tokenize", "return_assistant_mask", "end_of_turn"):
        if option in options:
            raise TypeError(f"fit_to_context has no argument {option!r}")
    check(messages)
    generated = [None] * len(messages) if answers is None else [*answers]
    if len(generated) != len(messages):
        raise ConversationError(f"there are {len(messages):,} messages and {len(generated):,} answers: one for each")
    limit = max_tokens - reserve
    messages = with_system_prompt(messages, system_prompt)
    generated = [*[None] * (len(messages) - len(generated)), *generated]
    turns = turns_of(messages)

    @cache
    def without(dropped: int) -> FittedConversation:
        """Return the conversation without its first `dropped` turns."""
        stays = [turn is None or turn >= dropped for turn in turns]
        remaining = list(compress(messages, stays))
        text = render_conversation(
            tokenizer, remaining, template, add_generation_prompt=add_generation_prompt, **options
        )
        raise_if_tokens_are_missing(tokenizer, template)
        ids = encode_with_answers(tokenizer, text, remaining, list(compress(generated, stays)))
        gone = [message for message, stay in zip(messages, stays) if not stay]
        return FittedConversation(remaining, gone, len(ids), str.__str__(text), ids, opening_of(text))

    room = f"max_tokens={max_tokens:,} less reserve={reserve:,} leaves {limit:,}"
    return without(turns_to_drop(turns, lambda dropped: without(dropped).tokens, limit, room))
