"""Where in the original text a token stands, through all that normalizers and pre-tokenizers do to it.

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

from .normalizers import Normalizer, NormalizerSequence
from .pretokenizers.base import PreTokenizer
from .pretokenizers.byte_level import ByteLevel
from .pretokenizers.sequence import PreTokenizerSequence, _starts

Change = tuple[str, int]
"""A character and what it is: 1 for one put in, 0 for one in place of another, -n if n more are gone behind that."""


@dataclass(frozen=True)
class Aligned:
    """A text whose character n stands for the original's characters from `starts[n]` to `ends[n]`.

    `base` is where the stretch begins from which it was made.

    >>> text = Aligned.of("Ab").prepended(" ")
    >>> text.text, text.starts, text.ends
    (' Ab', [0, 0, 1], [1, 1, 2])
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    base: int = 0

    @classmethod
    def of(cls, text: str) -> "Aligned":
        """A text that stands for itself."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def part(self, start: int, end: int) -> "Aligned":
        """The characters from `start` to `end`."""
        base = self.starts[start] if start < end else self.base
        return Aligned(self.text[start:end], self.starts[start:end], self.ends[start:end], base)

    def cut(self, pieces: Iterable[str], starts: Iterable[int] | None = None) -> "list[Aligned]":
        """The pieces at `starts`; by default they follow one another. Their texts are those given here."""
        pieces = list(pieces)
        starts = accumulate(map(len, pieces), initial=0) if starts is None else starts
        return [replace(self.part(at, at + len(piece)), text=piece) for piece, at in zip(pieces, starts)]

    def prepended(self, prefix: str) -> "Aligned":
        """With `prefix` in front, which stands for the first character; nothing for an empty text."""
        if not self.text:
            return self
        starts, ends = [self.starts[0]] * len(prefix), [self.ends[0]] * len(prefix)
        return Aligned(prefix + self.text, [*starts, *self.starts], [*ends, *self.ends], self.base)

    def replaced(self, matches: Iterable[tuple[int, int]], content: str) -> "Aligned":
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
        return Aligned("".join(parts), starts, ends, self.base)

    def changed(self, changes: Iterable[Change]) -> "Aligned":
        """What `changes` make of the text, read from its beginning."""
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
        return Aligned("".join(parts), starts, ends, self.base)

    def mapped(self, parts: Sequence[str], become: Iterable[str]) -> "Aligned":
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
        return Aligned("".join(found), starts, ends, self.base)


def normalized(normalizer: Normalizer | None, given: Aligned) -> Aligned:
    """What a normalizer makes of a text, with the alignment."""
    if normalizer is None or not given.text:
        return given if normalizer is None else replace(given, text=normalizer(given.text))
    become = normalizer(given.text)
    if become == given.text:
        return given
    if isinstance(normalizer, NormalizerSequence):
        found = given
        for step in normalizer.normalizers:
            found = normalized(step, found)
        return found
    from .normalizers.alignments import RULES, by_clusters

    rule: Callable[[Normalizer, Aligned], Aligned] = RULES.get(type(normalizer), by_clusters)
    found = rule(normalizer, given)
    if found.text != become and rule is not by_clusters:
        found = by_clusters(normalizer, given)
    return found if found.text == become else _middle(given, become)


def _middle(given: Aligned, become: str) -> Aligned:
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
    return Aligned(become, starts, ends, given.base)


def cut(pre_tokenizer: PreTokenizer | None, given: Aligned, pieces: list[str]) -> list[Aligned]:
    """The `pieces` that a pre-tokenizer cuts a text into, with the alignment; None for one that only cuts."""
    if not isinstance(pre_tokenizer, PreTokenizerSequence) and "".join(pieces) == given.text:
        return given.cut(pieces)
    assert pre_tokenizer is not None  # else nothing is changed
    found = list(_steps(pre_tokenizer, given))
    return found if [piece.text for piece in found] == pieces else list(_in_order(given, pieces))


def _steps(step: PreTokenizer, given: Aligned) -> Iterator[Aligned]:
    if isinstance(step, PreTokenizerSequence):
        parts = [given]
        for number, inner in enumerate(step._steps):
            parts = [piece for part in parts for piece in _steps(inner, part)]
            if isinstance(inner, ByteLevel) and number < len(step._steps) - 1:
                parts = [_in_alphabet(part) for part in parts]
        yield from parts
        return
    found = step.split(given.text, given.base == 0)
    added = sum(map(len, found)) - len(given.text)
    if added > 0:
        given = given.prepended(" " * added)
    try:
        yield from given.cut(found, _starts(step, given.text, found) if added < 0 else None)
    except ValueError:  # a pre-tokenizer that changes the text in ways not known here
        yield from _in_order(given, found)


def _in_alphabet(given: Aligned) -> Aligned:
    from .byte_alphabet import to_alphabet

    return given.mapped(given.text, [to_alphabet(char.encode()) for char in given.text])


def _in_order(given: Aligned, pieces: Iterable[str]) -> Iterator[Aligned]:
    """The pieces where they are found in the text, in order; one that is not found stands for all of it."""
    at = 0
    for piece in pieces:
        start = given.text.find(piece, at)
        if start >= 0:
            at = start + len(piece)
            yield given.part(start, at)
        else:
            ends = [given.ends[-1] if given.text else given.base] * len(piece)
            yield Aligned(piece, [given.base] * len(piece), ends, given.base)
