"""The exercises of *One byte at a time*."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from typing import Any

from ...model.bpe import BPEModel
from ...notebook.messages import code
from ...tokenizer import BPETokenizer
from ..exercise import Exercise
from ..fixtures import is_close


def is_canonical(tokenizer, ids):
    """Return whether the tokenizer would make these ids of the text that they spell.

    Bytes that are no text, such as half a character, have no canonical ids.
    """
    data = b"".join(tokenizer.model.tokens[number] for number in ids)
    try:
        return tokenizer.encode(data.decode()) == ids
    except UnicodeDecodeError:
        return False


def all_covers(tokenize, prompt, letters, more):
    """Return the covers of `prompt` as a set of tuples of tokens.

    `tokenize(text)` returns a list of tokens (bytes). Try every text that is the prompt
    and up to `more` of the `letters`, and keep the tokens up to the one that reaches the
    prompt's end. The prompt isn't empty.
    """
    covers = set()
    for size in range(more + 1):
        for tail in product(letters, repeat=size):
            cover = []
            for token in tokenize(prompt + "".join(tail)):
                cover.append(token)
                if len(b"".join(cover)) >= len(prompt.encode()):
                    break
            covers.add(tuple(cover))
    return covers


def next_letters(begins, prompt, letters):
    """Return the probability of each letter after `prompt`, of those that can come: a dict.

    `begins(text)` returns the probability that the model's text begins with `text`, and
    `begins(prompt)` isn't 0. A text can also end, so the probabilities may add up to less
    than 1.
    """
    whole = begins(prompt)
    found = {letter: begins(prompt + letter) / whole for letter in letters}
    return {letter: share for letter, share in found.items() if share > 0}


def lost_covers(tokenizer, prompt):
    """Return the covers of `prompt`, in their order, that a healed prompt can't become.

    Healing drops the prompt's last id, and then allows the ids whose tokens begin with
    the bytes of the dropped one. The prompt isn't empty.
    """
    *kept, dropped = tokenizer.encode(prompt)
    tokens = tokenizer.model.tokens

    def is_reached(cover):
        return cover[:-1] == kept and tokens[cover[-1]].startswith(tokens[dropped])

    return [cover for cover in tokenizer.covers(prompt) if not is_reached(cover)]


def next_ids(tokenizer, choices, ids, canonical):
    """Return the ids that may come after `ids`, sorted, if the answer must be one of `choices`.

    `ids` spells the beginning of at least one choice. If `canonical`, the answer's ids must
    be those that the tokenizer makes of the choice; if not, any that spell it. That the
    answer may also end is left to the caller.
    """
    if canonical:
        rows = [tokenizer.encode(choice) for choice in choices]
        return sorted({row[len(ids)] for row in rows if len(row) > len(ids) and row[: len(ids)] == ids})
    tokens = tokenizer.model.tokens
    written = b"".join(tokens[number] for number in ids)
    rests = [choice.encode()[len(written) :] for choice in choices if choice.encode().startswith(written)]
    return [
        number for number, token in sorted(tokens.items()) if any(token and rest.startswith(token) for rest in rests)
    ]


TEN = [(b"e", b"r"), (b"w", b"e"), (b"l", b"o")]
"""The chapter's merges, with which *low*, *lower* and *lowest* take ten tokens."""
MERGES = {
    "ten": TEN,
    "low": [*TEN, (b"lo", b"w"), (b"low", b"er")],
    "spaces": [(b" ", b" "), (b" ", b"l"), (b"o", b"w"), (b" l", b"ow"), (b"  ", b"  ")],
    "accents": [(b"\xc3", b"\xa9"), (b"l", b"\xc3"), (b"l\xc3", b"\xa9"), (b"\xc3\xa9", b"l")],
}
PROMPTS = {
    "ten": ("l", "w", "o", "lo", "low", "lowe", "slowe", "lower", "we", "wer", "erwe"),
    "low": ("l", "lo", "low", "lowe", "lower", "lowerlo"),
    "spaces": (" ", "  ", "   ", " l", " lo", "low ", "low  l"),
    "accents": ("é", "l", "lé", "él", "éé"),
}
CHOICES = (
    ["low"],
    ["low", "lower"],
    ["lower", "low", "lo"],
    ["lower", "we", "were", "slow"],
    ["é", "lé", "  low", " low"],
    ["", "l"],
)


