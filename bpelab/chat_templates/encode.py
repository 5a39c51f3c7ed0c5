"""From marked text to ids: control tokens only where the template's own characters spell them, and who said what.

Ordinary text between two accepted control tokens is encoded whole, template and content together, so that the ids of a
harmless conversation are the model's own. Each token is then laid over the characters that it came from.

Chapter: Special tokens, chat templates, injection. Cost: as encoding, and linear in the text.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ..added_tokens import AddedToken
from ..alignment import Aligned, normalized
from ..errors import TemplateError
from ..textio import valid_text
from .provenance import Marked, concat

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

_PAIRS = (("<", ">"), ("[", "]"), ("{", "}"), ("(", ")"), ("|", "|"), ("｜", "｜"), ("◁", "▷"), ("⟨", "⟩"), ("«", "»"))


def is_control(token: AddedToken) -> bool:
    """Whether a token is one that no message may speak: it is special, or looks like markup.

    >>> [is_control(AddedToken(s, 9, special=False)) for s in ("<think>", "[INST]", "   ", "covid")]
    [True, True, False, False]
    """
    word = token.content.strip()
    return token.special or (len(word) > 2 and (word[0], word[-1]) in _PAIRS)


Part = tuple[int, int, str | int, Aligned | None]


@dataclass(frozen=True)
class Encoded:
    """An encoded conversation.

    Attributes:
        ids: the token ids.
        places: for each token, the (start, stop) of the characters of `text` that it covers; none if not asked for.
        text: the text that was encoded, marked: that of the template, with U+FFFD for lone surrogates.
        control: whether each token is an accepted control token.
    """

    ids: list[int]
    places: list[tuple[int, int]]
    text: Marked
    control: list[bool]


def encode(tokenizer: "BPETokenizer", text: Marked, located: bool = True) -> Encoded:
    """The ids of a rendered conversation. No control token comes from a character that isn't trusted.

    `located` is whether each token's own place is worked out, which takes longer than the ids. Raises TemplateError for
    a tokenizer that has no way to write a control token's text without it.
    """
    text = _valid(text)
    walk = _Walk(tokenizer, text, located)
    ids: list[int] = []
    places: list[tuple[int, int]] = []
    control: list[bool] = []
    for start, stop, part, source in walk.parts():
        if isinstance(part, int):
            ids.append(part)
            places.append((start, stop))
            control.append(part in walk.ids)
            continue
        found, offsets = walk.ordinary(part, start, stop, source, first=not ids)
        ids += found
        places += offsets
        control += [number in walk.ids for number in found]
    return Encoded(ids, places, text, control)


def _valid(text: Marked) -> Marked:
    """Lone surrogates replaced, and pairs joined, in what comes from one place."""
    try:
        text.encode()
    except UnicodeEncodeError:
        edges = [0, *accumulate(length for length, _ in text.runs)]
        parts = (
            Marked.of(valid_text(str.__str__(text[a:b])), run[1]) for (a, b), run in zip(pairwise(edges), text.runs)
        )
        return concat(list(parts))
    return text


class _Walk:
    """A marked text on its way through a tokenizer: accepted control tokens, then vocabulary, then ordinary text."""

    def __init__(self, tokenizer: "BPETokenizer", text: Marked, located: bool) -> None:
        self._model, self._located = tokenizer.model, located
        self._pipeline, self._special = tokenizer._pipeline, tokenizer._special
        self._names = {token.content: token.id for token in tokenizer.added_tokens if is_control(token)}
        units = tokenizer.model.units
        symbols = {} if units is None else {text.decode("utf-8", "replace"): n for text, n in units.symbols.items()}
        self._symbols = {n: text for text, n in symbols.items() if is_control(AddedToken(text, n, special=False))}
        self._forbidden = frozenset(self._names.values()) - {None if units is None else units.unk_id}
        self.ids = self._forbidden | self._symbols.keys()
        self._text = str.__str__(text)
        self._edges = [0, *accumulate(length for length, _ in text.runs)]
        self._trusted = [origin.trusted for _, origin in text.runs]
        self._from_first = self._pipeline.from_first(self._text)

    def _accept(self, start: int, stop: int) -> bool:
        """Whether the template wrote every character from `start` to `stop`."""
        first, last = bisect_right(self._edges, start) - 1, bisect_left(self._edges, stop)
        return all(self._trusted[first:last])

    def parts(self) -> Iterator[Part]:
        """(start, stop, id, None) of added tokens and (start, stop, normalized text, ...) of what is between, in order.

        The last is where that text came from, if it was worked out.
        """

        finder, text = self._special.raw_finder, self._text
        begins: list[int] = []

        def controls(start: int, stop: int, token: AddedToken) -> bool:
            found = token.content in self._names and self._accept(start, stop)
            if found:
                begins.append(start)
            return found

        def accept(start: int, stop: int, token: AddedToken) -> bool:
            if token.content in self._names:
                return self._accept(start, stop)
            if token.content.isspace() or self._accept(start, stop):
                return True
            if not begins:  # a message may not reach into a control token with a word of the vocabulary
                deque(finder.find_accepted(text, controls), 0)
                begins.append(len(text))
            return begins[bisect_right(begins, start)] >= stop

        done = 0
        for start, stop, token in finder.find_accepted(text, accept):
            if start > done:
                yield from self._late(done, start)
            yield start, stop, token.id, None
            done = stop
        if done < len(text):
            yield from self._late(done, len(text))

    def _late(self, start: int, stop: int) -> Iterator[Part]:
        """The tokens that are found in normalized text. What counts as a control token's source is told exactly."""
        normalizer = self._pipeline.normalizer
        raw = self._text[start:stop]
        part = raw if normalizer is None else normalizer(raw)
        finder = self._special.late_finder(normalizer)
        if finder is None:
            yield start, stop, part, None
            return

        source = self._aligned(start, stop, part)

        def accept(first: int, last: int, token: AddedToken) -> bool:
            return token.content not in self._names or self._accept_source(source, first, last, token.content)

        done = 0
        for first, last, token in [*finder.find_accepted(part, accept), (len(part), -1, None)]:
            if first > done:
                yield source.starts[done], source.ends[first - 1], part[done:first], source.part(done, first)
            if token is not None:
                yield source.starts[first], source.ends[last - 1], token.id, None
            done = last

    def _aligned(self, start: int, stop: int, part: str) -> Aligned:
        """The normalized text `part` of [start:stop], whose characters know where they come from."""
        given = Aligned(self._text[start:stop], range(start, stop), range(start + 1, stop + 1))
        return given if given.text == part else normalized(self._pipeline.normalizer, given)

    def _accept_source(self, source: Aligned, first: int, last: int, word: str) -> bool:
        """Whether `word`, which stands in normalized text, comes from trusted characters, and from them alone."""
        begin, end = source.starts[first], source.ends[last - 1]
        spelled, normalize = self._text[begin:end], self._pipeline.normalizer
        same = spelled == word or (normalize is not None and normalize(spelled) == source.text[first:last])
        return same and self._accept(begin, end)

    def ordinary(
        self, part: str, start: int, stop: int, source: Aligned | None, first: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids of normalized text that came from [start:stop], and the place of each where they are asked for."""
        pieces = self._pipeline.cut(part, self._from_first if first else 0)
        ids = self._pipeline.ids_of_pieces(pieces)
        if not self._symbols.keys().isdisjoint(ids):
            source = source or self._aligned(start, stop, part)
            pieces, ids = self._without_forged_symbols(pieces, ids, source)
        if not self._forbidden.isdisjoint(ids):
            ids = [number for piece in pieces for number in self._harmless(piece)]
        if not self._located:
            return ids, []
        tokens = [self._model.tokens.get(number, b"") for number in ids]
        raw = self._text[start:stop]
        if part == raw and b"".join(tokens) == raw.encode():
            return ids, list(_laid(tokens, raw, start))
        placed = self._pipeline.placed(source or self._aligned(start, stop, part), pieces)
        places = [token.offsets for token in placed]
        return ids, places if len(places) == len(ids) else [(start, stop)] * len(ids)

    def _without_forged_symbols(
        self, pieces: list[str], ids: list[int], source: Aligned
    ) -> tuple[list[str], list[int]]:
        """Pieces and ids where SentencePiece's user-defined symbols are found in the template's own text only.

        Such symbols are part of the model, which finds them in any piece. One that a message takes part in is cut in
        two, at a place that is not inside one of the template's own.
        """
        part = "".join(pieces)
        cuts = set(accumulate(map(len, pieces)))
        while True:
            found = [
                (
                    first,
                    first + len(word),
                    part == source.text and self._accept_source(source, first, first + len(word), word),
                )
                for word in {self._symbols[number] for number in ids if number in self._symbols}
                for first in _occurrences(part, word)
            ]
            own = [(first, last) for first, last, accepted in found if accepted]
            more = set()
            for first, last, accepted in found:
                inside = range(first + 1, last)
                if not accepted and cuts.isdisjoint(inside):
                    around = [(begin, end) for begin, end in own if begin < last and first < end]
                    free = (at for at in inside if not any(begin < at < end for begin, end in around))
                    more |= set([*free][:1])
            if not more:
                return pieces, ids
            cuts |= more
            pieces = [part[first:last] for first, last in pairwise(sorted({0, *cuts}))]
            ids = self._pipeline.ids_of_pieces(pieces)

    def _harmless(self, piece: str) -> list[int]:
        """The ids of a piece. Merges, or a piece taken whole, may give a control token: then it is taken apart."""
        ids = self._pipeline.ids_of_pieces([piece])
        if self._forbidden.isdisjoint(ids):
            return ids
        ids = self._pipeline.ids_of_pieces(list(piece))
        if not self._forbidden.isdisjoint(ids):
            raise TemplateError(f"this tokenizer can't write {piece[:40]!r} without a control token")
        return ids


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _laid(tokens: list[bytes], text: str, start: int) -> Iterator[tuple[int, int]]:
    """The characters that tokens stand for, whose bytes are those of the text; parts of one stand for all of it."""
    at = 0
    if text.isascii():
        for token in tokens:
            yield start + at, start + at + len(token)
            at += len(token)
        return
    of_byte = [start + n for n, char in enumerate(text) for _ in range(len(char.encode()))]
    for token in tokens:
        yield of_byte[at], of_byte[at + len(token) - 1] + 1
        at += len(token)
