"""Apply a chat template: encode a conversation, mask it, count its tokens.

No character of a message becomes a control token, whatever the template does with it. That makes formats with control
tokens safe. Alpaca's headers are ordinary text, which a message can also contain, so nothing can make that format safe.

Chapter: Chat templates. Cost: that of encoding the text.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._support.validate import check_flags
from ..errors import TemplateError
from .assistant_mask import assistant_mask
from .builtin import NAMED
from .encode import encode
from .messages import Message, check, with_system_prompt
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
    options = {"tools": tools, "documents": documents, "template_variables": template_variables, **variables}
    text = render_conversation(
        tokenizer,
        messages,
        template,
        system_prompt=system_prompt,
        add_generation_prompt=add_generation_prompt,
        continue_final_message=continue_final_message,
        **options,
    )
    if not tokenize:
        return str.__str__(text)
    raise_if_tokens_are_missing(tokenizer, template)
    encoded = encode(tokenizer, text, with_offsets=return_assistant_mask)
    if not return_assistant_mask:
        return encoded.ids
    messages = with_system_prompt(messages, system_prompt)
    blocks = _generation.search(find_template(tokenizer, template, tools is not None)) is not None
    opening = ""
    if not blocks and any(message.get("tool_calls") for message in messages):
        with_prompt, without = (
            render_conversation(tokenizer, messages, template, add_generation_prompt=prompt, **options)
            for prompt in (True, False)
        )
        opening = with_prompt[len(without) :] if with_prompt.startswith(without) else ""
    return encoded.ids, assistant_mask(tokenizer, encoded, messages, blocks, opening, end_of_turn)


def render_conversation(
    tokenizer: "Tokenizer",
    messages: Sequence[Message],
    template: str | None,
    *,
    add_generation_prompt: bool,
    system_prompt: str | None = None,
    continue_final_message: bool = False,
    tools: Sequence[Any] | None = None,
    documents: Sequence[Any] | None = None,
    template_variables: Mapping[str, Any] | None = None,
    **variables: Any,
) -> TaintedStr:
    """Return a conversation's text; arguments and errors are those of `apply_chat_template`."""
    if add_generation_prompt and continue_final_message:
        raise ValueError(
            "add_generation_prompt starts a new message and continue_final_message continues the last: choose one"
        )
    check(messages)
    source = find_template(tokenizer, template, tools is not None)
    own = own_keywords(apply_chat_template) if variables else ()
    variables = variables_for("apply_chat_template", own, source, template_variables, variables)
    return render(
        tokenizer,
        with_system_prompt(messages, system_prompt),
        source,
        add_generation_prompt=add_generation_prompt,
        tools=tools,
        documents=documents,
        continue_final_message=continue_final_message,
        variables=variables,
    )


def raise_if_tokens_are_missing(tokenizer: "Tokenizer", template: str | None) -> None:
    """Raise TemplateError if a named template needs special tokens that the tokenizer doesn't have."""
    if template in NAMED and (missing := NAMED[template].missing_tokens(tokenizer)):
        raise TemplateError(
            f"{template} needs special tokens that this tokenizer doesn't have: {', '.join(missing)}. "
            f"tokenizer.with_special_tokens({missing!r}) adds them"
        )


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
