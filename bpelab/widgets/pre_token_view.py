"""A text's pre-tokens, coloured by the alternative of the pattern that matched. Chapter: Regex pre-tokenization."""

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import accumulate
from typing import Any

from .._support.textio import utf8, valid_text
from ..errors import PatternError
from ..pretokenizers.split import Split
from ..regex.patterns import PATTERNS
from ..regex.translate import NotPortable, portable
from .base import Figure
from .library import published_patterns
from .page_automaton import page_automaton
from .visible import chips, pluralize, visible

DESCRIPTIONS = {
    r"'(?:[sdmt]|ll|ve|re)": "an ending after an apostrophe",
    r"'(?i:[sdmt]|ll|ve|re)": "an ending after an apostrophe",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)": "an ending after an apostrophe",
    r" ?\p{L}++": "letters, perhaps after one space",
    r" ?\p{N}++": "digits, perhaps after one space",
    r" ?[^\s\p{L}\p{N}]++": "signs, perhaps after one space",
    r"[^\r\n\p{L}\p{N}]?+\p{L}++": "letters, perhaps after one other character",
    r"[^\r\n\p{L}\p{N}]?\p{L}+": "letters, perhaps after one other character",
    r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+": "letters and marks, perhaps after one other character",
    r"\p{N}{1,3}+": "one to three digits",
    r"\p{N}{1,3}": "one to three digits",
    r"\p{N}": "one digit",
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+": "signs, perhaps after one space, with line ends",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*": "signs, perhaps after one space, with line ends",
    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*": "signs, perhaps after one space, with line ends",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*": "signs, perhaps after one space, with line ends and slashes",
    r"[\p{Han}]+": "Chinese characters",
    r"\s++$": "white space at the end of the text",
    r"\s*[\r\n]": "white space up to a line end",
    r"\s*[\r\n]+": "white space up to a line end",
    r"\s+(?!\S)": "white space but its last character",
    r"\s+": "white space",
    r"\s": "one white space character",
    r" ?[^\s\p{L}\p{N}]{2,}[\r\n/]*": "two and more punctuation marks or symbols, and line ends after them",
    r" +(?!\S)": "spaces but the last of them",
}
"""Descriptions of what the alternatives of the named patterns match."""
O200K_DESCRIPTIONS = (
    "a word, capitals only in front, perhaps after one other character",
    "a word that begins with capitals",
)


def alternatives(pattern: str) -> list[str]:
    r"""Return the alternatives of a pattern, split at each `|` outside groups and classes.

    >>> alternatives(r"'(?:s|t)|[|]|\||x")
    ["'(?:s|t)", '[|]', '\\|', 'x']
    """
    parts, start, depth, at = [], 0, 0, 0
    opened: int | None = None  # the index of the first character inside an open class
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


for _name in ("o200k", "tekken", "kimi-k2"):
    _words = [part for part in alternatives(PATTERNS[_name].regex) if part not in DESCRIPTIONS]
    DESCRIPTIONS |= dict(zip(_words, O200K_DESCRIPTIONS))


@lru_cache(64)
def _compiled(alternative: str) -> Any:
    try:
        return re.compile(portable(alternative)[0])
    except NotPortable:
        import regex  # Split has compiled the whole pattern with it

        return regex.compile(alternative, regex.V1 if "&&" in alternative else 0)  # V1 has && in classes


def _alternatives(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, or the whole pattern as one if they don't compile by themselves."""
    parts = alternatives(pattern)
    try:
        for part in parts:
            _compiled(part)
    except Exception:  # a reference to a group of another alternative, say; each engine has errors of its own
        return [pattern]
    return [pattern] if re.match(r"\(\?[a-zA-Z]+\)", pattern) else parts  # a flag for all of them


class PreTokenView(Figure):
    """The pieces of `text` under two or more patterns, side by side, with the places where their cuts differ marked.

    A piece has the colour of the first alternative that matches where it starts. `patterns` are names, regular
    expressions, or a dict of title -> either. Shows 3,000 characters. Raises PatternError for an invalid pattern.

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
            raise PatternError(f"patterns must be a list of patterns, such as ('gpt2', 'cl100k'), not {patterns!r}")
        self._splits = {title: Split(pattern) for title, pattern in named.items()}
        self._alternatives = {title: _alternatives(split.pattern) for title, split in self._splits.items()}
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return panels with pieces; `differ` lists the characters before which only some of the patterns cut."""
        cuts = {title: split.split(text) for title, split in self._splits.items()}
        starts = [set(accumulate(map(len, pieces), initial=0)) for pieces in cuts.values()]
        differ = sorted(starts[0].union(*starts) - starts[0].intersection(*starts))
        panels = []
        for title, pieces in cuts.items():
            entries, start = [], 0
            for piece in pieces:
                end = start + len(piece)
                inside = [start, *(offset for offset in differ if start < offset < end), end]
                segments = [visible(utf8(text[a:b])) for a, b in zip(inside, inside[1:])]
                matched = self._matching_alternative(title, text, start, end)
                entries.append({"start": start, "end": end, "alternative": matched, "segments": segments})
                start = end
            uses = [entry["alternative"] for entry in entries]
            shown_alternatives = [
                {
                    "regex": valid_text(alternative),
                    "words": DESCRIPTIONS.get(alternative, ""),
                    "count": uses.count(index),
                }
                for index, alternative in enumerate(self._alternatives[title])
            ]
            panels.append({"title": valid_text(title), "pieces": entries, "alternatives": shown_alternatives})
        counts = ", ".join(f"{panel['title']} {pluralize(len(panel['pieces']), 'piece')}" for panel in panels)
        say = f"{counts}. "
        if len(panels) > 1:
            say += f"The cuts differ in {pluralize(len(differ), 'place')}." if differ else "All cuts are the same."
        return {"panels": panels, "differ": differ, "say": say.strip() if text else "No text, so no pieces."}

    def for_own_text(self) -> dict[str, Any] | None:
        """Return the patterns, as tokenizers without merges, and an automaton for each of their alternatives."""
        patterns = [(split.pattern, split.dialect) for split in self._splits.values()]
        automata = [[page_automaton(each) for each in parts] for parts in self._alternatives.values()]
        if not published_patterns().issuperset(patterns) or any(None in parts for parts in automata):
            return None
        tokenizers = [{"pattern": pattern, "merges": [], "specials": []} for pattern in patterns]
        return {"tokenizers": tokenizers, "automata": automata}

    def _matching_alternative(self, title: str, text: str, start: int, end: int) -> int | None:
        """Return the first alternative that matches at `start`; None for a gap that the pattern leaves."""
        for index, alternative in enumerate(self._alternatives[title]):
            match = _compiled(alternative).match(text, start)
            if match is not None and match.end() > start:
                return index if match.end() == end else None
        return None

    def still(self, data: dict[str, Any]) -> str:
        """Return the pieces, one pattern below the other."""
        rows = "\n".join(
            f"<p>{escape(valid_text(title))}: {chips(map(utf8, split.split(self.text)))}</p>"
            for title, split in self._splits.items()
        )
        return f"<p>{escape(data['say'])}</p>\n{rows}"
