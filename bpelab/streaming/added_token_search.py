"""Added tokens in a text that arrives in parts: what can be searched already, and what may be a token's beginning.

A text is settled up to the last place that no token reaches over, neither one that is there nor one that may still
come: the end of what has arrived is compared with the beginnings of all tokens. Tokens that take white space with them,
or look at the character beside them, hold that too. Chapter: Streaming. Cost: for each place that is tried, one look at
the characters before it, as many as the longest token has.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..added_tokens import AddedToken
from ..finder import Finder, _spaces, _word
from .held import Chain, add, joined


class Found(NamedTuple):
    """What has arrived and is not settled: older text, and the end that is looked at."""

    older: Chain
    tail: str


class Search:
    """Finds the tokens of `finder` in a text that arrives in parts."""

    start = Found(None, "")

    def __init__(self, finder: Finder, wanted: Callable[[AddedToken], bool]) -> None:
        self._finder, self._wanted = finder, wanted
        tokens = finder._tokens
        self._sorted = sorted(tokens)
        self._longest = max(map(len, tokens), default=0)
        self._lengths: dict[str, list[int]] = {}
        for string in self._sorted:
            lengths = self._lengths.setdefault(string[0], [])
            if len(string) not in lengths:
                lengths.append(len(string))
        self._firsts = re.compile(f"[{''.join(map(re.escape, self._lengths))}]") if tokens else None
        self._before_left = {string[0] for string, token in tokens.items() if token.lstrip}
        self._behind_right = {string[-1] for string, token in tokens.items() if token.rstrip}
        self._word_starts = {string[0] for string, token in tokens.items() if token.single_word}
        self._word_ends = {string[-1] for string, token in tokens.items() if token.single_word}
        self._looks_beside = bool(self._before_left or self._behind_right or self._word_starts)

    def push(self, state: Found, text: str) -> tuple[Found, str]:
        """The new state, and the text that is settled."""
        if self._firsts is None:
            return state, text
        window = state.tail + text
        low = 0 if state.older is None else self._longest
        place = self._last_place(window, low)
        if place > low:
            return Found(None, window[place:]), joined(add(state.older, window[:place]))
        kept = max(0, len(window) - 2 * self._longest - 2)
        return Found(add(state.older, window[:kept]), window[kept:]), ""

    def held(self, state: Found) -> str:
        """What is not settled."""
        return joined(add(state.older, state.tail))

    def split(self, text: str) -> Iterator[tuple[str, int | None]]:
        """What is between the tokens of a text that is settled, and their ids."""
        return ((text[start:stop], token_id) for start, stop, token_id in self._finder.spans(text, self._wanted))

    def find(self, text: str) -> Iterator[tuple[int, int, AddedToken]]:
        """As `Finder.find`, for a text that is settled."""
        return self._finder.find(text, self._wanted)

    def _last_place(self, text: str, low: int) -> int:
        place = len(text) - self._looks_beside
        while place > low:
            begun = self._begun_before(text, place)
            if begun is not None:
                place = begun
            elif self._looks_beside and self._beside(text[place - 1], text[place]):
                place -= 1
            else:
                return place
        return low

    def _begun_before(self, text: str, place: int) -> int | None:
        """Where a token begins, or may begin, that reaches over the place; None if there is none."""
        assert self._firsts is not None
        for match in self._firsts.finditer(text, max(0, place - self._longest + 1), place):
            start, lengths = match.start(), self._lengths[match[0]]
            for length in lengths:
                if place < start + length <= len(text) and text[start : start + length] in self._finder._tokens:
                    return start
            if start + max(lengths) > len(text):
                rest = text[start:]
                at = bisect_left(self._sorted, rest)
                at += at < len(self._sorted) and self._sorted[at] == rest
                if at < len(self._sorted) and self._sorted[at].startswith(rest):
                    return start
        return None

    def _beside(self, a: str, b: str) -> bool:
        """Whether a token with flags may look over the place between `a` and `b`."""
        if self._before_left and a in _spaces() and (b in _spaces() or b in self._before_left):
            return True
        if self._behind_right and b in _spaces() and (a in _spaces() or a in self._behind_right):
            return True
        starts = b in self._word_starts and _word().match(a) is not None
        return starts or (a in self._word_ends and _word().match(b) is not None)
