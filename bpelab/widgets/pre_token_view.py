"""A text in pieces, coloured by the alternative of the pattern that matched. Chapter: Regex pre-tokenization."""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import accumulate
from typing import Any

from ..errors import PatternError
from ..pretokenizers.patterns import PATTERNS
from ..pretokenizers.portable import NotPortable, portable
from ..pretokenizers.split import Split
from ..textio import utf8, valid_text
from .base import Figure
from .visible import chips, number, visible

WORDS = {
    r"'(?:[sdmt]|ll|ve|re)": "an ending after an apostrophe",
    r"'(?i:[sdmt]|ll|ve|re)": "an ending after an apostrophe",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)": "an ending after an apostrophe",
    r" ?\p{L}++": "letters, perhaps after one space",
    r" ?\p{N}++": "digits, perhaps after one space",
    r" ?[^\s\p{L}\p{N}]++": "signs, perhaps after one space",
    r"[^\r\n\p{L}\p{N}]?+\p{L}++": "letters, perhaps after one other character",
    r"[^\r\n\p{L}\p{N}]?\p{L}+": "letters, perhaps after one other character",
    r"\p{N}{1,3}+": "one to three digits",
    r"\p{N}{1,3}": "one to three digits",
    r"\p{N}": "one digit",
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+": "signs, perhaps after one space, with line ends",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*": "signs, perhaps after one space, with line ends",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*": "signs, perhaps after one space, with line ends and slashes",
    r"\s++$": "white space at the end of the text",
    r"\s*[\r\n]": "white space up to a line end",
    r"\s*[\r\n]+": "white space up to a line end",
    r"\s+(?!\S)": "white space but its last character",
    r"\s+": "white space",
    r"\s": "one white space character",
}
"""What the alternatives of the named patterns match."""
O200K_WORDS = ("a word, capitals only in front, perhaps after one other character", "a word that begins with capitals")


def alternatives(pattern: str) -> list[str]:
    r"""The alternatives of a pattern, cut at each `|` that stands in no group and no class.

    >>> alternatives(r"'(?:s|t)|[|]|\||x")
    ["'(?:s|t)", '[|]', '\\|', 'x']
    """
    parts, start, depth, at = [], 0, 0, 0
    opened: int | None = None  # where the first character of a class may stand
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif opened is not None:
            opened = None if char == "]" and at > opened else opened
        elif char == "[":
            opened = at + 2 if pattern[at + 1 : at + 2] == "^" else at + 1
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*parts, pattern[start:]]


WORDS |= dict(zip(alternatives(PATTERNS["o200k"].regex), O200K_WORDS))


@lru_cache(64)
def _compiled(alternative: str) -> Any:
    try:
        return re.compile(portable(alternative)[0])
    except NotPortable:
        import regex  # Split has compiled the whole pattern with it

        return regex.compile(alternative)


def _choices(pattern: str) -> list[str]:
    """The alternatives of a pattern, or the whole of it where they can't stand alone."""
    parts = alternatives(pattern)
    try:
        for part in parts:
            _compiled(part)
    except Exception:  # a reference to a group of another alternative, say; each engine has errors of its own
        return [pattern]
    return [pattern] if re.match(r"\(\?[a-zA-Z]+\)", pattern) else parts  # a flag for all of them


class PreTokenView(Figure):
    """The pieces of `text` under two or more patterns, side by side, with the places where their cuts differ marked.

    A piece has the colour of the first alternative that matches where it begins. `patterns` are names, regular
    expressions, or a dict of title -> either. Shows 3,000 characters. Raises PatternError for a pattern that is none.

    >>> view = PreTokenView("Don't! 1234", ("gpt2", "cl100k"))
    >>> [[piece["alternative"] for piece in panel["pieces"]] for panel in view.data["panels"]]
    [[1, 0, 3, 2], [1, 0, 3, 7, 2, 2]]
    >>> view.data["differ"]
    [7, 10]
    """

    name = "pre_token_view"
    limit = 3000

    def __init__(self, text: str, patterns: Sequence[str] | dict[str, str] = ("gpt2", "cl100k")) -> None:
        named = patterns if isinstance(patterns, dict) else {pattern: pattern for pattern in patterns}
        if isinstance(patterns, str) or not named:
            raise PatternError(f"patterns is a list of patterns, ('gpt2', 'cl100k') say, not {patterns!r}")
        self._splits = {title: Split(pattern) for title, pattern in named.items()}
        self._choices = {title: _choices(split.pattern) for title, split in self._splits.items()}
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Panels with pieces; `differ` are the characters before which only some of the patterns cut."""
        cuts = {title: split.split(text) for title, split in self._splits.items()}
        starts = [set(accumulate(map(len, pieces), initial=0)) for pieces in cuts.values()]
        differ = sorted(starts[0].union(*starts) - starts[0].intersection(*starts))
        panels = []
        for title, pieces in cuts.items():
            entries, start = [], 0
            for piece in pieces:
                end = start + len(piece)
                inside = [start, *(place for place in differ if start < place < end), end]
                segments = [visible(utf8(text[a:b])) for a, b in zip(inside, inside[1:])]
                matched = self._matched(title, text, start, end)
                entries.append({"start": start, "end": end, "alternative": matched, "segments": segments})
                start = end
            uses = [entry["alternative"] for entry in entries]
            choices = [
                {"regex": valid_text(choice), "words": WORDS.get(choice, ""), "count": uses.count(place)}
                for place, choice in enumerate(self._choices[title])
            ]
            panels.append({"title": valid_text(title), "pieces": entries, "alternatives": choices})
        counts = ", ".join(f"{panel['title']} {number(len(panel['pieces']), 'piece')}" for panel in panels)
        say = f"{counts}. "
        if len(panels) > 1:
            say += f"The cuts differ in {number(len(differ), 'place')}." if differ else "All cuts are the same."
        return {"panels": panels, "differ": differ, "say": say.strip() if text else "No text, so no pieces."}

    def _matched(self, title: str, text: str, start: int, end: int) -> int | None:
        """The first alternative that matches at `start`; None for a gap that the pattern leaves."""
        for place, choice in enumerate(self._choices[title]):
            match = _compiled(choice).match(text, start)
            if match is not None and match.end() > start:
                return place if match.end() == end else None
        return None

    def still(self, data: dict[str, Any]) -> str:
        """The pieces, one pattern below the other."""
        rows = "\n".join(
            f"<p>{escape(valid_text(title))}: {chips(map(utf8, split.split(self.text)))}</p>"
            for title, split in self._splits.items()
        )
        return f"<p>{escape(data['say'])}</p>\n{rows}"
