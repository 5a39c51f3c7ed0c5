"""Match added tokens in text that arrives in parts: what is settled, and what may be the start of a token.

A text is settled up to the last position that no token spans, whether complete or still arriving: the end of the text
so far is compared with the beginnings of all tokens. Tokens that strip white space, or look at the character beside
them, hold that back too. Chapter: Streaming. Cost: for each position tried, one look at the characters before it, as
many as the longest token has.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..texts.text_buffer import Chain, add, join
from ..vocab.added_token_matcher import AddedTokenMatcher, _spaces, _word
from ..vocab.added_tokens import AddedToken


class MatchState(NamedTuple):
    """The text that isn't settled yet: an older part, and the end that is searched."""

    older: Chain
    tail: str


class StreamMatcher:
    """A matcher for the tokens of `matcher` in a text that arrives in parts."""

    start = MatchState(None, "")

    def __init__(self, matcher: AddedTokenMatcher, is_allowed: Callable[[AddedToken], bool]) -> None:
        self._matcher, self._is_allowed = matcher, is_allowed
        tokens = matcher.tokens
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

    def push(self, state: MatchState, text: str) -> tuple[MatchState, str]:
        """Return the new state, and the text that is now settled."""
        if self._firsts is None:
            return state, text
        window = state.tail + text
        low = 0 if state.older is None else self._longest
        offset = self._last_boundary(window, low)
        if offset > low:
            return MatchState(None, window[offset:]), join(add(state.older, window[:offset]))
        kept = max(0, len(window) - 2 * self._longest - 2)
        return MatchState(add(state.older, window[:kept]), window[kept:]), ""

    def buffered(self, state: MatchState) -> str:
        """Return the text that isn't settled yet."""
        return join(add(state.older, state.tail))

    def split(self, text: str) -> Iterator[tuple[str, int | None]]:
        """Return the segments of a settled text, and the ids of the added tokens between them."""
        return ((text[start:stop], token_id) for start, stop, token_id in self._matcher.spans(text, self._is_allowed))

    def find(self, text: str) -> Iterator[tuple[int, int, AddedToken]]:
        """Do what `AddedTokenMatcher.find` does, for a settled text."""
        return self._matcher.find(text, self._is_allowed)

    def _last_boundary(self, text: str, low: int) -> int:
        offset = len(text) - self._looks_beside
        while offset > low:
            begun = self._open_match(text, offset)
            if begun is not None:
                offset = begun
            elif self._looks_beside and self._context(text[offset - 1], text[offset]):
                offset -= 1
            else:
                return offset
        return low

    def _open_match(self, text: str, offset: int) -> int | None:
        """Return the start of a token, complete or still arriving, that spans the position, or None."""
        assert self._firsts is not None
        for match in self._firsts.finditer(text, max(0, offset - self._longest + 1), offset):
            start, lengths = match.start(), self._lengths[match[0]]
            for length in lengths:
                if offset < start + length <= len(text) and text[start : start + length] in self._matcher.tokens:
                    return start
            if start + max(lengths) > len(text):
                rest = text[start:]
                at = bisect_left(self._sorted, rest)
                if at < len(self._sorted) and self._sorted[at] == rest:
                    at += 1  # the rest is this token, complete: a longer one may still follow it
                if at < len(self._sorted) and self._sorted[at].startswith(rest):
                    return start
        return None

    def _context(self, a: str, b: str) -> bool:
        """Return whether a token with flags may look past the boundary between `a` and `b`."""
        if self._before_left and a in _spaces() and (b in _spaces() or b in self._before_left):
            return True
        if self._behind_right and b in _spaces() and (a in _spaces() or a in self._behind_right):
            return True
        starts = b in self._word_starts and _word().match(a) is not None
        return starts or (a in self._word_ends and _word().match(b) is not None)
