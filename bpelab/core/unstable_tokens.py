"""Unstable tokens: the ids at the end of a text that more text may change, and bytes that end inside a character.

A tokenizer cuts a text into pieces, and the text that follows can move the last cut. The ids of the last piece, and of
the white space before it, are therefore unstable. The rules here are tiktoken's, with its approximations, so that the
ids are the same. `StreamEncoder` knows exactly which ids are final.

Source: tiktoken `src/lib.rs`, `_encode_bytes` and `_encode_unstable_native`.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ..errors import BPELabError
from .pipeline import Pipeline

SPACES = b" \n\t"
INFORMATION_SEPARATORS = "\x1c\x1d\x1e\x1f"  # white space in Python, but not by Unicode's property


def count_unstable(pipeline: Pipeline, ids: Sequence[int], last_part: str) -> int:
    """Return how many of the last `ids` may change; `last_part` is the text after the last special token."""
    if not last_part:
        return 0
    count = len(pipeline.encode_piece(pipeline.pieces(last_part)[-1].encode()))
    tokens = pipeline.model.tokens

    def is_space(token_id: int) -> bool:
        return token_id in tokens and not tokens[token_id].strip(SPACES)

    if is_space(ids[-count]):
        while count < len(ids) and is_space(ids[-count - 1]):
            count += 1
    return count


def encode_bytes(pipeline: Pipeline, data: bytes) -> list[int]:
    """Return the ids of bytes that may not be UTF-8; for valid UTF-8, the ids of the text.

    From the start of the piece with the first invalid byte, the rest is one piece, as in tiktoken. `decode_bytes` of
    the ids is `data`. Raises BPELabError for a tokenizer with a normalizer, several patterns, or tokens that aren't
    bytes.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("abab", 257)
    >>> cut = "ab é".encode()[:-1]
    >>> encode_bytes(t.pipeline, cut), t.decode_bytes(encode_bytes(t.pipeline, cut)) == cut
    ([256, 32, 195], True)
    """
    if not pipeline.is_single_split:
        raise BPELabError(
            "bytes that are not UTF-8 can be encoded by tokenizers that cut a text by one pattern alone and merge bytes"
        )
    try:
        return pipeline.ids(data.decode())
    except UnicodeDecodeError as error:
        stop = error.start
    valid = data[:stop].decode()
    ids = pipeline.ids(valid)
    kept = len(ids) - count_unstable(pipeline, ids, valid)
    rest = b"".join(pipeline.model.tokens[token_id] for token_id in ids[kept:]) + data[stop:]
    return ids[:kept] + pipeline.encode_piece(rest)


def completions(pipeline: Pipeline, sorted_tokens: Sequence[bytes], end: bytes) -> set[tuple[int, ...]]:
    """Return the id sequences that the unstable bytes `end` may turn into, each just long enough to cover them.

    `sorted_tokens` are the model's tokens in order. Cost: an encoding for each token that starts with a suffix of
    `end`; thousands if that is a space.
    """
    if not end:
        return set()
    ids, merge = pipeline.model.ids, pipeline.encode_piece
    found: set[tuple[int, ...]] = {(ids[token],) for token in _starting(sorted_tokens, end)}
    for at in range(1, len(end)):
        for token in _starting(sorted_tokens, end[at:]):
            found.add(_covering(pipeline, _encode(pipeline, end[:at] + token), len(end)))
    last = len(_last_character(end))
    if last < len(end) and _is_white_space(end[-last:]):
        found.add((*merge(end[:-last]), *merge(end[-last:])))
    return found


def _starting(sorted_tokens: Sequence[bytes], prefix: bytes) -> Iterator[bytes]:
    for at in range(bisect_left(sorted_tokens, prefix), len(sorted_tokens)):
        if not sorted_tokens[at].startswith(prefix):
            break
        yield sorted_tokens[at]


def _encode(pipeline: Pipeline, data: bytes) -> list[int]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return pipeline.encode_piece(data)
    return pipeline.ids(text)


def _covering(pipeline: Pipeline, ids: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the shortest prefix of `ids` whose tokens have at least `size` bytes."""
    tokens, length = pipeline.model.tokens, 0
    for count, token_id in enumerate(ids, 1):
        length += len(tokens[token_id])
        if length >= size:
            return tuple(ids[:count])
    return tuple(ids)


def _last_character(data: bytes) -> bytes:
    """Return the bytes of the last character, or the last byte if no character ends there."""
    for size in range(1, min(4, len(data)) + 1):
        try:
            data[-size:].decode()
        except UnicodeDecodeError:
            continue
        return data[-size:]
    return data[-1:]


def _is_white_space(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    return text.isspace() and text not in INFORMATION_SEPARATORS
