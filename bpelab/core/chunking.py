"""Split a text into chunks of at most a given number of tokens, for search and retrieval.

Cutting the ids and decoding the parts would split characters, and a part may encode to more tokens than it had. So the
text is cut before a token's first character, and the chunk is encoded again on its own. If that takes too many tokens,
the cut moves back by one token.

Chapter: Encoding. Cost: linear; the text is encoded two or three times, once with offsets.
"""

from collections.abc import Callable

from .._support.validate import check_size

CHARACTERS = 4
"""Characters a token in the first window; later windows are somewhat longer than the previous chunk."""
SLACK = 8
"""Tokens that a window shows beyond a cut, so that its own end, perhaps in mid-word, doesn't influence the cut."""


Starts = Callable[[str], list[int]]
Count = Callable[[str], int]


def chunks(text: str, size: int, overlap: int, starts: Starts, count: Count) -> list[str]:
    """Return the chunks. `starts` returns the first character of each token of a text, `count` the number of tokens."""
    check_size(size, "size", 1)
    check_size(overlap, "overlap")
    if overlap >= size:
        raise ValueError(f"overlap={overlap} has to be less than size={size}, or no chunk would hold new text")
    found: list[str] = []
    start, end, window = 0, 0, CHARACTERS * size
    while end < len(text):
        begin = _overlapping(text, start, end, overlap, starts, count) if overlap and found else end
        new = _end(text, begin, size, window, starts, count)
        if new <= end:  # the overlap leaves no room for what follows
            begin, new = end, _end(text, end, size, window, starts, count)
        if new == begin:
            raise ValueError(f"the character {text[begin]!r} at {begin} takes more than size={size} tokens by itself")
        found.append(text[begin:new])
        start, end, window = begin, new, size + (new - begin) * 9 // 8
    return found


def _end(text: str, begin: int, size: int, window: int, starts: Starts, count: Count) -> int:
    """Return the end of the chunk that starts at `begin`; `begin` itself if not even one character fits."""
    while len(offsets := starts(text[begin : begin + window])) <= size + SLACK and begin + window < len(text):
        window *= 2
    if len(offsets) <= size:
        return len(text)
    for offset in sorted({1, *offsets[1 : size + 1]}, reverse=True):
        if offset and count(text[begin : begin + offset]) <= size:
            return begin + offset
    return begin


def _overlapping(text: str, start: int, end: int, overlap: int, starts: Starts, count: Count) -> int:
    """Return the offset in `text[start:end]` from which the next chunk repeats it: at most `overlap` tokens."""
    for offset in sorted(set(starts(text[start:end])[-overlap:]) - {0}):
        if count(text[start + offset : end]) <= overlap:
            return start + offset
    return end
