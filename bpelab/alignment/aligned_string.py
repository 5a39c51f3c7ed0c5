"""Strings aligned with the original text: where each character came from, through all normalizers and pre-tokenizers.

A text carries, for every character, the (start, end) of the original characters that it stands for. Each step makes
a new such text: what is put in place of a character stands for it, what is put in front for the first character, what
takes the place of a match for the last character of the match, and a composed character for the first of its parts.
These are the rules of Hugging Face's tokenizers, so that offsets are equal, whether one would choose them or not.
What a normalizer really made is compared at every step. One that has no rules here is tried on short clusters of
characters; if their results joined are not that of the whole, what differs between beginning and end stands for all
that it replaces.

Chapter: File formats. Cost: linear. Source: `tokenizer/normalizer.rs` and the crate
`unicode-normalization-alignments`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ..normalizers import Normalizer, NormalizerSequence
from ..pretokenizers.base import PreTokenizer

CharChange = tuple[str, int]
"""A character and what it is: 1 for one put in, 0 for one in place of another, -n if n more are gone after that."""


@dataclass(frozen=True)
class AlignedString:
    """A text whose character n stands for the original's characters from `starts[n]` to `ends[n]`.

    `base` is the offset in the original at which its own text begins.

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
        """Return a text that represents itself."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def __str__(self) -> str:
        return self.text

    def __getitem__(self, span: slice) -> "AlignedString":
        """Return the characters of a slice, with their alignment."""
        start, end, _ = span.indices(len(self.text))
        base = self.starts[start] if start < end else self.base
        return AlignedString(self.text[start:end], self.starts[start:end], self.ends[start:end], base)

    def split(self, pieces: Iterable[str], starts: Iterable[int] | None = None) -> "list[AlignedString]":
        """Return the pieces at `starts`; by default they follow one another. Their texts are those given here."""
        pieces = list(pieces)
        starts = accumulate(map(len, pieces), initial=0) if starts is None else starts
        return [replace(self[at : at + len(piece)], text=piece) for piece, at in zip(pieces, starts)]

    def prepend(self, prefix: str) -> "AlignedString":
        """With `prefix` in front, which stands for the first character; nothing for an empty text."""
        if not self.text:
            return self
        starts, ends = [self.starts[0]] * len(prefix), [self.ends[0]] * len(prefix)
        return AlignedString(prefix + self.text, [*starts, *self.starts], [*ends, *self.ends], self.base)

    def replace(self, matches: Iterable[tuple[int, int]], content: str) -> "AlignedString":
        """With `content` in place of each match."""
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
        """Return what `changes` make of the text, read from its beginning."""
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
        """Each of the `parts` becomes a text that stands for all of it; or for itself, if it is the same."""
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


def normalize(normalizer: Normalizer | None, given: AlignedString) -> AlignedString:
    """Return what a normalizer makes of a text, with the alignment."""
    if normalizer is None or not given.text:
        return given if normalizer is None else replace(given, text=normalizer(given.text))
    become = normalizer(given.text)
    if become == given.text:
        return given
    if isinstance(normalizer, NormalizerSequence):
        found = given
        for step in normalizer.normalizers:
            found = normalize(step, found)
        return found
    from .normalizer_rules import RULES, by_grapheme_clusters

    rule: Callable[[Normalizer, AlignedString], AlignedString] = RULES.get(type(normalizer), by_grapheme_clusters)
    found = rule(normalizer, given)
    if found.text != become and rule is not by_grapheme_clusters:
        found = by_grapheme_clusters(normalizer, given)
    return found if found.text == become else _align_common_affixes(given, become)


def _align_common_affixes(given: AlignedString, become: str) -> AlignedString:
    """Beginning and end stand for themselves where they are the same, and what is between for all that it replaces."""
    text = given.text
    most = min(len(text), len(become))
    front = next((n for n in range(most) if text[n] != become[n]), most)
    back = next((n for n in range(most - front) if text[-1 - n] != become[-1 - n]), most - front)
    first, last = min(front, len(text) - 1), max(front, len(text) - back) - 1
    width = len(become) - front - back
    end = len(text) - back
    starts = [*given.starts[:front], *[given.starts[first]] * width, *given.starts[end:]]
    ends = [*given.ends[:front], *[given.ends[max(0, last)]] * width, *given.ends[end:]]
    return AlignedString(become, starts, ends, given.base)


def pre_tokenize(pre_tokenizer: PreTokenizer | None, given: AlignedString, pieces: list[str]) -> list[AlignedString]:
    """Return the `pieces` that a pre-tokenizer cuts a text into, with the alignment.

    `pre_tokenizer` may be None where the pieces only cut the text.
    """
    steps = () if pre_tokenizer is None else pre_tokenizer.steps
    if len(steps) <= 1 and "".join(pieces) == given.text:
        return given.split(pieces)
    parts = [given]
    for index, step in enumerate(steps):
        if index:
            parts = [_as_seen_by_next(steps[index - 1], part) for part in parts]
        parts = [piece for part in parts for piece in _split(step, part)]
    return parts if [part.text for part in parts] == pieces else list(_locate(given, pieces))


def _split(step: PreTokenizer, given: AlignedString) -> Iterable[AlignedString]:
    """Return the pieces that one step cuts a text into; it may drop something, or put something in front."""
    pieces = step.split(given.text, given.base == 0)
    added = sum(map(len, pieces)) - len(given.text)
    if added > 0:
        given = given.prepend(" " * added)
    try:
        return given.split(pieces, step.piece_starts(given.text, pieces) if added < 0 else None)
    except ValueError:  # a pre-tokenizer that changes the text in ways not known here
        return _locate(given, pieces)


def _as_seen_by_next(step: PreTokenizer, given: AlignedString) -> AlignedString:
    chars = list(given.text)
    become = step.for_next_step(chars)
    return given if become == chars else given.map_spans(chars, become)


def _locate(given: AlignedString, pieces: Iterable[str]) -> Iterator[AlignedString]:
    """Yield the pieces where they are found in the text, in order; one that is not found stands for all of it."""
    at = 0
    for piece in pieces:
        start = given.text.find(piece, at)
        if start >= 0:
            at = start + len(piece)
            yield given[start:at]
        else:
            ends = [given.ends[-1] if given.text else given.base] * len(piece)
            yield AlignedString(piece, [given.base] * len(piece), ends, given.base)
