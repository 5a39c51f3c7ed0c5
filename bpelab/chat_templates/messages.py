"""Validate conversations and turn them into tainted strings. The caller's objects are never changed.

Chapter: Chat templates. Cost: linear in the conversation.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import ConversationError
from .provenance import TEMPLATE, Provenance, TaintedDict, TaintedList
from .tainted_string import TaintedStr

Message = Mapping[str, Any]
# The known roles. Templates build control tokens from them ("<|" + role + "|>"), so they count as the template's own
# text; nothing else in a message does.
ROLES = frozenset(("system", "user", "assistant", "tool", "developer", "function", "ipython", "model"))
SPEAKERS = frozenset(("assistant", "model"))
REASONING = ("reasoning_content", "thinking", "reasoning")
"""The keys that programs use for a message's reasoning; templates read the first or the second."""
DEEPEST = 100


def check(messages: Sequence[Message]) -> None:
    """Raise ConversationError, naming the message and the key, for anything that no template could render.

    >>> check([{"role": "user", "content": "hi"}, {"content": "hello"}])
    Traceback (most recent call last):
      ...
    bpelab.errors.ConversationError: messages[1] has no "role": give it one, such as "user" or "assistant"
    """
    if not isinstance(messages, (list, tuple)):
        raise ConversationError(f"messages is a list of dicts, not {_kind(messages)}")
    if not messages:
        raise ConversationError("messages is empty: give at least one message")
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
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
            for offset, part in enumerate(content):
                if not isinstance(part, (Mapping, str)):
                    raise ConversationError(
                        f'{where}["content"][{offset}] is {_kind(part)}, not a dict such as '
                        '{"type": "text", "text": "..."}'
                    )
        calls = message.get("tool_calls")
        if not isinstance(calls, (list, tuple, type(None))):
            raise ConversationError(f'{where}["tool_calls"] is {_kind(calls)}, not a list of dicts')
        for offset, call in enumerate(calls or ()):
            if not isinstance(call, Mapping):
                raise ConversationError(f'{where}["tool_calls"][{offset}] is {_kind(call)}, not a dict')


def _kind(value: object) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _shown(value: object) -> str:
    return "empty" if value == "" else _kind(value)


def taint_messages(messages: Sequence[Message]) -> list[TaintedDict]:
    """Return the messages for the template, every string tagged with its message and key.

    As in transformers since 5.24, a key whose value is None is left out, and a message's reasoning has both names.
    """
    prepared = []
    for index, message in enumerate(messages):
        record = TaintedDict()
        record.origin = Provenance(False, index)
        for key, value in message.items():
            if value is None:
                continue
            where = f"messages[{index}][{key!r}]"
            field = key if isinstance(key, str) else ""
            trusted = key == "role" and value in ROLES
            known = TaintedStr.of(value, TEMPLATE) if trusted else taint(value, Provenance(False, index, field), where)
            record[_key(key, Provenance(False, index, field), f"messages[{index}]")] = known
        prepared.append(_with_reasoning(record))
    return prepared


def _with_reasoning(message: TaintedDict) -> TaintedDict:
    """Return a message whose reasoning, if it has any, has the names of all templates."""
    reasoning = next((message[key] for key in REASONING if key in message), None)
    if reasoning is None:
        return message
    named = TaintedDict({"thinking": reasoning, **message, "reasoning_content": reasoning})
    named.origin = message.origin
    return named


def taint(value: Any, origin: Provenance, where: str, depth: int = 0) -> Any:
    """Return `value` with the provenance of every string in it. Raises ConversationError for anything but JSON."""
    if isinstance(value, str):
        return TaintedStr.of(str.__str__(value), origin)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth == DEEPEST:
        raise ConversationError(f"{where} nests lists or dicts more than {DEEPEST} deep, or holds itself")
    if isinstance(value, Mapping):
        record = TaintedDict()
        record.origin = origin
        for key, part in value.items():
            record[_key(key, origin, where)] = taint(part, origin, f"{where}[{key!r}]", depth + 1)
        return record
    if isinstance(value, (list, tuple)):
        items = TaintedList(taint(part, origin, f"{where}[{index}]", depth + 1) for index, part in enumerate(value))
        items.origin = origin
        return items
    raise ConversationError(f"{where} is {_kind(value)}: templates work on strings, numbers, lists and dicts")


def _key(key: Any, origin: Provenance, where: str) -> TaintedStr:
    if not isinstance(key, str):
        raise ConversationError(f"{where} has the key {key!r}, which is {_kind(key)}: keys are strings")
    return TaintedStr.of(str.__str__(key), origin)


def taint_tools(tools: Sequence[Any] | None, name: str) -> Any:
    """Return tools or documents, a list of dicts, with their provenance."""
    if tools is None:
        return None
    if not isinstance(tools, (list, tuple)):
        raise ConversationError(f"{name} is a list of dicts, not {_kind(tools)}")
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping):
            what = "a function: give its JSON schema" if callable(tool) else f"{_kind(tool)}, not a dict"
            raise ConversationError(f"{name}[{index}] is {what}")
    return taint(tools, Provenance(False, None, name), name)


def with_system_prompt(messages: Sequence[Message], system_prompt: str | None) -> Sequence[Message]:
    """Return the messages, with a system message in front if there is none."""
    if system_prompt is None or any(message["role"] in ("system", "developer") for message in messages):
        return messages
    return [{"role": "system", "content": system_prompt}, *messages]


def turns_of(messages: Sequence[Message]) -> list[int | None]:
    """Return each message's turn number; None for a system message.

    A turn is a user's message and what follows it, tool calls and results included, up to the next user's message.

    >>> turns_of([{"role": role, "content": ""} for role in ("system", "user", "assistant", "user")])
    [None, 0, 0, 1]
    """
    turns: list[int | None] = []
    last = 0
    for message in messages:
        if message["role"] == "user" and any(turn is not None for turn in turns):
            last += 1
        turns.append(None if message["role"] in ("system", "developer") else last)
    return turns


def turns_to_drop(turns: Sequence[int | None], tokens: Callable[[int], int], limit: int, room: str) -> int:
    """Return how many of the oldest turns have to go, so that at most `limit` tokens stay.

    `tokens(n)` is the number of tokens without the first n turns. Raises ConversationError, which says what `room`
    there is, if the last turn and the system messages alone don't fit.
    """
    last = max((turn for turn in turns if turn is not None), default=0)
    if tokens(0) <= limit:
        return 0
    dropped = bisect_left(range(last + 1), True, lo=1, key=lambda number: tokens(number) <= limit)
    if dropped > last:
        raise ConversationError(f"the last turn and the system messages take {tokens(last):,} tokens; {room}")
    return dropped
