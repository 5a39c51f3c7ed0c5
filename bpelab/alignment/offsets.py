"""Offsets of each token in the original text: from a piece's bytes back to the characters they come from.

A token of a byte-level model may be part of a character; it then gets the whole character's offsets. If a piece has
characters that the vocabulary lacks, tokens and bytes no longer match, and the model's initial symbols say how much
each token covers. `trim_offsets` then applies a file's post-processor: it excludes spaces at a token's edges.

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
"""(start, end): the characters from `start` up to but not including `end`."""


class TokenSpan(NamedTuple):
    """A token's id and offsets, and the text of an added token."""

    id: int
    offsets: Offsets
    added: str | None


def added_token(token_id: int, part: AlignedString) -> TokenSpan:
    """Return the span of an added token, which covers all of `part`."""
    return TokenSpan(token_id, (part.starts[0], part.ends[-1]), part.text)


def token_spans(
    model: BPEModel, ids: Sequence[int], piece: AlignedString, to_bytes: Callable[[str], bytes]
) -> Iterator[TokenSpan]:
    """Yield the tokens of a piece; `to_bytes` turns its text into the bytes that the model saw."""
    data, get, initial_symbols = to_bytes(piece.text), model.tokens.get, model.initial_symbols
    tokens = [get(token_id, b"") for token_id in ids]
    in_alphabet = False
    sizes: Iterable[int] = map(len, tokens)
    if (
        initial_symbols is not None
        and not model.is_byte_level
        and (initial_symbols.prefix or initial_symbols.suffix or b"".join(tokens) != data)
    ):
        in_alphabet = not initial_symbols.characters
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
    """Yield the tokens of the pieces that make up `part`; each distinct piece is encoded once."""
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
    """Return the length, in UTF-8, of bytes written in GPT-2's alphabet: the unit of a file's tokens."""
    return len(to_alphabet(data).encode())


def _sizes(model: BPEModel, tokens: Sequence[bytes], data: bytes) -> Iterator[int]:
    """Yield how much of a piece each token covers, if the vocabulary lacks something or something was added.

    Dropped characters aren't counted, so everything after them in the piece gets offsets that are too low, as in
    Hugging Face's tokenizers.
    """
    initial_symbols = model.initial_symbols
    assert initial_symbols is not None  # otherwise nothing can be missing
    size_of = len if initial_symbols.characters else _written
    if model.whole_piece_id(data) is not None:
        yield size_of(data)
        return
    waiting = iter(initial_symbols.ids_with_sizes(data, model.alphabet, size_of))
    for token in tokens:
        # A merged token is its initial symbols joined, less the prefix of all but the first.
        symbol, size = next(waiting)
        length = len(model.tokens.get(symbol, b""))
        while length < len(token):
            symbol, more = next(waiting)
            length += len(model.tokens[symbol].removeprefix(initial_symbols.prefix))
            size += more
        yield size


def to_original_offsets(text: str, offsets: Iterable[Offsets]) -> list[Offsets]:
    """Map offsets in `valid_text(text)`, which joins surrogate pairs into characters, to offsets in `text`.

    >>> to_original_offsets("\\ud83d\\ude00!", [(0, 1), (1, 2)])
    [(0, 2), (2, 3)]
    """
    starts = [match.start() for match in _CHARACTER.finditer(text)] + [len(text)]
    return [(starts[start], starts[end]) for start, end in offsets]


# -- trimming ----------------------------------------------------------------------------------------------------------


def trim_steps(post_processor: PostProcessor | None) -> list[bool]:
    """Return, for each time the post-processor trims, whether to keep a first space (the pre-tokenizer's prefix).

    >>> trim_steps(ByteLevel(add_prefix_space=False))
    [False]
    """
    if isinstance(post_processor, ProcessorSequence):
        return [kept for step in post_processor.processors for kept in trim_steps(step)]
    if isinstance(post_processor, (ByteLevel, RobertaProcessing)) and post_processor.trim_offsets:
        return [post_processor.add_prefix_space]
    return []


def edge_spaces(token: str) -> tuple[int, int]:
    """Return the number of spaces at a token's start and end: white space, or the space of GPT-2's alphabet.

    >>> edge_spaces("Ġ\\tthe"), edge_spaces(" ")
    ((2, 0), (1, 1))
    """
    spaces = "Ġ" + white_space()
    return len(token) - len(token.lstrip(spaces)), len(token) - len(token.rstrip(spaces))


def trim_offsets(offsets: Sequence[Offsets], edges: Iterable[tuple[int, int]], keep_first: bool) -> list[Offsets]:
    """Return `offsets` without the spaces at token edges; `keep_first` keeps one space at the very beginning."""
    found = []
    for index, ((start, end), (front, after)) in enumerate(zip(offsets, edges)):
        kept = keep_first and front == 1 and (index == 0 or start == 0)
        first = start if kept else min(start + front, end)
        found.append((first, max(end - after, first) if end >= after else end))
    return found
