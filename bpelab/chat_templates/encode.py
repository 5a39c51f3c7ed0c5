"""Encode a tainted string: ids with offsets, and control tokens only if the template's own characters spell them.

Ordinary text between two accepted control tokens is encoded whole, template and content together, so that the ids of a
harmless conversation are the model's own. Each token is then aligned with the characters that it came from.

Chapter: Chat templates. Cost: that of encoding, plus time linear in the text.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from .._support.textio import valid_text
from ..core.token_spans import spans_of_segment
from ..errors import TemplateError
from ..normalizers.base import normalize_aligned
from ..texts.aligned_string import AlignedString
from ..vocab.added_tokens import AddedToken
from .control_tokens import is_control
from .tainted_string import TaintedStr, concat

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

Segment = tuple[int, int, str | int, AlignedString | None]


@dataclass(frozen=True)
class Encoded:
    """An encoded conversation.

    Attributes:
        ids: the token ids.
        offsets: for each token, the (start, stop) of the characters of `text` that it covers; complete only if asked
            for.
        text: the encoded text with its provenance: the template's output, with U+FFFD for lone surrogates.
        control: whether each token is an accepted control token.
    """

    ids: list[int]
    offsets: list[tuple[int, int]]
    text: TaintedStr
    control: list[bool]


def encode(tokenizer: "Tokenizer", text: TaintedStr, with_offsets: bool = True, goes_on: bool = False) -> Encoded:
    """Return the ids of a rendered conversation. No control token comes from an untrusted character.

    `with_offsets` computes the offsets of each token too, which takes longer than the ids. `goes_on` means that other
    text comes before, so the special treatment of a text's start is skipped. Raises TemplateError if the tokenizer
    can't encode a control token's text without that token.
    """
    text = without_surrogates(text)
    encoder = _TaintedEncoder(tokenizer, text, with_offsets)
    ids: list[int] = []
    offsets: list[tuple[int, int]] = []
    control: list[bool] = []
    for start, stop, part, source in encoder.segments():
        if isinstance(part, int):
            ids.append(part)
            offsets.append((start, stop))
            control.append(part in encoder.ids)
            continue
        ids_of_part, offsets_of_part = encoder.encode_text(part, start, stop, source, first=not (ids or goes_on))
        ids += ids_of_part
        offsets += offsets_of_part
        control += [token_id in encoder.ids for token_id in ids_of_part]
    return Encoded(ids, offsets, text, control)


def without_surrogates(text: TaintedStr) -> TaintedStr:
    """Return `text` with lone surrogates replaced and pairs joined, within each run of one provenance."""
    try:
        text.encode()
    except UnicodeEncodeError:
        edges = [0, *accumulate(length for length, _ in text.runs)]
        parts = (
            TaintedStr.of(valid_text(str.__str__(text[a:b])), run[1]) for (a, b), run in zip(pairwise(edges), text.runs)
        )
        return concat(list(parts))
    return text


class _TaintedEncoder:
    """Encodes a tainted string: accepted control tokens first, then other added tokens, then ordinary text."""

    def __init__(self, tokenizer: "Tokenizer", text: TaintedStr, with_offsets: bool) -> None:
        self._model, self._with_offsets = tokenizer.model, with_offsets
        self.pipeline, self._special = tokenizer.pipeline, tokenizer.spec.special_tokens
        self._names = {token.content: token.id for token in tokenizer.added_tokens if is_control(token)}
        initial_symbols = tokenizer.model.initial_symbols
        symbols = (
            {}
            if initial_symbols is None
            else {text.decode("utf-8", "replace"): n for text, n in initial_symbols.symbols.items()}
        )
        self._symbols = {n: text for text, n in symbols.items() if is_control(AddedToken(text, n, special=False))}
        self._forbidden = frozenset(self._names.values()) - {
            None if initial_symbols is None else initial_symbols.unk_id
        }
        self.ids = self._forbidden | self._symbols.keys()
        self._text = str.__str__(text)
        self._edges = [0, *accumulate(length for length, _ in text.runs)]
        self._trusted = [origin.trusted for _, origin in text.runs]
        self._chars_from_first = self.pipeline.chars_from_first(self._text)

    def _is_trusted(self, start: int, stop: int) -> bool:
        """Return whether the template wrote every character from `start` to `stop`."""
        first, last = bisect_right(self._edges, start) - 1, bisect_left(self._edges, stop)
        return all(self._trusted[first:last])

    def segments(self) -> Iterator[Segment]:
        """Yield (start, stop, id, None) for added tokens and (start, stop, normalized text, source) for text, in order.

        `source` aligns the normalized text with the original; None if it wasn't computed.
        """

        matcher, text = self._special.raw_matcher, self._text
        begins: list[int] = []

        def controls(start: int, stop: int, token: AddedToken) -> bool:
            found = token.content in self._names and self._is_trusted(start, stop)
            if found:
                begins.append(start)
            return found

        def accept(start: int, stop: int, token: AddedToken) -> bool:
            if token.content in self._names:
                return self._is_trusted(start, stop)
            if token.content.isspace() or self._is_trusted(start, stop):
                return True
            if not begins:  # a word of the vocabulary in a message may not overlap a control token
                for _ in matcher.find_where(text, controls):
                    pass  # `controls` is asked about each, and notes where control tokens begin
                begins.append(len(text))
            return begins[bisect_right(begins, start)] >= stop

        done = 0
        for start, stop, token in matcher.find_where(text, accept):
            if start > done:
                yield from self._match_normalized(done, start)
            yield start, stop, token.id, None
            done = stop
        if done < len(text):
            yield from self._match_normalized(done, len(text))

    def _match_normalized(self, start: int, stop: int) -> Iterator[Segment]:
        """Yield the segments of a part whose added tokens are matched in normalized text.

        A control token is accepted only if its exact source is trusted.
        """
        normalizer = self.pipeline.normalizer
        raw = self._text[start:stop]
        part = raw if normalizer is None else normalizer(raw)
        matcher = self._special.normalized_matcher(normalizer)
        if matcher is None:
            yield start, stop, part, None
            return

        source = self._align(start, stop, part)

        def accept(first: int, last: int, token: AddedToken) -> bool:
            return token.content not in self._names or self._is_trusted_source(source, first, last, token.content)

        done = 0
        for first, last, token in [*matcher.find_where(part, accept), (len(part), -1, None)]:
            if first > done:
                yield source.starts[done], source.ends[first - 1], part[done:first], source[done:first]
            if token is not None:
                yield source.starts[first], source.ends[last - 1], token.id, None
            done = last

    def _align(self, start: int, stop: int, part: str) -> AlignedString:
        """Return the normalized text `part` of [start:stop], aligned with the original."""
        given = AlignedString(self._text[start:stop], range(start, stop), range(start + 1, stop + 1))
        return given if given.text == part else normalize_aligned(self.pipeline.normalizer, given)

    def _is_trusted_source(self, source: AlignedString, first: int, last: int, word: str) -> bool:
        """Return whether `word`, a match in normalized text, comes from trusted characters alone."""
        begin, end = source.starts[first], source.ends[last - 1]
        spelled, normalize = self._text[begin:end], self.pipeline.normalizer
        same = spelled == word or (normalize is not None and normalize(spelled) == source.text[first:last])
        return same and self._is_trusted(begin, end)

    def encode_text(
        self, part: str, start: int, stop: int, source: AlignedString | None, first: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the ids of normalized text that came from [start:stop], and the offset of each if asked for."""
        pieces = self.pipeline.pre_tokenize(part, self._chars_from_first if first else 0)
        ids = self.pipeline.encode_pieces(pieces)
        if not self._symbols.keys().isdisjoint(ids):
            source = source or self._align(start, stop, part)
            pieces, ids = self._split_forged_symbols(pieces, ids, source)
        if not self._forbidden.isdisjoint(ids):
            ids = [number for piece in pieces for number in self._without_control_tokens(piece)]
        if not self._with_offsets:
            return ids, []
        tokens = [self._model.tokens.get(number, b"") for number in ids]
        raw = self._text[start:stop]
        if part == raw and b"".join(tokens) == raw.encode():
            return ids, list(_char_spans(tokens, raw, start))
        spans = spans_of_segment(self.pipeline, source or self._align(start, stop, part), pieces)
        offsets = [token.offsets for token in spans]
        return ids, offsets if len(offsets) == len(ids) else [(start, stop)] * len(ids)

    def _split_forged_symbols(
        self, pieces: list[str], ids: list[int], source: AlignedString
    ) -> tuple[list[str], list[int]]:
        """Return pieces and ids in which SentencePiece's user-defined symbols come only from the template's own text.

        Such symbols are part of the model, which matches them in any piece. One that contains a message's characters
        is cut in two, at an offset that isn't inside one of the template's own.
        """
        part = "".join(pieces)
        cuts = set(accumulate(map(len, pieces)))
        while True:
            found = [
                (
                    first,
                    first + len(word),
                    part == source.text and self._is_trusted_source(source, first, first + len(word), word),
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
            ids = self.pipeline.encode_pieces(pieces)

    def _without_control_tokens(self, piece: str) -> list[int]:
        """Return the ids of a piece, without control tokens.

        Merges, or `ignore_merges`, may turn it into a control token: then its characters are encoded one by one.
        """
        ids = self.pipeline.encode_pieces([piece])
        if self._forbidden.isdisjoint(ids):
            return ids
        ids = self.pipeline.encode_pieces(list(piece))
        if not self._forbidden.isdisjoint(ids):
            raise TemplateError(f"this tokenizer can't write {piece[:40]!r} without a control token")
        return ids


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _char_spans(tokens: list[bytes], text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, stop) of each token's characters; a token with part of a character covers all of it.

    The tokens' bytes, joined, are those of `text`, which begins at `start`.
    """
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