@lru_cache(None)
def tiny_tokenizer(name: str) -> BPETokenizer:
    """Return the tokenizer of a list of MERGES, which doesn't cut texts."""
    return BPETokenizer(BPEModel.from_merges(MERGES[name]), pattern=None)


def _named(answer: Callable[..., Any], name: str, *rest: Any) -> Any:
    return answer(tiny_tokenizer(name), *rest)


def _with_merges(name: str, merges: str, *rest: Any) -> str:
    listed = ", ".join(f"{code(left)} {code(right)}" for left, right in MERGES.get(merges, ()))
    return f"{name}(tokenizer, {', '.join(map(code, rest))}), with a tokenizer whose merges are {listed}"


def _are_known(name: str, *rest: Any) -> bool:
    return name in MERGES


def _id_lists() -> Iterator[tuple[str, list[int]]]:
    for name in MERGES:
        yield name, []
        for prompt in PROMPTS[name]:
            yield name, tiny_tokenizer(name).encode(prompt)
            yield name, [*prompt.encode()]
    yield from (("ten", [108, 111]), ("ten", [111, 257]), ("ten", [111, 119, 101]), ("ten", [119, 256]))
    yield from (("accents", [0xC3]), ("accents", [108, 0xC3]), ("accents", [257]), ("accents", [256, 0xC3]))
    yield from (("accents", [108, 256]), ("accents", [0xEF, 0xBF, 0xBD]), ("spaces", [256, 256]), ("spaces", [256, 32]))


def _of_known_ids(name: str, ids: list[int]) -> bool:
    return name in MERGES and {*ids} <= tiny_tokenizer(name).model.tokens.keys()


def _prompts_to_cover() -> Iterator[tuple[str, str, str, int]]:
    alphabets = {"ten": "erw", "low": "ero", "spaces": " l", "accents": "lé"}
    for more in (0, 1, 2):
        for name, letters in alphabets.items():
            for prompt in PROMPTS[name]:
                yield name, prompt, letters, more


def _call_with_tokenize(answer: Callable[..., Any], name: str, *rest: Any) -> Any:
    return answer(tiny_tokenizer(name).tokenize, *rest)


def _show_tokenize(name: str, merges: str, *rest: Any) -> str:
    return _with_merges(name, merges, *rest).replace("(tokenizer,", "(tokenizer.tokenize,", 1)


def _is_prompt(name: str, prompt: str, letters: str, more: int) -> bool:
    return name in MERGES and prompt != "" and more >= 0


WORDS = ({"a": 1}, {"a": 1, "b": 1}, {"a": 1, "ab": 3}, {"low": 2, "lower": 5, "lowest": 1}, {"é": 1, "éa": 2, "b": 1})
"""Texts, each with how often a model writes it."""


def _models_of_words() -> Iterator[tuple[dict[str, int], str, str]]:
    for counts in WORDS:
        letters = "".join(dict.fromkeys("".join(counts)))
        for prompt in dict.fromkeys(word[:size] for word in counts for size in range(len(word) + 1)):
            yield counts, prompt, letters
            yield counts, prompt, letters + "x"


def _call_with_begins(answer: Callable[..., Any], counts: dict[str, int], prompt: str, letters: str) -> Any:
    def begins(text: str) -> float:
        return sum(count for word, count in counts.items() if word.startswith(text)) / sum(counts.values())

    return answer(begins, prompt, letters)


def _begins_with_it(counts: dict[str, int], prompt: str, letters: str) -> bool:
    return all(count > 0 for count in counts.values()) and any(word.startswith(prompt) for word in counts)


def _show_counts(name: str, counts: dict[str, int], prompt: str, letters: str) -> str:
    return f"{name}(begins, {code(prompt)}, {code(letters)}), of a model that writes {code(counts)} so often"


