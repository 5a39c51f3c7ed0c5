"""Conversations made up by a random generator: turns, tools, lists of parts, and what templates stumble over."""

import random
from collections.abc import Iterator
from itertools import pairwise

WORDS = [
    "hello", " the", "  two", "\n", "\n\n", " ", "", "naïve", "日本語", "😀", "e\u0301", "1234", "a<b", "</p>", "[x]",
    "{{ y }}", "{% if %}", "\t", "don't", "'quote'", '"', "\\n", "&amp;", "ß", "İ", "    four", "|", "<|", "|>",
    "%s", "{}", "\r\n",
]  # fmt: skip
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather <now> & 'later'.",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "where", "enum": ["Köln", "here"]},
                    "days": {"type": "integer", "description": "how many"},
                },
                "required": ["place"],
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "time", "description": "now", "parameters": {"type": "object", "properties": {}}},
    },
]


def text(rng: random.Random) -> str:
    return "".join(rng.choices(WORDS, k=rng.choice((0, 1, 2, 5, 12))))


def call(rng: random.Random) -> dict:
    arguments = {"place": text(rng), "days": rng.randint(-3, 9)} if rng.random() < 0.8 else {}
    return {"id": "abcdefghi", "type": "function", "function": {"name": "weather", "arguments": arguments}}


def conversation(rng: random.Random, plain: bool = False) -> list[dict]:
    """Mostly well-formed; with `plain`, user and assistant taking turns, after a system message or not."""
    messages: list[dict] = []
    if rng.random() < 0.4:
        messages.append({"role": "system", "content": text(rng)})
    for _ in range(rng.randint(1, 3)):
        messages.append({"role": "user", "content": text(rng)})
        if not plain and rng.random() < 0.25:
            messages.append(
                {"role": "assistant", "content": rng.choice(["", None, text(rng)]), "tool_calls": [call(rng)]}
            )
            messages.append({"role": "tool", "name": "weather", "tool_call_id": "abcdefghi", "content": text(rng)})
        if rng.random() < 0.8:
            thought = f"<think>\n{text(rng)}\n</think>\n\n" if not plain and rng.random() < 0.2 else ""
            messages.append({"role": "assistant", "content": thought + text(rng)})
    if not plain and rng.random() < 0.2:
        messages.insert(rng.randrange(len(messages) + 1), rng.choice([
            {"role": "system", "content": text(rng)},
            {"role": "user", "content": [{"type": "text", "text": text(rng)}, {"type": "image"}]},
            {"role": rng.choice(["developer", "custom"]), "content": text(rng)},
            {"role": "assistant", "content": text(rng), "reasoning_content": text(rng)},
        ]))  # fmt: skip
    return messages


def steps(messages: list[dict]) -> Iterator[tuple[int, list, list]]:
    """Yield (number of messages before, before, after) for each step; before and after are messages, and with prompt?

    A message is a step, and so is the prompt for an answer.
    """
    for number in range(1, len(messages)):
        prompt = [[messages[:number], True]] if messages[number]["role"] == "assistant" else []
        for before, after in pairwise([[messages[:number], False], *prompt, [messages[: number + 1], False]]):
            yield number, before, after


def as_newest_hands_on(messages: list[dict]) -> list[dict]:
    """Return messages as transformers 5.24 hands them to a template, for earlier versions, which hand on what they get.

    No key has the value None, and reasoning has both names. `tests/real` compares with 5.24 itself.
    """
    handed = [{key: value for key, value in message.items() if value is not None} for message in messages]
    return [
        {"thinking": message["reasoning_content"], **message} if "reasoning_content" in message else message
        for message in handed
    ]
