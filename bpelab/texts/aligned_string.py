"""String alignment: where in the original text each character came from, through normalizers and pre-tokenizers.

An aligned string has, for every character, the (start, end) of the original characters that it stands for. Each step
returns a new one. A replacement for a character stands for that character, a prefix for the first character, a
replacement for a match for the match's last character, and a composed character for the first of its parts. These are
the rules of Hugging Face's tokenizers, so that offsets are equal to theirs.

Chapter: File formats. Cost: linear. Source: `tokenizer/normalizer.rs` and the crate
`unicode-normalization-alignments`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ..unicode.graphemes import clusters

CharChange = tuple[str, int]
"""A character and its change: 1 if inserted, 0 if it replaces one character, -n if n more after that are removed."""


@dataclass(frozen=True)
class AlignedString:
    """A text whose character n stands for the original's characters from `starts[n]` to `ends[n]`.

    `base` is the offset in the original at which this text begins.

    >>> text = AlignedString.of("Ab").prepend(" ")
    >>> text.text, text.starts, text.ends
    (' Ab', [0, 0, 1], [1, 1, 2])
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    base: int = 0

    @classmethod
    def of(cls, text: str) -> "AlignedString":
        """Return a text aligned with itself."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def __str__(self) -> str:
        return self.text

    def __getitem__(self, span: slice) -> "AlignedString":
        """Return the characters of a slice, with their alignment."""
        start, end, _ = span.indices(len(self.text))
        base = self.starts[start] if start < end else self.base
        return AlignedString(self.text[start:end], self.starts[start:end], self.ends[start:end], base)

    def split(self, pieces: Iterable[str], starts: Iterable[int] | None = None) -> "list[AlignedString]":
        """Return the given pieces, aligned, at `starts`; by default, each starts where the one before ends."""
        pieces = list(pieces)
        starts = accumulate(map(len, pieces), initial=0) if starts is None else starts
        return [replace(self[at : at + len(piece)], text=piece) for piece, at in zip(pieces, starts)]

    def prepend(self, prefix: str) -> "AlignedString":
        """Return the text with `prefix` in front, aligned with the first character; an empty text stays empty."""
        if not self.text:
            return self
        starts, ends = [self.starts[0]] * len(prefix), [self.ends[0]] * len(prefix)
        return AlignedString(prefix + self.text, [*starts, *self.starts], [*ends, *self.ends], self.base)

    def replace(self, matches: Iterable[tuple[int, int]], content: str) -> "AlignedString":
        """Return the text with each match replaced by `content`."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        last = 0
        for start, end in [*matches, (len(self.text), -1)]:
            parts.append(self.text[last:start])
            starts += self.starts[last:start]
            ends += self.ends[last:start]
            if end >= 0:
                parts.append(content)
                starts += [self.starts[end - 1] if end else self.base] * len(content)
                ends += [self.ends[end - 1] if end else self.base] * len(content)
                last = end
        return AlignedString("".join(parts), starts, ends, self.base)

    def transform(self, changes: Iterable[CharChange]) -> "AlignedString":
        """Return the text after `changes`, applied from its beginning."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at, length = 0, len(self.text)
        for char, change in changes:
            parts.append(char)
            source = min(at, length - 1) if change <= 0 else at - 1
            starts.append(self.starts[source] if source >= 0 else self.base)
            ends.append(self.ends[source] if source >= 0 else self.base)
            if change <= 0:
                at = min(length, at + 1 - change)
        return AlignedString("".join(parts), starts, ends, self.base)

    def map_spans(self, parts: Sequence[str], become: Iterable[str]) -> "AlignedString":
        """Replace each of the `parts` by a text that stands for the whole part; an equal text keeps its alignment."""
        found: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for part, other in zip(parts, become):
            last = at + len(part)
            found.append(other)
            if part == other:
                starts += self.starts[at:last]
                ends += self.ends[at:last]
            else:
                starts += [self.starts[at]] * len(other)
                ends += [self.ends[last - 1]] * len(other)
            at = last
        return AlignedString("".join(found), starts, ends, self.base)


def by_character(function: Callable[[str], str], string: AlignedString) -> AlignedString:
    """Return the text with `function` applied to each character by itself.

    >>> by_character(lambda char: char.replace("½", "1/2"), AlignedString.of("½ a")).starts
    [0, 0, 0, 1, 2]
    """
    become = {char: function(char) for char in set(string.text)}
    return string.map_spans(string.text, map(become.__getitem__, string.text))


def by_grapheme_clusters(function: Callable[[str], str], string: AlignedString) -> AlignedString:
    """Return the text with `function` applied to each grapheme cluster by itself."""
    parts = list(clusters(string.text))
    return string.map_spans(parts, map(function, parts))


def align_common_affixes(string: AlignedString, become: str) -> AlignedString:
    """Return `become`, aligned with the text that it replaces.

    The common start and end keep their alignment; the part between them stands for everything that it replaces.
    """
    text = string.text
    most = min(len(text), len(become))
    front = next((n for n in range(most) if text[n] != become[n]), most)
    back = next((n for n in range(most - front) if text[-1 - n] != become[-1 - n]), most - front)
    first, last = min(front, len(text) - 1), max(front, len(text) - back) - 1
    width = len(become) - front - back
    end = len(text) - back
    starts = [*string.starts[:front], *[string.starts[first]] * width, *string.starts[end:]]
    ends = [*string.ends[:front], *[string.ends[max(0, last)]] * width, *string.ends[end:]]
    return AlignedString(become, starts, ends, string.base)
