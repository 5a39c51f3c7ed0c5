"""Count tokens up to a limit, and find the longest prefix of a text that fits a number of tokens.

The number of tokens isn't monotonic in a prefix's length: a word cut in two can take more tokens than the whole word.
So neither bisection nor cutting the ids finds the longest prefix that fits. The search runs from the far end, but only
over the few characters where the answer can lie: pieces well before the end of a prefix don't depend on where it ends,
so their tokens are counted once.
"""

from collections.abc import Callable, Iterator
from itertools import accumulate, chain

from .._support.textio import utf8
from ..boundaries.named_patterns import split_at_boundaries
from ..encoders.trie import TrieEncoder
from ..model.bpe import BPEModel
from ..normalizers import UnicodeNormalizer
from .pipeline import Pipeline

LONG_PIECE = 256
"""The length from which all prefixes of a piece are counted at once instead of one by one."""


def count_capped(counts: Iterator[int], limit: int) -> int:
    """Return the sum of `counts`, but at most `limit` + 1; counts after the limit is passed aren't read.

    >>> count_capped(iter([2, 3, 4]), 4), count_capped(iter([2, 2]), 4)
    (5, 4)
    """
    total = 0
    for number in counts:
        total += number
        if total > limit:
            return limit + 1
    return total


def count_up_to(pipeline: Pipeline, text: str, limit: int, added: int) -> int:
    """Return `added` plus the number of ids of a valid text, but at most `limit` + 1; once that is reached, the rest
    isn't encoded.

    For a pipeline whose ids depend only on the pieces of one pattern (`Pipeline.is_single_split`).
    """
    pieces = pipeline.split.iter_split(text) if pipeline.split else iter([text] if text else [])
    counts = (len(pipeline.cache.get(piece) or pipeline.encode_and_cache(piece)) for piece in pieces)
    return count_capped(chain([added], counts), limit)


def longest_fitting(pipeline: Pipeline, text: str, limit: int) -> int:
    """Return the length in characters of the longest prefix of a valid text that has at most `limit` ids."""

    def count(part: str) -> int:
        return len(pipeline.ids(part))

    def count_piece(piece: str) -> int:
        return len(pipeline.encode_pieces([piece]))

    split = pipeline.split
    if pipeline.is_single_split:  # a piece of a pattern that cuts words is also one piece on its own
        alone = count if split is None or split.cuts_words else count_piece
        return longest_prefix(text, limit, pipeline.pieces, count, alone, pipeline.model)
    # Patterns that cut words have boundaries, where a cut changes no ids, in any normal form.
    if split is not None and split.cuts_words and isinstance(pipeline.normalizer, UnicodeNormalizer):
        return longest_prefix(text, limit, split_at_boundaries, count, count, None)
    return approximate_longest_prefix(text, limit, count)


def longest_prefix(
    text: str,
    limit: int,
    split: Callable[[str], list[str]],
    count: Callable[[str], int],
    count_piece: Callable[[str], int],
    model: BPEModel | None,
) -> int:
    """Return the length in characters of the longest prefix of `text` for which `count` is at most `limit`.

    `split` cuts a text into pieces, and `count_piece` counts the tokens of one. If a prefix ends inside piece i, its
    pieces up to i - 2 are those of the whole text (a named pattern looks ahead one character, into the next piece).
    `model` is None if a normalizer stands between characters and tokens; huge pieces then have no shortcut.
    """
    pieces = split(text if model is None else text[: (limit + 1) * model.max_token_bytes])
    starts = list(accumulate(map(len, pieces), initial=0))
    tokens = [0]
    for piece in pieces:
        tokens.append(tokens[-1] + count_piece(piece))
        if len(tokens) > 2 and tokens[-3] > limit:
            break
    last = max(i for i in range(len(tokens)) if i < 2 or tokens[i - 2] <= limit)
    for i in range(last, 0, -1):
        settled = max(0, i - 2)
        base, begin = tokens[settled], starts[settled]
        room = limit - base
        for end in _candidates(pieces[i - 1], starts[i - 1], limit - tokens[i - 1], model):
            if count(text[begin:end]) <= room:
                return end
    return 0


def _candidates(piece: str, start: int, room: int, model: BPEModel | None) -> Iterator[int]:
    """Yield the ends inside a piece worth trying, longest first: all of them, or in a huge piece those that may fit."""
    if len(piece) <= LONG_PIECE or model is None or not TrieEncoder.supports(model):
        yield from range(start + len(piece), start, -1)
        return
    ends = list(accumulate(len(utf8(char)) for char in piece))
    counts = TrieEncoder(model).prefix_counts(utf8(piece))
    for offset in range(len(piece) - 1, -1, -1):
        if counts[ends[offset]] <= room + 2 or offset >= len(piece) - 3:
            yield start + offset + 1


SEARCH_WINDOW = 64


def approximate_longest_prefix(text: str, limit: int, count: Callable[[str], int]) -> int:
    """Return the length of a prefix with at most `limit` tokens by `count`, for any tokenizer.

    Bisection finds an offset where the count passes the limit. Then every prefix up to `SEARCH_WINDOW` characters after
    that offset is tried, longest first. Cost: log(length) plus `SEARCH_WINDOW` encodings.
    """
    short, long = 0, len(text) + 1
    while long - short > 1:
        middle = (short + long) // 2
        short, long = (middle, long) if count(text[:middle]) <= limit else (short, middle)
    ends = range(min(len(text), short + SEARCH_WINDOW), short, -1)
    return next((end for end in ends if count(text[:end]) <= limit), short)
