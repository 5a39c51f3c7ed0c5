"""The place of every token in the original text: from the bytes of a piece to the characters that they come from.

A token of a byte-level model may be part of a character; then it stands for all of it. Where a piece has characters that
the vocabulary lacks, tokens and bytes no longer match, and the units that the model started from say how many bytes each
token took. `trimmed` then does what a file's post-processor asks for: spaces at a token's edges are left out.

Chapter: File formats. Cost: linear. Source: `into_encoding` in Hugging Face tokenizers (`tokenizer/pre_tokenizer.rs`),
`merge_word` in `models/bpe/model.rs`, `process_offsets` in `pre_tokenizers/byte_level.rs`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from .alignment import Aligned
from .model import BPEModel
from .normalizers.characters import white_space
from .postprocessors import ByteLevel, PostProcessor, ProcessorSequence, RobertaProcessing

Offsets = tuple[int, int]
"""The characters from the first to before the second."""


class PlacedToken(NamedTuple):
    """A token's id, where it stands, and the text of an added one."""

    id: int
    offsets: Offsets
    added: str | None


def added_token(token_id: int, part: Aligned) -> PlacedToken:
    """An added token that was found in a text, which stands for all of `part`."""
    return PlacedToken(token_id, (part.starts[0], part.ends[-1]), part.text)


def place(
    model: BPEModel, ids: Sequence[int], piece: Aligned, to_bytes: Callable[[str], bytes]
) -> Iterator[PlacedToken]:
    """The tokens of a piece, whose text `to_bytes` makes the bytes that the model saw."""
    data = to_bytes(piece.text)
    starts, ends = piece.starts, piece.ends
    if len(data) != len(piece.text):
        of_byte = [n for n, char in enumerate(piece.text) for _ in range(_width(to_bytes, char))]
        starts, ends = [starts[n] for n in of_byte], [ends[n] for n in of_byte]
    at, last = 0, len(data) - 1
    for token_id, size in zip(ids, _sizes(model, ids, data)):
        yield PlacedToken(token_id, (starts[min(at, last)], ends[min(at + size - 1, last)]), None)
        at += size


@lru_cache(1 << 12)
def _width(to_bytes: Callable[[str], bytes], char: str) -> int:
    return len(to_bytes(char))


def _sizes(model: BPEModel, ids: Sequence[int], data: bytes) -> Iterable[int]:
    """How many bytes of a piece each of its tokens stands for."""
    tokens, units = model.tokens, model.units
    if units is None or model.bytewise or b"".join([tokens[token_id] for token_id in ids]) == data:
        return [len(tokens[token_id]) for token_id in ids]
    sizes, waiting = [], iter(units.sized_ids(data, model.alphabet))
    if model.whole(data) is not None:
        return [len(data)]
    for token_id in ids:
        # A merged token is its units joined, less the prefix of all but the first.
        unit, size = next(waiting)
        length = len(tokens[unit])
        while length < len(tokens[token_id]):
            unit, more = next(waiting)
            length += len(tokens[unit].removeprefix(units.prefix))
            size += more
        sizes.append(size)
    return sizes


# -- trimming ----------------------------------------------------------------------------------------------------------


def trimmings(post_processor: PostProcessor | None) -> list[bool]:
    """One for each time that a post-processor trims: whether a first space is kept, as put in by the pre-tokenizer.

    >>> trimmings(ByteLevel(add_prefix_space=False))
    [False]
    """
    if isinstance(post_processor, ProcessorSequence):
        return [kept for step in post_processor.processors for kept in trimmings(step)]
    if isinstance(post_processor, (ByteLevel, RobertaProcessing)) and post_processor.trim_offsets:
        return [post_processor.add_prefix_space]
    return []


def spaces_around(token: str) -> tuple[int, int]:
    """How many spaces a token has in front and behind: white space, or the space of GPT-2's alphabet.

    >>> spaces_around("Ġ\tthe"), spaces_around(" ")
    ((2, 0), (1, 1))
    """
    spaces = "Ġ" + white_space()
    return len(token) - len(token.lstrip(spaces)), len(token) - len(token.rstrip(spaces))


def trimmed(
    offsets: Sequence[Offsets], edges: Iterable[tuple[int, int]], keep_first: bool
) -> list[Offsets]:
    """`offsets` without the spaces at the edges of the tokens; `keep_first` for one space at the very beginning."""
    found = []
    for number, ((start, end), (front, behind)) in enumerate(zip(offsets, edges)):
        kept = keep_first and front == 1 and (number == 0 or start == 0)
        first = start if kept else min(start + front, end)
        found.append((first, max(end - behind, first) if end >= behind else end))
    return found
