"""Added tokens in a text that arrives in parts: what can be searched already, and what may be a token's beginning.

A text is settled up to the last position that no token spans, neither one that is there nor one that may still
come: the end of what has arrived is compared with the beginnings of all tokens. Tokens that take white space with them,
or look at the character beside them, hold that too. Chapter: Streaming. Cost: for each position that is tried, one look
at the characters before it, as many as the longest token has.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..texts.text_buffer import Chain, add, joined
from ..vocab.added_token_matcher import AddedTokenMatcher, _spaces, _word
from ..vocab.added_tokens import AddedToken


class MatchState(NamedTuple):
    """What has arrived and is not settled: older text, and the end that is looked at."""

    older: Chain
    tail: str


class StreamMatcher:
    """Finds the tokens of `matcher` in a text that arrives in parts."""

    start = MatchState(None, "")

    def __init__(self, matcher: AddedTokenMatcher, wanted: Callable[[AddedToken], bool]) -> None:
        self._matcher, self._wanted = matcher, wanted
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
        """Return the new state, and the text that is settled."""
        if self._firsts is None:
            return state, text
        window = state.tail + text
        low = 0 if state.older is None else self._longest
        offset = self._last_boundary(window, low)
        if offset > low:
            return MatchState(None, window[offset:]), joined(add(state.older, window[:offset]))
        kept = max(0, len(window) - 2 * self._longest - 2)
        return MatchState(add(state.older, window[:kept]), window[kept:]), ""

    def buffered(self, state: MatchState) -> str:
        """Return what is not settled."""
        return joined(add(state.older, state.tail))

    def split(self, text: str) -> Iterator[tuple[str, int | None]]:
        """Return what is between the tokens of a text that is settled, and their ids."""
        return ((text[start:stop], token_id) for start, stop, token_id in self._matcher.spans(text, self._wanted))

    def find(self, text: str) -> Iterator[tuple[int, int, AddedToken]]:
        """As `AddedTokenMatcher.find`, for a text that is settled."""
        return self._matcher.find(text, self._wanted)

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
        """Return where a token begins, or may begin, that spans the position; None without one."""
        assert self._firsts is not None
        for match in self._firsts.finditer(text, max(0, offset - self._longest + 1), offset):
            start, lengths = match.start(), self._lengths[match[0]]
            for length in lengths:
                if offset < start + length <= len(text) and text[start : start + length] in self._matcher.tokens:
                    return start
            if start + max(lengths) > len(text):
                rest = text[start:]
                at = bisect_left(self._sorted, rest)
                at += at < len(self._sorted) and self._sorted[at] == rest
                if at < len(self._sorted) and self._sorted[at].startswith(rest):
                    return start
        return None

    def _context(self, a: str, b: str) -> bool:
        """Whether a token with flags may look past the boundary between `a` and `b`."""
        if self._before_left and a in _spaces() and (b in _spaces() or b in self._before_left):
            return True
        if self._behind_right and b in _spaces() and (a in _spaces() or a in self._behind_right):
            return True
        starts = b in self._word_starts and _word().match(a) is not None
        return starts or (a in self._word_ends and _word().match(b) is not None)
