"""The search for added tokens in a text, leftmost and longest.

One regular expression, built from the tokens' first characters, finds candidates; a sorted list of tokens then tells
which of them matches. It is separate from `added_tokens.py` because most texts are encoded without a search.

Chapter: Special tokens. Cost: one search over the text, and a binary search among the tokens with the same prefix at
each position where one could start. Source: `added_vocabulary.rs` in Hugging Face tokenizers.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ..unicode.tables import class_body, property_ranges
from .added_tokens import AddedToken, Span

LONGEST_PREFIX = 4
MOST_PREFIXES = 2_000


@lru_cache(1)
def _word() -> re.Pattern[str]:
    return re.compile(f"[{class_body(property_ranges('Word'))}]")


@lru_cache(1)
def _spaces() -> frozenset[str]:
    return frozenset(chr(code) for first, last in property_ranges("White_Space") for code in range(first, last + 1))


def _sorted(strings: Iterable[str]) -> tuple[list[str], list[int], int]:
    """Return the sorted strings, the index of each one's longest proper prefix among them (or -1), and the top length.

    >>> _sorted({"b", "ab", "a", "abc"})
    (['a', 'ab', 'abc', 'b'], [-1, 0, 1, -1], 3)
    """
    ordered = sorted(strings)
    shorter: list[int] = []
    for offset, string in enumerate(ordered):
        at = offset - 1
        while at >= 0 and not string.startswith(ordered[at]):
            at = shorter[at]
        shorter.append(at)
    return ordered, shorter, max(map(len, ordered))


def _pattern(prefixes: Iterable[str]) -> str:
    """Return a regular expression that matches the longest of `prefixes` and tests each character once.

    Nested by first characters, it rejects most positions of a text after one test. A flat list of alternatives would be
    tried from its start at each position where any of them could match.

    >>> _pattern(["<a", "<b", "ca", "c", "da"])
    '(?:<[ab]|c(?:a)?|da)'
    """
    rests: dict[str, list[str]] = {}
    for prefix in sorted(set(prefixes)):
        rests.setdefault(prefix[0], []).append(prefix[1:])
    firsts: dict[str, list[str]] = {}  # the pattern of what follows -> the characters before it
    for first, following in rests.items():
        more = _pattern(rest for rest in following if rest) if any(following) else ""
        firsts.setdefault(f"(?:{more})?" if more and "" in following else more, []).append(re.escape(first))
    parts = [(f"[{''.join(chars)}]" if len(chars) > 1 else chars[0]) + more for more, chars in firsts.items()]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


class AddedTokenMatcher:
    """A matcher that finds added tokens in texts, leftmost and longest.

    >>> finder = AddedTokenMatcher([("<a>", AddedToken("<a>", 7)), ("<a><b>", AddedToken("<a><b>", 8))])
    >>> [(start, stop, token.id) for start, stop, token in finder.find("x<a><b><a>", lambda token: True)]
    [(1, 7, 8), (7, 10, 7)]
    """

    def __init__(self, tokens: Iterable[tuple[str, AddedToken]]) -> None:
        self.tokens: dict[str, AddedToken] = {}
        for string, token in tokens:
            if string:
                self.tokens.setdefault(string, token)
        sizes = range(LONGEST_PREFIX, 1, -1)
        size = next((n for n in sizes if len({s[:n] for s in self.tokens}) <= MOST_PREFIXES), 1)
        groups: dict[str, set[str]] = {}
        for string in self.tokens:
            groups.setdefault(string[:size], set()).add(string)
        for prefix in groups:  # a token shorter than the prefix may match too
            groups[prefix] |= {prefix[:n] for n in range(1, len(prefix)) if prefix[:n] in self.tokens}
        self._groups = {prefix: _sorted(strings) for prefix, strings in groups.items()}
        self._candidates = re.compile(_pattern(groups)) if groups else None

    def _matches_at(self, text: str, start: int, prefix: str) -> Iterator[str]:
        """Yield the tokens that occur at `start`, where their `prefix` does, the longest first."""
        strings, shorter, longest = self._groups[prefix]
        here = text[start : start + longest]
        at = bisect_right(strings, here) - 1  # any match is this string, or a prefix of it
        while at >= 0:
            if here.startswith(strings[at]):
                yield strings[at]
            at = shorter[at]

    def first(self, text: str, position: int) -> tuple[int, int, AddedToken] | None:
        """Return (start, stop, token) of the first token from `position` on, whatever its flags, or None."""
        if self._candidates is None:
            return None
        while match := self._candidates.search(text, position):
            start = match.start()
            if (string := next(self._matches_at(text, start, match[0]), None)) is not None:
                return start, start + len(string), self.tokens[string]
            position = start + 1
        return None

    def find(self, text: str, is_allowed: Callable[[AddedToken], bool]) -> Iterator[tuple[int, int, AddedToken]]:
        """Yield (start, stop, token) for each token in `text`, including the white space that it strips.

        A token for which `is_allowed` is False hides the tokens inside it that aren't special, and nothing else.
        """
        position = covered = hidden = 0
        while (found := self.first(text, position)) is not None:
            start, stop, token = found
            if not is_allowed(token):
                position, hidden = start + 1, stop if start >= hidden else hidden
                continue
            if start < hidden and not token.special:
                position = start + 1
                continue
            position = stop
            if token.single_word and not self._is_single_word(text, start, stop):
                continue
            start, stop = _strip_span(text, start, stop, token, covered)
            if start < stop:  # else the previous token has taken it all
                yield start, stop, token
                covered = stop

    def find_where(
        self, text: str, accept: Callable[[int, int, AddedToken], bool]
    ) -> Iterator[tuple[int, int, AddedToken]]:
        """Yield what `find` yields, but only the matches for which `accept(start, stop, token)` is true.

        Of several that start at one position, the longest accepted one wins. A rejected token hides nothing.
        """
        position = covered = 0
        while self._candidates is not None and (match := self._candidates.search(text, position)):
            start, position = match.start(), match.start() + 1
            for string in self._matches_at(text, start, match[0]):
                token, stop = self.tokens[string], start + len(string)
                if accept(start, stop, token):
                    position = stop
                    if not token.single_word or self._is_single_word(text, start, stop):
                        start, stop = _strip_span(text, start, stop, token, covered)
                        if start < stop:
                            yield start, stop, token
                            covered = stop
                    break

    def _is_single_word(self, text: str, start: int, stop: int) -> bool:
        return not (start and _word().match(text, start - 1)) and not _word().match(text, stop)

    def spans(self, text: str, is_allowed: Callable[[AddedToken], bool]) -> Iterator[Span]:
        """Yield segments and tokens in order; a token may start inside white space that the previous one stripped."""
        end = 0
        for start, stop, token in self.find(text, is_allowed):
            if start > end:
                yield end, start, None
            yield start, stop, token.id
            end = stop
        if end < len(text):
            yield end, len(text), None

    def split(self, text: str, is_allowed: Callable[[AddedToken], bool]) -> Iterator[tuple[str, int | None]]:
        """Yield ordinary segments as (text, None) and tokens as (their text, id), in order."""
        return ((text[start:stop], token_id) for start, stop, token_id in self.spans(text, is_allowed))


def _strip_span(text: str, start: int, stop: int, token: AddedToken, covered: int) -> tuple[int, int]:
    """Return a token's span with the white space that it strips, except what the previous token has taken."""
    if token.lstrip:
        while start > covered and text[start - 1] in _spaces():
            start -= 1
        start = max(start, covered)
    while token.rstrip and stop < len(text) and text[stop] in _spaces():
        stop += 1
    return start, stop
