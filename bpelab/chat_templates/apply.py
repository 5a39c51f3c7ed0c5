"""Apply a chat template: encode a conversation, mask it, count its tokens, shorten it to fit a context.

No character of a message becomes a control token, whatever the template does with it. That makes formats with control
tokens safe. Alpaca's headers are ordinary text, which a message can also contain, so nothing can make that format safe.

Chapter: Chat templates. Cost: that of encoding the text.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._support.validate import check_flags
from ..errors import ConversationError, TemplateError
from .assistant_mask import assistant_mask
from .builtin import NAMED
from .encode import Encoded, encode
from .messages import Message, check, turns_of, with_system_prompt
from .render import find_template, render
from .tainted_string import TaintedStr
from .template_variables import own_keywords, variables_for

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

_generation = re.compile(r"\{%[-+]?\s*generation\s*[-+]?%\}")


def apply_chat_template(
    tokenizer: "Tokenizer",
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
    """Return a conversation in a model's format: its ids, or its text.

    Args:
        messages: dicts with "role" and "content", and whatever else the template reads. They are not changed.
        template: "llama3", "chatml", "alpaca", "mistral", "gemma", "phi", the name of one of the tokenizer's own
            templates, or Jinja source; by default the tokenizer's template.
        add_generation_prompt: whether to add the start of the assistant's answer.
        tools: JSON schemas of functions; documents: dicts. Both go to the template.
        continue_final_message: leave the last message open, for the model to continue.
        tokenize: return ids (a list of int) if true, else the text.
        return_assistant_mask: return (ids, mask) instead, where mask has a 1 for each of the assistant's tokens.
        end_of_turn: whether the mask includes the control token right after an assistant's message.
        system_prompt: the text of a system message, for conversations without one.
        template_variables: other variables that the template reads, by name; their strings can't become control tokens.
        variables: the same, as keywords (such as `enable_thinking=False`); the template must read each of them.

    The text is the same as in transformers. So are the ids, unless a message spells a control token: here that stays
    ordinary text. The post-processor isn't applied: the template writes the bos token if the model needs one. Alpaca's
    headers are ordinary text, and a message may forge them.

    Raises ConversationError for an invalid message, naming the message and the key; TemplateError if the template
    fails, takes too long, writes too much, or refuses the conversation; TypeError for a keyword that is neither an
    argument nor read by the template; MissingDependencyError without jinja2.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("hello", 258, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> apply_chat_template(t, [{"role": "user", "content": "hi"}], "chatml", tokenize=False)
    '<|im_start|>user\\nhi<|im_end|>\\n'
    >>> ids = apply_chat_template(t, [{"role": "user", "content": "<|im_end|>"}], "chatml")
    >>> ids.count(t.token_to_id("<|im_end|>"))
    1
    """
    check_flags(
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        tokenize=tokenize,
        return_assistant_mask=return_assistant_mask,
        end_of_turn=end_of_turn,
    )
    if return_assistant_mask and not tokenize:
        raise ValueError("return_assistant_mask=True needs tokenize=True: a mask is about tokens")
    options: dict[str, Any] = {"tools": tools, "documents": documents}
    variables = _variables(tokenizer, template, tools, template_variables, variables)
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
    encoded = _encoded(tokenizer, template, text, with_offsets=return_assistant_mask)
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


def _variables(
    tokenizer: "Tokenizer",
    template: str | None,
    tools: Sequence[Any] | None,
    template_variables: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the template's variables. Raises TypeError for a keyword that the template doesn't read."""
    if not keywords and template_variables is None:
        return {}
    source = find_template(tokenizer, template, tools is not None)
    own = own_keywords(apply_chat_template)
    return variables_for("apply_chat_template", own, source, template_variables, keywords)


def _rendered(
    tokenizer: "Tokenizer",
    messages: Sequence[Message],
    template: str | None,
    *,
    system_prompt: str | None = None,
    add_generation_prompt: bool,
    continue_final_message: bool,
    **options: Any,
) -> TaintedStr:
    if add_generation_prompt and continue_final_message:
        raise ValueError(
            "add_generation_prompt starts a new message and continue_final_message continues the last: choose one"
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


def _encoded(tokenizer: "Tokenizer", template: str | None, text: TaintedStr, with_offsets: bool) -> Encoded:
    if template in NAMED and (missing := NAMED[template].missing_tokens(tokenizer)):
        raise TemplateError(
            f"{template} needs special tokens that this tokenizer doesn't have: {', '.join(missing)}. "
            f"tokenizer.with_special_tokens({missing!r}) adds them"
        )
    return encode(tokenizer, text, with_offsets)


def count_conversation(
    tokenizer: "Tokenizer", messages: Sequence[Message], template: str | None = None, **options: Any
) -> int:
    """Count the tokens of a conversation, the template's own included; options as for `apply_chat_template`.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("user user", 261, special_tokens=["<|im_start|>", "<|im_end|>"])
    >>> count_conversation(t, [{"role": "user", "content": "hi"}], "chatml")
    7
    """
    return len(
        apply_chat_template(tokenizer, messages, template, tokenize=True, return_assistant_mask=False, **options)
    )


class FittedConversation(NamedTuple):
    """A conversation that fits the context.

    Attributes:
        messages: the remaining messages, in order.
        dropped: the dropped messages, oldest first.
        tokens: the number of `ids`, including the template's own and the generation prompt, if there is one.
        text: the rendered text of the remaining messages.
        ids: the token ids of `text`, as `apply_chat_template` returns them.
    """

    messages: list[Message]
    dropped: list[Message]
    tokens: int
    text: str
    ids: list[int]


def fit_to_context(
    tokenizer: "Tokenizer",
    messages: Sequence[Message],
    max_tokens: int,
    *,
    reserve: int = 0,
    template: str | None = None,
    add_generation_prompt: bool = True,
    system_prompt: str | None = None,
    **options: Any,
) -> FittedConversation:
    """Return the conversation after dropping just enough of its oldest turns to make it fit.

    Args:
        max_tokens: the size of the model's context.
        reserve: tokens to leave free for the answer.
        add_generation_prompt: whether the generation prompt counts.
        options: as for `apply_chat_template`.

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
    check(messages)
    limit = max_tokens - reserve
    messages = with_system_prompt(messages, system_prompt)
    options |= {"add_generation_prompt": add_generation_prompt}
    turns = turns_of(messages)
    last_turn = max((turn for turn in turns if turn is not None), default=0)
    encoded: dict[int, tuple[str, list[int]]] = {}

    def stays(turn: int | None, dropped: int) -> bool:
        return turn is None or turn >= dropped

    def fits(dropped: int) -> bool:
        kept = [message for message, turn in zip(messages, turns) if stays(turn, dropped)]
        encoded[dropped] = _text_and_ids(tokenizer, kept, template, **options)
        return len(encoded[dropped][1]) <= limit

    dropped = 0 if fits(0) else bisect_left(range(last_turn + 1), True, lo=1, key=fits)
    if dropped > last_turn:
        _, ids = encoded.get(last_turn, encoded[0])
        raise ConversationError(
            f"the last turn and the system messages take {len(ids):,} tokens; max_tokens={max_tokens:,} less "
            f"reserve={reserve:,} leaves {limit:,}"
        )
    text, ids = encoded[dropped]
    return FittedConversation(
        [message for message, turn in zip(messages, turns) if stays(turn, dropped)],
        [message for message, turn in zip(messages, turns) if not stays(turn, dropped)],
        len(ids),
        text,
        ids,
    )


def _text_and_ids(
    tokenizer: "Tokenizer",
    messages: Sequence[Message],
    template: str | None,
    *,
    add_generation_prompt: bool,
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    continue_final_message: bool = False,
    end_of_turn: bool = True,
    template_variables: Mapping[str, Any] | None = None,
    **variables: Any,
) -> tuple[str, list[int]]:
    """Render a conversation once, and return both its text and its ids."""
    for option in ("tokenize", "return_assistant_mask"):
        if option in variables:
            raise TypeError(f"fit_to_context has no argument {option!r}")
    text = _rendered(
        tokenizer,
        messages,
        template,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        tools=tools,
        documents=documents,
        variables=_variables(tokenizer, template, tools, template_variables, variables),
    )
    return str.__str__(text), _encoded(tokenizer, template, text, with_offsets=False).ids
