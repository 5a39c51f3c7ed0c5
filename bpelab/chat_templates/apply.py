"""Conversations as tokens: encoded, masked, counted, and shortened to what fits.

No character of a message becomes a control token, whatever the template does with it. The formats that have control
tokens can be made safe so; Alpaca's headers are ordinary text, which a message can write as well: nothing can make that
safe.

Chapter: Special tokens, chat templates, injection. Cost: as encoding the text.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConversationError, TemplateError
from .encoding import Encoded, encode
from .mask import assistant_mask
from .messages import Message, check, with_system_prompt
from .named import NAMED
from .provenance import Marked
from .template import find_template, render
from .variables import own_keywords, variables_for

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

_generation = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")


def apply_chat_template(
    tokenizer: "BPETokenizer",
    messages: Sequence[Message],
    template: str | None = None,
    *,
    add_generation_prompt: bool = False,
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    continue_final_message: bool = False,
    tokenize: bool = True,
    return_assistant_mask: bool = False,
    end_of_turn: bool = True,
    system_prompt: str | None = None,
    template_variables: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Any:
    """A conversation in a model's format: its ids, or its text.

    Args:
        messages: dicts with "role" and "content", and whatever else the template reads. They are not changed.
        template: "llama3", "chatml", "alpaca", "mistral", "gemma", "phi", the name of one of the tokenizer's own
            templates, or Jinja; by default the tokenizer's.
        add_generation_prompt: whether the beginning of the assistant's answer is added.
        tools: JSON schemas of functions; documents: dicts. Both go to the template.
        continue_final_message: leave the last message open, for the model to go on with.
        tokenize: ids (a list of int) if true, else the text.
        return_assistant_mask: (ids, mask) instead, where mask has a 1 for each token that the assistant said.
        end_of_turn: whether the control token right behind what the assistant said is in the mask.
        system_prompt: the text of a system message, for conversations without one.
        template_variables: what else the template reads, by name; their strings can't become control tokens.
        variables: the same as keywords (`enable_thinking=False`, say), which must be names that the template reads.

    A template's text is equal to that of transformers, and so are the ids of conversations in which no message has the
    text of a control token in it. Such a text is encoded as what it is, text. The post-processor is not applied: the
    template writes bos, if there is to be one. Alpaca's headers are ordinary text, and a message may forge them.

    Raises ConversationError for messages that are none, naming message and key; TemplateError for a template that
    fails, that takes too long or writes too much, or that refuses the conversation; TypeError for a keyword that is no
    argument and that the template doesn't read; MissingDependencyError without jinja2.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("hello", 258, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> apply_chat_template(t, [{"role": "user", "content": "hi"}], "chatml", tokenize=False)
    '<|im_start|>user\\nhi<|im_end|>\\n'
    >>> ids = apply_chat_template(t, [{"role": "user", "content": "<|im_end|>"}], "chatml")
    >>> ids.count(t.token_to_id("<|im_end|>"))
    1
    """
    if return_assistant_mask and not tokenize:
        raise ValueError("return_assistant_mask=True needs tokenize=True: a mask is about tokens")
    options: dict[str, Any] = {"tools": tools, "documents": documents}
    if variables or template_variables is not None:
        source = find_template(tokenizer, template, tools is not None)
        own = own_keywords(apply_chat_template)
        variables = variables_for("apply_chat_template", own, source, template_variables, variables)
    text = _rendered(
        tokenizer,
        messages,
        template,
        system_prompt=system_prompt,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        variables=variables,
        **options,
    )
    if not tokenize:
        return str.__str__(text)
    encoded = _encoded(tokenizer, template, text, located=return_assistant_mask)
    if not return_assistant_mask:
        return encoded.ids
    messages = with_system_prompt(messages, system_prompt)
    blocks = _generation.search(find_template(tokenizer, template, tools is not None)) is not None
    opening = ""
    if not blocks and any(message.get("tool_calls") for message in messages):
        with_prompt, without = (
            _rendered(
                tokenizer,
                messages,
                template,
                add_generation_prompt=prompt,
                continue_final_message=False,
                variables=variables,
                **options,
            )
            for prompt in (True, False)
        )
        opening = with_prompt[len(without) :] if with_prompt.startswith(without) else ""
    return encoded.ids, assistant_mask(tokenizer, encoded, messages, blocks, opening, end_of_turn)


def _rendered(
    tokenizer: "BPETokenizer",
    messages: Sequence[Message],
    template: str | None,
    *,
    system_prompt: str | None = None,
    add_generation_prompt: bool,
    continue_final_message: bool,
    **options: Any,
) -> Marked:
    if add_generation_prompt and continue_final_message:
        raise ValueError(
            "add_generation_prompt begins a new message and continue_final_message goes on with the last: take one"
        )
    check(messages)
    return render(
        tokenizer,
        with_system_prompt(messages, system_prompt),
        find_template(tokenizer, template, options["tools"] is not None),
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        **options,
    )


def _encoded(tokenizer: "BPETokenizer", template: str | None, text: Marked, located: bool) -> Encoded:
    if template in NAMED and (missing := NAMED[template].lacking(tokenizer)):
        raise TemplateError(
            f"{template} needs special tokens that this tokenizer doesn't have: {', '.join(missing)}. "
            f"tokenizer.with_special_tokens({missing!r}) adds them"
        )
    return encode(tokenizer, text, located)


def count_conversation(
    tokenizer: "BPETokenizer", messages: Sequence[Message], template: str | None = None, **options: Any
) -> int:
    """How many tokens a conversation takes, the template's own included; options as for `apply_chat_template`.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("user user", 261, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> count_conversation(t, [{"role": "user", "content": "hi"}], "chatml")
    7
    """
    return len(
        apply_chat_template(tokenizer, messages, template, tokenize=True, return_assistant_mask=False, **options)
    )


class Fitted(NamedTuple):
    """A conversation that fits.

    Attributes:
        messages: those that stay, in order.
        dropped: those that were left out, oldest first.
        tokens: how many tokens the ones that stay take, with the template's own and the beginning of the answer.
    """

    messages: list[Message]
    dropped: list[Message]
    tokens: int


def fit_to_context(
    tokenizer: "BPETokenizer",
    messages: Sequence[Message],
    max_tokens: int,
    *,
    reserve: int = 0,
    template: str | None = None,
    add_generation_prompt: bool = True,
    system_prompt: str | None = None,
    **options: Any,
) -> Fitted:
    """The conversation without its oldest turns, as few of them as makes it fit.

    Args:
        max_tokens: the size of the model's context.
        reserve: tokens to leave free for the answer.
        add_generation_prompt: whether the beginning of the answer counts.
        options: as for `apply_chat_template`.

    A turn is a user's message and what follows it, tool calls and results included, up to the next user's message.
    System messages and the last turn always stay. Raises ConversationError if they don't fit alone. Cost: as counting
    the conversation once for each doubling of the number of turns.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("user", 258, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> turns = [{"role": "user", "content": word} for word in ("first", "second", "third")]
    >>> fitted = fit_to_context(t, turns, 60, reserve=10, template="chatml")
    >>> [m["content"] for m in fitted.messages], [m["content"] for m in fitted.dropped], fitted.tokens
    (['second', 'third'], ['first'], 38)
    """
    check(messages)
    room = max_tokens - reserve
    messages = with_system_prompt(messages, system_prompt)
    options |= {"add_generation_prompt": add_generation_prompt}
    turn = 0
    numbers: list[int | None] = []
    for message in messages:
        turn += message["role"] == "user" and any(number is not None for number in numbers)
        numbers.append(None if message["role"] in ("system", "developer") else turn)
    counts: dict[int, int] = {}

    def stays(number: int | None, dropped: int) -> bool:
        return number is None or number >= dropped

    def fits(dropped: int) -> bool:
        kept = [message for message, number in zip(messages, numbers) if stays(number, dropped)]
        counts[dropped] = count_conversation(tokenizer, kept, template, **options)
        return counts[dropped] <= room

    dropped = 0 if fits(0) else bisect_left(range(turn + 1), True, lo=1, key=fits)
    if dropped > turn:
        least = counts.get(turn, counts[0])
        raise ConversationError(
            f"the last turn and the system messages take {least:,} tokens; max_tokens={max_tokens:,} less "
            f"reserve={reserve:,} leaves {room:,}"
        )
    return Fitted(
        [message for message, number in zip(messages, numbers) if stays(number, dropped)],
        [message for message, number in zip(messages, numbers) if not stays(number, dropped)],
        counts[dropped],
    )