def _are_close(expected: Any, got: Any) -> bool:
    return (
        isinstance(got, dict)
        and got.keys() == expected.keys()
        and is_close([*expected.values()], [got[key] for key in expected])
    )


def _prompts_to_heal() -> Iterator[tuple[str, str]]:
    yield from ((name, prompt) for name in MERGES for prompt in PROMPTS[name])


def _is_not_empty(name: str, prompt: str) -> bool:
    return name in MERGES and prompt != ""


def _choices() -> Iterator[tuple[str, list[str], list[int], bool]]:
    for choices, name, canonical in product(CHOICES, MERGES, (True, False)):
        tokenizer = tiny_tokenizer(name)
        yield name, choices, [], canonical
        for choice in choices:
            ids = tokenizer.encode(choice)
            for size in range(1, len(ids) + 1):
                yield name, choices, ids[:size], canonical
            yield name, choices, [*choice.encode()[:2]], canonical


def _begins_a_choice(name: str, choices: list[str], ids: list[int], canonical: bool) -> bool:
    if not _of_known_ids(name, ids):
        return False
    written = b"".join(tiny_tokenizer(name).model.tokens[number] for number in ids)
    return any(choice.encode().startswith(written) for choice in choices)


EXERCISES = [
    Exercise(
        "one_byte.1",
        "Is it canonical?",
        is_canonical,
        _id_lists,
        (
            "Join the bytes of the tokens, decode them, and encode the text again.",
            "`tokenizer.decode` writes U+FFFD for half a character, which is another text. `bytes.decode` raises a "
            "UnicodeDecodeError.",
        ),
        level="easy",
        next_step="`tokenizer.drift(ids)` says where ids aren't canonical, and how the tokenizer would spell it.",
        call=_named,
        format_call=_with_merges,
        is_valid=_of_known_ids,
    ),
    Exercise(
        "one_byte.2",
        "All the ways to go on",
        all_covers,
        _prompts_to_cover,
        (
            "`itertools.product(letters, repeat=size)` gives all tails of a size, from 0 to `more`.",
            "Take tokens until they have as many bytes as the prompt, which may have fewer characters. The last one "
            "may go beyond it.",
        ),
        level="medium",
        next_step="How many tails are there for 256 bytes and four more? `tokenizer.covers` encodes none of them.",
        call=_call_with_tokenize,
        format_call=_show_tokenize,
        is_valid=_is_prompt,
    ),
    Exercise(
        "one_byte.3",
        "The next letter",
        next_letters,
        _models_of_words,
        (
            "A text that begins with the prompt and a letter also begins with the prompt.",
            "Divide by `begins(prompt)`, and not by the sum over the letters: that would leave out the texts that end.",
        ),
        level="easy",
        next_step="`session.next_bytes` does this for all 256 bytes, with a call for each branch of the covers' tree.",
        call=_call_with_begins,
        format_call=_show_counts,
        equal=_are_close,
        is_valid=_begins_with_it,
    ),
    Exercise(
        "one_byte.4",
        "What healing loses",
        lost_covers,
        _prompts_to_heal,
        (
            "`tokenizer.covers(prompt)` returns lists of ids. Which of them begin with the ids that stay?",
            "After these comes exactly one id, and its bytes begin with those of the dropped one.",
        ),
        level="medium",
        next_step="Is there a prompt of the shipped model for which healing loses the cover that the model prefers?",
        call=_named,
        format_call=_with_merges,
        is_valid=_is_not_empty,
    ),
    Exercise(
        "one_byte.5",
        "A mask for choices",
        next_ids,
        _choices,
        (
            "If canonical, encode each choice. Those whose ids begin with `ids` say what comes next.",
            "If not, work with bytes: what is left of each choice after what `ids` spells, and which tokens does that "
            "begin with?",
            "A choice that is written to its end allows no more ids, but a longer one may.",
        ),
        level="hard",
        next_step="`Constraint.regex` does this for choices without an end, such as all dates.",
        call=_named,
        format_call=_with_merges,
        is_valid=_begins_a_choice,
    ),
]
