"""The exercises of *Special tokens*."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ..exercise import Exercise


def find_tokens(text, names):
    """Return [(position, name), ...] for the names found in `text`, from left to right.

    If several start at one position, take the longest; the search continues after it.
    """
    found, position = [], 0
    while position < len(text):
        here = [name for name in names if text.startswith(name, position)]
        if here:
            found.append((position, max(here, key=len)))
        position += max(map(len, here), default=1)
    return found


def past_the_filter(names, target):
    """Return a text that contains `target` after a filter has run over it.

    The filter is `for name in names: text = text.replace(name, "")`, and `target` is one of
    `names`. Each name has two different characters or more.
    """
    text = target
    for name in reversed(names):  # undo the filter, its last name first
        text = text.replace(name, name[0] + name + name[1:])
    return text


def _texts() -> Iterator[tuple[str, list[str]]]:
    for text in ("", "a", "ab", "aab", "abcd", "xabcde", "ababab", "bcdeab"):
        for names in (["ab"], ["b", "ab"], ["ab", "abcd", "bcde"], ["a", "aa"], ["bcd", "abc", "d"]):
            yield text, names
    tags = ["<think>", "<think>\n", "</think>", "<|end|>", "<|end", "\n\n", "\n"]
    yield "<think>\n\nSo.</think>", tags
    yield "<|end<|end|>|>\n\n\n", tags
    yield "".join(tags[::-1]) * 2, tags


def _filters() -> Iterator[tuple[list[str], str]]:
    lists = [
        ["<s>"],
        ["<|im_start|>", "<|im_end|>"],
        ["<bos>", "<start_of_turn>", "<end_of_turn>"],
        ["[INST]", "[/INST]", "</s>", "<s>"],
        ["<|end|>", "|end|"],
        ["|end|", "<|end|>"],
        ["<|end|>", "end", "|end|"],
        ["<s><s>"],  # in the middle of itself it's four times `<s>`, and all of it goes
        ["<s>", "<s><s>"],
    ]
    for names in lists:
        for name in names:
            yield names, name


def _not_past(got: Any, names: list[str], target: str) -> str | None:
    text = got
    for name in names:
        text = text.replace(name, "")
    if target in text:
        return None
    rest = f"`{text}`" if text else "nothing"
    return f"After the filter {rest} is left, which doesn't contain `{target}`:"


def encode_special(tokenizer, special, text):
    """Return the ids of `text`, in which the names in `special` (str -> id) are special tokens.

    Everything else is encoded by tokenizer.encode. If several names start at one position,
    the longest wins. Only call it with text that you wrote yourself.
    """
    if not special:
        return tokenizer.encode(text)
    names = sorted(special, key=len, reverse=True)
    ids = []
    for index, part in enumerate(re.split("(" + "|".join(map(re.escape, names)) + ")", text)):
        ids += [special[part]] if index % 2 else tokenizer.encode(part)
    return ids


def decode_special(tokenizer, special, ids):
    """Return the text of `ids`, in which an id in `special` (str -> id) stands for its name.

    It undoes encode_special. A character's bytes may lie in several ids: pass the ids between
    two special ones to tokenizer.decode together.
    """
    names = {token_id: name for name, token_id in special.items()}
    text = ""
    for is_special, run in groupby(ids, names.__contains__):
        part = list(run)
        text += "".join(names[token_id] for token_id in part) if is_special else tokenizer.decode(part)
    return text


class _Bytes:
    """A tokenizer whose ids are bytes."""

    def encode(self, text: str) -> list[int]:
        return [*text.encode()]

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode(errors="replace")

    def __repr__(self) -> str:
        return "tokenizer"


def _specials_and_texts() -> Iterator[tuple[Any, dict[str, int], str]]:
    for special in ({}, {"<|end|>": 300}, {"<s>": 300, "<s>>": 301}, {"a|b": 300, "(": 301}):
        for text in ("", "ab", "a<|end|>b", "<s>>", "<s>><s>", "a|b(a", "<|end|><|end|>"):
            yield _Bytes(), special, text


def _specials_and_ids() -> Iterator[tuple[Any, dict[str, int], list[int]]]:
    for tokenizer, special, text in _specials_and_texts():
        yield tokenizer, special, encode_special(tokenizer, special, text)
    for special in ({"<|end|>": 300}, {"<|end|>": 300, "é": 301}):
        for ids in ([*"é".encode()], [300, *"日本".encode(), 300, 300, *"é".encode()], [0xC3, 300, 0xA9]):
            yield _Bytes(), special, ids


EXERCISES = [
    Exercise(
        "special_tokens.1",
        "Leftmost, longest",
        find_tokens,
        _texts,
        (
            "text.startswith(name, position) says whether a name occurs at a position.",
            "Of those that do, max(..., key=len) is the longest. Go on after it; if none does, go on by one.",
        ),
        level="medium",
        next_step="Hugging Face's added tokens have flags as well; the appendix shows what each of them changes.",
        is_valid=lambda text, names: all(names) and len(set(names)) == len(names),
    ),
    Exercise(
        "special_tokens.2",
        "Past the filter",
        past_the_filter,
        _filters,
        (
            "The filter goes over the text once for each name. It misses a name that forms only after that.",
            "Put the target inside itself, after its first character. If the result holds another name, undo the "
            "filter, its last name first.",
        ),
        level="medium",
        next_step="Would a second pass of the filter stop you? Write the text that survives three.",
        problem=_not_past,
        is_valid=lambda names, target: False,
    ),
    Exercise(
        "special_tokens.3",
        "Your tokenizer: special tokens",
        encode_special,
        _specials_and_texts,
        (
            "re.split with the names in one group returns the text between names and the names, alternately.",
            "Sort the names by length, the longest first, and pass each through re.escape.",
        ),
        level="medium",
        next_step="Your file reads templates now. A user's text still goes through `encode`.",
        is_valid=lambda tokenizer, special, text: False,
    ),
    Exercise(
        "special_tokens.4",
        "Your tokenizer: special tokens, decoded",
        decode_special,
        _specials_and_ids,
        (
            "tokenizer.decode doesn't know the special ids. Invert `special`, to find a name by its id.",
            "itertools.groupby(ids, names.__contains__) returns runs of special and of ordinary ids, alternately.",
        ),
        level="medium",
        next_step="The text is for your eyes. Whether a name in it was a token, only the ids say.",
        is_valid=lambda tokenizer, special, ids: False,
    ),
]
