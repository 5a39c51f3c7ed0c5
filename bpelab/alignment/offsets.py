"""Offsets of every token in the original text: from the bytes of a piece to the characters that they come from.

A token of a byte-level model may be part of a character; then it stands for all of it. Where a piece has characters
that the vocabulary lacks, tokens and bytes no longer match, and the units that the model started from say how much each
token took. `trim_offsets` then does what a file's post-processor asks for: spaces at a token's edges are left out.

Chapter: File formats. Cost: linear. Source: `into_encoding` in Hugging Face tokenizers (`tokenizer/pre_tokenizer.rs`),
`merge_word` in `models/bpe/model.rs`, `process_offsets` in `pre_tokenizers/byte_level.rs`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..model.bpe import BPEModel
from ..normalizers.characters import white_space
from ..postprocessors import ByteLevel, PostProcessor, ProcessorSequence, RobertaProcessing
from ..texts.aligned_string import AlignedString
from ..unicode.byte_alphabet import to_alphabet

_CHARACTER = re.compile("[\ud800-\udbff][\udc00-\udfff]|(?s:.)")
Offsets = tuple[int, int]
"""The characters from the first to before the second."""


class TokenSpan(NamedTuple):
    """A token's id, where it is, and the text of an added one."""

    id: int
    offsets: Offsets
    added: str | None


def added_token(token_id: int, part: AlignedString) -> TokenSpan:
    """Return an added token that was found in a text, which stands for all of `part`."""
    return TokenSpan(token_id, (part.starts[0], part.ends[-1]), part.text)


def token_spans(
    model: BPEModel, ids: Sequence[int], piece: AlignedString, to_bytes: Callable[[str], bytes]
) -> Iterator[TokenSpan]:
    """Yield the tokens of a piece, whose text `to_bytes` makes the bytes that the model saw."""
    data, get, units = to_bytes(piece.text), model.tokens.get, model.units
    tokens = [get(token_id, b"") for token_id in ids]
    in_alphabet = False
    sizes: Iterable[int] = map(len, tokens)
    if units is not None and not model.is_byte_level and (units.prefix or units.suffix or b"".join(tokens) != data):
        in_alphabet = not units.characters
        sizes = _sizes(model, tokens, data)
    starts, ends = piece.starts, piece.ends
    if in_alphabet or len(data) != len(piece.text):
        of_byte = [n for n, char in enumerate(piece.text) for _ in range(_width(to_bytes, char, in_alphabet))]
        starts, ends = [starts[n] for n in of_byte], [ends[n] for n in of_byte]
    at, last = 0, len(starts) - 1
    for token_id, size in zip(ids, sizes):
        yield TokenSpan(token_id, (starts[min(at, last)], ends[min(at + size - 1, last)]), None)
        at += size


def token_spans_of_pieces(
    pieces: Iterable[str], part: AlignedString, place_one: Callable[[AlignedString], Iterable[TokenSpan]]
) -> Iterator[TokenSpan]:
    """Yield the tokens of the pieces that make up `part`; each different piece is encoded once."""
    starts, ends, at = part.starts, part.ends, 0
    known: dict[str, list[tuple[int, int, int]]] = {}
    for piece in pieces:
        tokens = known.get(piece)
        if tokens is None:
            spans = place_one(AlignedString.of(piece))
            tokens = known[piece] = [(token_id, first, end - 1) for token_id, (first, end), _ in spans]
        for token_id, first, last in tokens:
            yield TokenSpan(token_id, (starts[at + first], ends[at + last]), None)
        at += len(piece)


@lru_cache(1 << 12)
def _width(to_bytes: Callable[[str], bytes], char: str, in_alphabet: bool) -> int:
    return _written(to_bytes(char)) if in_alphabet else len(to_bytes(char))


def _written(data: bytes) -> int:
    """Return the length of bytes in GPT-2's alphabet, in UTF-8: what a file's tokens are counted in."""
    return len(to_alphabet(data).encode())


def _sizes(model: BPEModel, tokens: Sequence[bytes], data: bytes) -> Iterator[int]:
    """How much of a piece each token stands for, where something is missing in the vocabulary or was added.

    What is dropped is not counted, so that all that follows in the piece is placed too far in front, as in Hugging
    Face's tokenizers.
    """
    units = model.units
    assert units is not None  # else nothing can be missing
    size_of = len if units.characters else _written
    if model.whole(data) is not None:
        yield size_of(data)
        return
    waiting = iter(units.ids_with_sizes(data, model.alphabet, size_of))
    for token in tokens:
        # A merged token is its units joined, less the prefix of all but the first.
        unit, size = next(waiting)
        length = len(model.tokens.get(unit, b""))
        while length < len(token):
            unit, more = next(waiting)
            length += len(model.tokens[unit].removeprefix(units.prefix))
            size += more
        yield size


def to_original_offsets(text: str, offsets: Iterable[Offsets]) -> list[Offsets]:
    """Offsets in `text` for those in `valid_text(text)`, where two surrogates of a pair became one character.

    >>> to_original_offsets("\\ud83d\\ude00!", [(0, 1), (1, 2)])
    [(0, 2), (2, 3)]
    """
    starts = [match.start() for match in _CHARACTER.finditer(text)] + [len(text)]
    return [(starts[start], starts[end]) for start, end in offsets]


# -- trimming ----------------------------------------------------------------------------------------------------------


def trim_steps(post_processor: PostProcessor | None) -> list[bool]:
    """One for each time that a post-processor trims: whether a first space is kept, as put in by the pre-tokenizer.

    >>> trim_steps(ByteLevel(add_prefix_space=False))
    [False]
    """
    if isinstance(post_processor, ProcessorSequence):
        return [kept for step in post_processor.processors for kept in trim_steps(step)]
    if isinstance(post_processor, (ByteLevel, RobertaProcessing)) and post_processor.trim_offsets:
        return [post_processor.add_prefix_space]
    return []


def edge_spaces(token: str) -> tuple[int, int]:
    """How many spaces a token has before and after: white space, or the space of GPT-2's alphabet.

    >>> edge_spaces("Ġ\\tthe"), edge_spaces(" ")
    ((2, 0), (1, 1))
    """
    spaces = "Ġ" + white_space()
    return len(token) - len(token.lstrip(spaces)), len(token) - len(token.rstrip(spaces))


def trim_offsets(offsets: Sequence[Offsets], edges: Iterable[tuple[int, int]], keep_first: bool) -> list[Offsets]:
    """`offsets` without the spaces at the edges of the tokens; `keep_first` for one space at the very beginning."""
    found = []
    for index, ((start, end), (front, after)) in enumerate(zip(offsets, edges)):
        kept = keep_first and front == 1 and (index == 0 or start == 0)
        first = start if kept else min(start + front, end)
        found.append((first, max(end - after, first) if end >= after else end))
    return found
