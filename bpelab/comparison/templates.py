"""Compare two chat templates on conversations, the smallest first, until one is rendered differently.

Whether two Jinja programs are equivalent is undecidable. So this is a search over roles, turns, tools, reasoning, white
space, and generation prompts.
"""

from __future__ import annotations

from .._support.first_difference import first_difference
from ..errors import BPELabError, MissingDependencyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..core.tokenizer import Tokenizer

SYSTEM = {"role": "system", "content": "be brief"}
USER, SPACED = {"role": "user", "content": "hi"}, {"role": "user", "content": " hi\n"}
ANSWER, THOUGHT = {"role": "assistant", "content": "ok"}, {"role": "assistant", "content": "<think>\nx\n</think>\n\nok"}
REASONED = {"role": "assistant", "content": "ok", "reasoning_content": "x"}
FUNCTION = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}
CALL = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {"x": "1"}}}],
}
RESULT = {"role": "tool", "tool_call_id": "abcdefghi", "name": "f", "content": "2"}
CONVERSATIONS: tuple[list[dict[str, Any]], ...] = (
    [USER], [SPACED], [SYSTEM, USER], [USER, ANSWER], [SYSTEM, USER, ANSWER], [USER, THOUGHT], [USER, REASONED],
    [USER, ANSWER, USER], [SYSTEM, USER, ANSWER, USER], [USER, THOUGHT, USER], [USER, REASONED, USER],
    [USER, CALL], [USER, CALL, RESULT], [USER, CALL, RESULT, ANSWER], [USER, ANSWER, USER, ANSWER, USER],
)  # fmt: skip
TOOLS = [{"type": "function", "function": FUNCTION}]


def compare_templates(first: Tokenizer, second: Tokenizer) -> tuple[bool | None, str]:
    """Return (whether two tokenizers' templates render a conversation differently, a sentence about it).

    The first is True, with the smallest conversation that shows it in the sentence, or None if no tried conversation
    differs.
    """
    tries = list(_tries())
    for messages, options in tries:
        try:
            one, two = _rendered(first, messages, options), _rendered(second, messages, options)
        except MissingDependencyError as error:
            return True, f"the sources differ; what they write wasn't compared: {error}"
        if one != two:
            at = first_difference(one, two)
            given = "".join(f", {name}={value!r}" for name, value in options.items() if name != "tools")
            tools = " with a tool" if "tools" in options else ""
            texts = f"{one[at : at + 40]!r} and {two[at : at + 40]!r}"
            return True, f"from character {at} on {texts}, for {messages!r}{given}{tools}"
    return None, f"the sources differ and write {len(tries)} conversations alike"


def _tries() -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    for messages in CONVERSATIONS:
        for prompt in ({}, {"add_generation_prompt": True}):
            yield messages, prompt
        yield messages, {"tools": TOOLS}


def _rendered(tokenizer: Tokenizer, messages: list[dict[str, Any]], options: dict[str, Any]) -> str:
    from ..chat_templates.apply import apply_chat_template

    try:
        text: str = apply_chat_template(tokenizer, messages, tokenize=False, **options)
    except MissingDependencyError:
        raise
    except BPELabError as error:
        return f"({type(error).__name__})"
    return text
