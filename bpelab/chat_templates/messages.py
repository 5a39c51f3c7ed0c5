"""Conversations as they come in: checked, and turned into marked strings. The caller's objects are never changed.

Chapter: Special tokens, chat templates, injection. Cost: linear in the conversation.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ConversationError
from .provenance import TEMPLATE, Items, Marked, Origin, Record

Message = Mapping[str, Any]
# The words that messages name their speaker with. Templates build control tokens of them ("<|" + role + "|>"), so each
# of them, and nothing else that a message holds, counts as the template's own text.
ROLES = frozenset(("system", "user", "assistant", "tool", "developer", "function", "ipython", "model"))
SPEAKERS = frozenset(("assistant", "model"))
DEEPEST = 100


def check(messages: Sequence[Message]) -> None:
    """Raises ConversationError, which names the message and the key, for what no template could work on.

    >>> check([{"role": "user", "content": "hi"}, {"content": "hello"}])
    Traceback (most recent call last):
      ...
    bpelab.errors.ConversationError: messages[1] has no "role": give it one, such as "user" or "assistant"
    """
    if not isinstance(messages, (list, tuple)):
        raise ConversationError(f"messages is a list of dicts, not {_kind(messages)}")
    if not messages:
        raise ConversationError("messages is empty: give at least one message")
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        if not isinstance(message, Mapping):
            raise ConversationError(f'{where} is {_kind(message)}, not a dict with "role" and "content"')
        if "role" not in message:
            raise ConversationError(f'{where} has no "role": give it one, such as "user" or "assistant"')
        if not isinstance(message["role"], str) or not message["role"]:
            raise ConversationError(f'{where}["role"] is {_shown(message["role"])}, not the name of a role')
        content = message.get("content")
        if not isinstance(content, (str, list, tuple, type(None))):
            raise ConversationError(
                f'{where}["content"] is {_kind(content)}: it is a string, a list of parts, or None beside tool calls'
            )
        if len(message) == 1:
            raise ConversationError(f'{where} has no "content"')
        if isinstance(content, (list, tuple)):
            for place, part in enumerate(content):
                if not isinstance(part, (Mapping, str)):
                    raise ConversationError(
                        f'{where}["content"][{place}] is {_kind(part)}, not a dict such as '
                        '{"type": "text", "text": "..."}'
                    )
        calls = message.get("tool_calls")
        if not isinstance(calls, (list, tuple, type(None))):
            raise ConversationError(f'{where}["tool_calls"] is {_kind(calls)}, not a list of dicts')
        for place, call in enumerate(calls or ()):
            if not isinstance(call, Mapping):
                raise ConversationError(f'{where}["tool_calls"][{place}] is {_kind(call)}, not a dict')


def _kind(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _shown(value: object) -> str:
    return "empty" if value == "" else _kind(value)


def marked_messages(messages: Sequence[Message]) -> list[Record]:
    """The messages for the template: every string knows its message and key."""
    prepared = []
    for number, message in enumerate(messages):
        record = Record()
        record.origin = Origin(False, number)
        for key, value in message.items():
            place = f"messages[{number}][{key!r}]"
            field = key if isinstance(key, str) else ""
            trusted = key == "role" and value in ROLES
            known = Marked.of(value, TEMPLATE) if trusted else marked(value, Origin(False, number, field), place)
            record[_key(key, Origin(False, number, field), f"messages[{number}]")] = known
        prepared.append(record)
    return prepared


def marked(value: Any, origin: Origin, place: str, depth: int = 0) -> Any:
    """`value` with every string in it marked. Raises ConversationError for what is no JSON."""
    if isinstance(value, str):
        return Marked.of(str.__str__(value), origin)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth == DEEPEST:
        raise ConversationError(f"{place} nests lists or dicts more than {DEEPEST} deep, or holds itself")
    if isinstance(value, Mapping):
        record = Record()
        record.origin = origin
        for key, part in value.items():
            record[_key(key, origin, place)] = marked(part, origin, f"{place}[{key!r}]", depth + 1)
        return record
    if isinstance(value, (list, tuple)):
        items = Items(marked(part, origin, f"{place}[{number}]", depth + 1) for number, part in enumerate(value))
        items.origin = origin
        return items
    raise ConversationError(f"{place} is {_kind(value)}: templates work on strings, numbers, lists and dicts")


def _key(key: Any, origin: Origin, place: str) -> Marked:
    if not isinstance(key, str):
        raise ConversationError(f"{place} has the key {key!r}, which is {_kind(key)}: keys are strings")
    return Marked.of(str.__str__(key), origin)


def marked_tools(tools: Sequence[Any] | None, name: str) -> Any:
    """Tools or documents, marked; each is a dict."""
    if tools is None:
        return None
    if not isinstance(tools, (list, tuple)):
        raise ConversationError(f"{name} is a list of dicts, not {_kind(tools)}")
    for number, tool in enumerate(tools):
        if not isinstance(tool, Mapping):
            what = "a function: give its JSON schema" if callable(tool) else f"{_kind(tool)}, not a dict"
            raise ConversationError(f"{name}[{number}] is {what}")
    return marked(tools, Origin(False, None, name), name)


def with_system_prompt(messages: Sequence[Message], system_prompt: str | None) -> Sequence[Message]:
    """The messages, with a system message in front where none of them is one."""
    if system_prompt is None or any(message["role"] in ("system", "developer") for message in messages):
        return messages
    return [{"role": "system", "content": system_prompt}, *messages]
