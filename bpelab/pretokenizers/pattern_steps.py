"""Pattern steps: the patterns with which C splits a text, in order, as a pre-tokenizer does in Python.

If a match is one character of a class S, the behaviour becomes part of the pattern: MergedWithPrevious, for example, is
`[^S]+S?|S`. For any other pattern, the matches or the gaps can be dropped, since a DFA can tell them apart. Each
pre-tokenizer builds its steps with these functions, in its method `pattern_steps`.

Chapter: Native code. Cost: looking up character classes, 5 ms once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .base import ALL, GAPS, MATCHES

if TYPE_CHECKING:
    from ..regex.charsets import Dialect
    from ..unicode.tables import Ranges

CLASS_PATTERNS = {
    "Isolated": "[{0}]|[^{0}]+",
    "Contiguous": "[{0}]+|[^{0}]+",
    "MergedWithPrevious": "[^{0}]+[{0}]?|[{0}]",
    "MergedWithNext": "[{0}]?[^{0}]+|[{0}]",
}


class PatternStep(NamedTuple):
    """A pattern, which of its pieces are kept, its dialect, and a string that any text it splits must contain."""

    pattern: str
    keep: int = ALL
    dialect: Dialect = "rust"
    required: str = ""


def class_step(ranges: Ranges, behavior: str) -> PatternStep:
    """Return the step that splits at each character in `ranges`, with a split behaviour.

    >>> class_step(((48, 57),), "Contiguous").pattern
    '[\\\\x{30}-\\\\x{39}]+|[^\\\\x{30}-\\\\x{39}]+'
    """
    body = class_body(ranges)
    return (
        PatternStep(f"[{body}]", GAPS) if behavior == "Removed" else PatternStep(CLASS_PATTERNS[behavior].format(body))
    )


def regex_step(pattern: str, behavior: str, invert: bool, dialect: Dialect) -> PatternStep | None:
    """Return the step for a regular expression; None if C doesn't support the behaviour."""
    if behavior == "Isolated":
        return PatternStep(pattern, ALL, dialect)
    if behavior == "Removed":
        return PatternStep(pattern, MATCHES if invert else GAPS, dialect)
    return None


def string_step(text: str, behavior: str) -> PatternStep | None:
    """Return the step that splits at each `text`; None if C doesn't support the behaviour."""
    escaped = "".join(f"\\x{{{ord(char):X}}}" for char in text)
    if len(text) == 1 and behavior in CLASS_PATTERNS:
        return PatternStep(CLASS_PATTERNS[behavior].format(escaped), required=text)
    if text and behavior in ("Isolated", "Removed"):
        return PatternStep(escaped, GAPS if behavior == "Removed" else ALL, required=text)
    return None


def class_body(ranges: Ranges) -> str:
    """Return `ranges` as the body of a character class, in a pattern for C."""
    return "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in ranges)
