"""The exercises of chapter 5, Regex pre-tokenization."""

from collections.abc import Iterator
from typing import Any

from ..pretokenizers.patterns import PATTERNS
from ..pretokenizers.safe_cuts import last_safe_cut
from ..pretokenizers.split import Split
from .engine import Exercise
from .plain import listed
from .show import code

TEXTS = (
    "", "1", "12", "123", "1234", "12345", "123456", "1234567", "a", "ab", " a", "a1", "1a", " 1", "a b", "a  b", "a\n",
    "\n\na", " \n",
    "Don't", "DON'T", "x=12345;", "in 2024, 1.5 km", "naïve café", "日本 7", "a\r\n\r\nb", "  \n  x", "a\n ",
    "12 345 6",
)  # fmt: skip
CARELESS = (r"\w+", r"\w+|\s+", r"[a-z]+|[^a-z\n]", r"\S+|\s", r".", r"\p{L}+|\p{N}+| ")


def digits_in_pairs():  # type: ignore[no-untyped-def]
    """Return cl100k's pattern (a str for Split), changed to cut numbers into twos."""
    return PATTERNS["cl100k"].regex.replace("{1,3}", "{1,2}")


def leaves_gaps(pattern, text):  # type: ignore[no-untyped-def]
    """Return True if some character of `text` is in no match of `pattern`.

    `pattern` is a regular expression for the `regex` package.
    """
    import regex

    return sum(len(match.group()) for match in regex.finditer(pattern, text)) < len(text)


def first_difference(one, other, text):  # type: ignore[no-untyped-def]
    """Return the first place where two patterns cut differently: (start, one's piece, other's).

    `start` is the index in `text` at which both pieces begin. None if they cut the text alike.
    """
    start = 0
    for a, b in zip(Split(one).split(text), Split(other).split(text)):
        if a != b:
            return start, a, b
        start += len(a)  # both have come equally far
    return None


def digits_from_the_right():  # type: ignore[no-untyped-def]
    """Return a pattern for Split that cuts "1234567" into "1", "234", "567".

    "123456" becomes "123", "456". Every other character is a piece of its own.
    """
    return r"\d{1,3}(?=(?:\d{3})*(?!\d))|\D"


def split_blocks(blocks, name):  # type: ignore[no-untyped-def]
    """Yield the pieces of a text that arrives in blocks (an iterable of str).

    They are exactly the pieces that Split(name).split gives for the blocks joined.
    """
    split, kept = Split(name).split, ""
    for block in blocks:
        kept += block
        cut = last_safe_cut(kept, len(kept))  # 0 where there is no safe place: then all of it is kept
        yield from split(kept[:cut])
        kept = kept[cut:]
    yield from split(kept)


def _use(answer: Any, text: str) -> Any:
    return answer()


def _cut(result: Any, text: str) -> Any:
    return Split(result).split(text) if isinstance(result, str) else result


def _show_cut(name: str, text: str) -> str:
    return f"Split({name}()).split({code(text)})"


def _texts() -> Iterator[tuple[str]]:
    for text in TEXTS:
        yield (text,)


def _with_patterns() -> Iterator[tuple[str, str]]:
    for text in TEXTS:
        for pattern in (*CARELESS, PATTERNS["gpt2"].regex):
            yield pattern, text


def _with_two() -> Iterator[tuple[str, str, str]]:
    pairs = (("gpt2", "cl100k"), ("cl100k", "qwen2"), ("o200k", "cl100k"), ("gpt2", "gpt2"))
    for number, text in enumerate(TEXTS):
        yield (*pairs[number % 4], text)
    for one, other in pairs:
        yield one, other, " ".join(TEXTS)


def _blocks() -> Iterator[tuple[list[str], str]]:
    yield [], "gpt2"
    for text in TEXTS:
        yield [text[: len(text) // 2], text[len(text) // 2 :]], "gpt2"
    for text in TEXTS[-8:]:
        yield [text[:-1], text[-1:]], "cl100k"
    yield list("we'll see"), "gpt2"
    yield list("two words,  and don't\n\n stop"), "cl100k"
    yield ["1" * 30, "1" * 30, "a", " b"], "cl100k"


EXERCISES = [
    Exercise(
        "5.1",
        "Digits in pairs",
        digits_in_pairs,
        _texts,
        (
            'PATTERNS["cl100k"].regex is the pattern.',
            r"One part of it, \p{N}{1,3}+, takes up to three digits. Replace the number.",
        ),
        call=_use,
        observe=_cut,
        shown=_show_cut,
    ),
    Exercise(
        "5.2",
        "Is anything lost?",
        leaves_gaps,
        _with_patterns,
        (
            "regex.finditer gives the matches, and no two of them overlap.",
            "If nothing is lost, the lengths of the matches add up to the length of the text.",
        ),
        allowed=lambda pattern, text: pattern in CARELESS or pattern == PATTERNS["gpt2"].regex,
    ),
    Exercise(
        "5.3",
        "Where two patterns part",
        first_difference,
        _with_two,
        (
            "Split with both, and go through the two lists side by side with zip.",
            "Add up the lengths of the equal pieces: that is where the first unequal ones begin.",
        ),
        allowed=lambda one, other, text: one in PATTERNS and other in PATTERNS,
    ),
    Exercise(
        "5.4",
        "Thousands",
        digits_from_the_right,
        _texts,
        (
            r"One to three digits, \d{1,3}, are a piece if what follows is a whole number of threes and then no digit.",
            r"A look-ahead says that: (?=(?:\d{3})*(?!\d)). For every other character add |\D.",
        ),
        call=_use,
        observe=_cut,
        shown=_show_cut,
    ),
    Exercise(
        "5.5",
        "A file in blocks",
        split_blocks,
        _blocks,
        (
            "Keep what has not been cut yet. last_safe_cut(kept, len(kept)) says how much of it is settled.",
            "Yield the pieces of the settled part and keep the rest. At the end, yield those of what is kept.",
        ),
        observe=lambda result, *arguments: listed(result),
        allowed=lambda blocks, name: name in PATTERNS,
        shown=lambda name, *arguments: f"list({name}({', '.join(map(code, arguments))}))",
    ),
]
