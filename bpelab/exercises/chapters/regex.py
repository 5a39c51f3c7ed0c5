"""The exercises of *Regex pre-tokenization*."""

from collections.abc import Iterator
from typing import Any

from ...boundaries.named_patterns import last_boundary
from ...notebook.messages import code
from ...pretokenizers.split import Split
from ...regex.patterns import PATTERNS
from ..exercise import Exercise
from ..plain_data import to_list

TEXTS = (
    "", "1", "12", "123", "1234", "12345", "123456", "1234567", "a", "ab", " a", "a1", "1a", " 1", "a b", "a  b", "a\n",
    "\n\na", " \n",
    "Don't", "DON'T", "x=12345;", "in 2024, 1.5 km", "naïve café", "日本 7", "a\r\n\r\nb", "  \n  x", "a\n ",
    "12 345 6",
)  # fmt: skip
CARELESS = (r"\w+", r"\w+|\s+", r"[a-z]+|[^a-z\n]", r"\S+|\s", r".", r"\p{L}+|\p{N}+| ")


def digits_in_pairs():
    """Return cl100k's pattern (a str for Split), changed to cut numbers into pairs of digits."""
    return PATTERNS["cl100k"].regex.replace("{1,3}", "{1,2}")


def leaves_gaps(pattern, text):
    """Return True if some character of `text` is in no match of `pattern`.

    `pattern` is a regular expression for the `regex` package.
    """
    import regex

    return sum(len(match.group()) for match in regex.finditer(pattern, text)) < len(text)


def first_difference(one, other, text):
    """Return the first place where two patterns cut differently: (start, one's piece, other's).

    `start` is the index in `text` at which both pieces begin. None if they cut the text alike.
    """
    start = 0
    for a, b in zip(Split(one).split(text), Split(other).split(text)):
        if a != b:
            return start, a, b
        start += len(a)  # both have reached the same position
    return None


def digits_from_the_right():
    """Return a pattern for Split that cuts "1234567" into "1", "234", "567".

    "123456" becomes "123", "456". Every other character is a piece of its own.
    """
    return r"\d{1,3}(?=(?:\d{3})*(?!\d))|\D"


def split_blocks(blocks, name):
    """Yield the pieces of a text that arrives in blocks (an iterable of str).

    They are exactly the pieces that Split(name).split returns for the blocks joined.
    """
    split, pending = Split(name).split, ""
    for block in blocks:
        pending += block
        cut = last_boundary(pending, len(pending))  # 0 if there is no boundary: then all of it is kept
        yield from split(pending[:cut])
        pending = pending[cut:]
    yield from split(pending)


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
    for index, text in enumerate(TEXTS):
        yield (*pairs[index % 4], text)
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


def split(pattern, text):
    """Return the pieces of `text`, a list of str: the matches of `pattern`, and what is between them.

    `pattern` is a regular expression for the `regex` package. Joined, the pieces are the text.

    split("[a-z]+", "ab--cd") is ["ab", "--", "cd"].
    """
    import regex

    pieces, end = [], 0
    for match in regex.finditer(pattern, text):
        pieces += [text[end : match.start()], match.group()]
        end = match.end()
    return [piece for piece in [*pieces, text[end:]] if piece]


def _patterns_and_texts() -> Iterator[tuple[str, str]]:
    for pattern in ("[a-z]+", r"\s+", r"\p{N}{1,3}", "x*", PATTERNS["gpt2"].regex, PATTERNS["cl100k"].regex):
        for text in ("", "ab", "ab--cd!", "Don't, 12345", "  é\n\n日本 ", "xxyx"):
            yield pattern, text


EXERCISES = [
    Exercise(
        "regex.1",
        "Digits in pairs",
        digits_in_pairs,
        _texts,
        (
            'PATTERNS["cl100k"].regex is the pattern.',
            r"One part of it, \p{N}{1,3}+, takes up to three digits. Replace the number.",
        ),
        level="easy",
        next_step="How many tokens does `12345678` take under both patterns?",
        call=_use,
        observe=_cut,
        format_call=_show_cut,
    ),
    Exercise(
        "regex.2",
        "Is anything lost?",
        leaves_gaps,
        _with_patterns,
        (
            "regex.finditer yields the matches, and no two of them overlap.",
            "If nothing is lost, the lengths of the matches add up to the length of the text.",
        ),
        level="easy",
        next_step="Libraries differ here: tiktoken drops what no match covers, and bpelab keeps it.",
        is_valid=lambda pattern, text: pattern in CARELESS or pattern == PATTERNS["gpt2"].regex,
    ),
    Exercise(
        "regex.3",
        "Where two patterns part",
        first_difference,
        _with_two,
        (
            "Split with both, and go through the two lists side by side with zip.",
            "Add up the lengths of the equal pieces: that is where the first unequal ones begin.",
        ),
        level="medium",
        next_step="Run it on `llama3` and `cl100k`, over the book and over text of your own.",
        is_valid=lambda one, other, text: one in PATTERNS and other in PATTERNS,
    ),
    Exercise(
        "regex.4",
        "Thousands",
        digits_from_the_right,
        _texts,
        (
            "One to three digits are a piece if a whole number of threes follows, and then no digit. "
            "A look-ahead, (?=...), asks for what follows without taking it.",
            r"Any number of threes is (?:\d{3})*, and no digit is (?!\d). "
            "Other characters need an alternative of their own.",
        ),
        level="medium",
        next_step="Try it on `1,234,567` and on `1234.5678`: after a separator the counting begins again.",
        call=_use,
        observe=_cut,
        format_call=_show_cut,
    ),
    Exercise(
        "regex.5",
        "A file in blocks",
        split_blocks,
        _blocks,
        (
            "Keep what has not been split yet. last_boundary(pending, len(pending)) says how much is settled.",
            "Yield the pieces of the settled part and keep the rest. At the end, yield those of what is pending.",
        ),
        level="hard",
        next_step='How much does yours hold back on a run of a million spaces? "Streaming" measures that.',
        observe=lambda result, *arguments: to_list(result),
        is_valid=lambda blocks, name: name in PATTERNS,
        format_call=lambda name, *arguments: f"list({name}({', '.join(map(code, arguments))}))",
    ),
    Exercise(
        "regex.6",
        "Your tokenizer: cut first",
        split,
        _patterns_and_texts,
        (
            "`for match in regex.finditer(pattern, text)` visits the matches, from match.start() to match.end().",
            "Before each match, and after the last, keep the text that no match covers. Leave empty pieces out.",
        ),
        level="easy",
        next_step="With `my_tokenizer('regex')` your file cuts text as GPT-2 and GPT-4 do.",
        is_valid=lambda pattern, text: False,
    ),
]
