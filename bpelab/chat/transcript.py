"""Saved conversations: readable JSON, written whole or not at all, and validated on load.

The file is an object with "bpelab_conversation" (the version of this format), "model" (its name, for people),
"max_tokens", "sampling" and "messages", the key where other programs expect the messages. "answers" has, for each
message, the ids that the model generated and the template's text right before them, or null; it may be missing.

Chapter: A model answers. Cost: linear in the conversation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from .._support.json_document import JSONFile, open_file
from .._support.textio import expand_user, valid_text, write_atomically
from ..chat_templates.kept_answers import GeneratedAnswer
from ..chat_templates.messages import Message, check, taint_messages
from ..errors import ConversationError, TokenizerFileError
from .sampling import GREEDY, Sampling

LARGEST = 1 << 24
"""The size in bytes of the largest file that is read or written: a conversation of a few million words."""
VERSION = 1
KEYS = {"bpelab_conversation": int, "model": str, "max_tokens": int, "sampling": dict, "messages": list}
ANSWERS = "answers"


@dataclass(frozen=True)
class Transcript:
    """The contents of a saved conversation.

    Attributes:
        messages: dicts with "role" and "content".
        model: the model's name, or "".
        max_tokens: the limit of an answer.
        sampling: how tokens were chosen.
        answers: what the model generated for each message, or None; or nothing for any.
    """

    messages: list[dict[str, Any]]
    model: str = ""
    max_tokens: int = 256
    sampling: Sampling = GREEDY
    answers: tuple[GeneratedAnswer | None, ...] = ()


def deep_copy_json(value: Any) -> Any:
    """Return a deep copy, with the lists and dicts of JSON, and lone surrogates replaced by U+FFFD.

    >>> deep_copy_json(({"a": "\\ud800"},))
    [{'a': '\ufffd'}]
    """
    if isinstance(value, str):
        return valid_text(str.__str__(value))
    if isinstance(value, Mapping):
        return {deep_copy_json(key): deep_copy_json(part) for key, part in value.items()}
    return [deep_copy_json(part) for part in value] if isinstance(value, (list, tuple)) else value


def copy_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Copy messages. Raises ConversationError, naming the message and the key, for an invalid message."""
    check(messages)
    taint_messages(messages)  # validates their contents
    return [deep_copy_json(message) for message in messages]


def write(path: str | Path, transcript: Transcript) -> None:
    """Write a file; if that fails, keep the old one. Raises ConversationError, saying why it can't be written."""
    path = expand_user(path)
    data = {"bpelab_conversation": VERSION, "model": valid_text(transcript.model), "max_tokens": transcript.max_tokens}
    data |= {"sampling": asdict(transcript.sampling), "messages": transcript.messages}
    if any(transcript.answers):
        data[ANSWERS] = [None if answer is None else answer._asdict() for answer in transcript.answers]
    size = 0
    try:
        content = (json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
        size = len(content)
        if size <= LARGEST:
            write_atomically(path, content)
    except OSError as error:
        raise ConversationError(f"{path}: can't be written: {error.strerror}") from error
    except ValueError as error:  # a number that JSON doesn't have, a name with a null character
        raise ConversationError(f"{path}: can't be written: {error}") from error
    if size > LARGEST:
        raise ConversationError(f"{path}: the conversation takes {size:,} bytes, and at most {LARGEST:,} are allowed")


def read(path: str | Path) -> Transcript:
    """Read what `write` wrote. Raises ConversationError, naming the file and the key, for anything else."""
    try:
        return _read(expand_user(path))
    except TokenizerFileError as error:  # what the reader of JSON files raises
        raise ConversationError(str(error)) from error


def _read(path: Path) -> Transcript:
    with open_file(path) as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ConversationError(f"{path}: the file is too large: at most {LARGEST:,} bytes are allowed")
    file = JSONFile(path, content)
    for key, kind in KEYS.items():
        if key not in file.data:
            raise file.wrong(key, "is missing: this is not a conversation that bpelab saved")
        file.expect(file.data[key], kind, key)
    if file.data["bpelab_conversation"] != VERSION:
        saved = file.data["bpelab_conversation"]
        raise file.wrong("bpelab_conversation", f"is {saved}, but this version of bpelab reads {VERSION}")
    if strange := sorted(file.data.keys() - {*KEYS, ANSWERS}):
        raise file.wrong(strange[0][:60], "is not a key of a saved conversation")
    if file.data["max_tokens"] < 1:
        raise file.wrong("max_tokens", "must be at least 1")
    settings = file.data["sampling"]
    if strange := sorted(settings.keys() - {field.name for field in fields(Sampling)}):
        raise file.wrong(f"sampling.{strange[0][:60]}", "is not a setting")
    try:
        sampling = Sampling(**settings)
    except ValueError as error:
        raise file.wrong("sampling", str(error)) from error
    try:
        messages = copy_messages(file.data["messages"]) if file.data["messages"] else []
    except ConversationError as error:
        raise file.wrong("", str(error)) from error
    return Transcript(messages, file.data["model"], file.data["max_tokens"], sampling, _answers(file, len(messages)))


def _answers(file: JSONFile, messages: int) -> tuple[GeneratedAnswer | None, ...]:
    """Return the generated answers in a file with this number of messages; () if it has none."""
    given = file.expect(file.data.get(ANSWERS, []), list, ANSWERS)
    if given and len(given) != messages:
        raise file.wrong(ANSWERS, f"has {len(given):,} entries for {messages:,} messages")
    return tuple(_answer(file, entry, f"{ANSWERS}[{index}]") for index, entry in enumerate(given))


def _answer(file: JSONFile, entry: Any, where: str) -> GeneratedAnswer | None:
    if entry is None:
        return None
    if file.expect(entry, dict, where).keys() != {*GeneratedAnswer._fields}:
        raise file.wrong(where, f"must be null, or have the keys {' and '.join(GeneratedAnswer._fields)} and no others")
    ids = file.expect(entry["ids"], list, f"{where}.ids")
    numbers = (file.expect(token, int, f"{where}.ids[{index}]") for index, token in enumerate(ids))
    return GeneratedAnswer(tuple(numbers), file.expect(entry["opening"], str, f"{where}.opening"))
