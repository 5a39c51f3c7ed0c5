"""The exercises of chapter 10, A trie, and exact backtracking."""

from collections.abc import Iterator
from itertools import product

from ..encoders import NaiveEncoder, TrieEncoder
from ..model import BPEModel
from ..recover import compatible
from ..trace import TrieStep, trace_encode
from .chapter_06 import RECOVER_HINTS, is_table, tables
from .engine import Exercise
from .material import models, models_and_pieces, pieces


def count_cuts(model, piece):  # type: ignore[no-untyped-def]
    """The number of ways to write `piece` as tokens of `model`; 1 for no bytes."""
    ways = [0] * len(piece) + [1]  # ways[i]: for what is left from byte i on
    for start in range(len(piece) - 1, -1, -1):
        ends = range(start + 1, min(start + model.max_token_bytes, len(piece)) + 1)
        ways[start] = sum(ways[end] for end in ends if piece[start:end] in model.ids)
    return ways[0]


def bytes_given_back(encoder, piece):  # type: ignore[no-untyped-def]
    """The lengths of the tokens that the trie encoder takes back, summed."""
    steps = trace_encode(encoder, piece)
    return sum(len(encoder.model.tokens[step.token]) for step in steps if step.action == "back")  # type: ignore


def culprit(model, left, right):  # type: ignore[no-untyped-def]
    """For two tokens (bytes) side by side: the pair (bytes, bytes) across the
    border that you meet on the way back in time and that would have merged
    too early; None where the two tokens are compatible."""
    splits, rank_of = model.recovered.splits, model.recovered.rank_of
    left, right, limit = model.ids[left], model.ids[right], float("inf")
    while True:
        merge = model.merges.get((left, right))
        if merge is not None and merge[0] < limit:
            return model.tokens[left], model.tokens[right]
        left_rank, right_rank = rank_of.get(left, -1), rank_of.get(right, -1)
        if left_rank > right_rank:
            limit, left = left_rank, splits[left][1]
        elif right_rank >= 0:
            limit, right = right_rank + 0.5, splits[right][0]
        else:
            return None


def made_of(ranks, token):  # type: ignore[no-untyped-def]
    """The two tokens (bytes, bytes) that `token` (bytes) is made from, given all
    ranks (bytes -> rank); None where what is left over is not two tokens."""
    before = {other: rank for other, rank in ranks.items() if rank < ranks[token] or len(other) == 1}
    model = BPEModel.from_ranks(before, take_whole=False)
    parts = [model.tokens[part] for part in NaiveEncoder(model).encode_piece(token)]
    return tuple(parts) if len(parts) == 2 else None


def encode_by_prefixes(model, piece):  # type: ignore[no-untyped-def]
    """The ids of `piece`, found without a trie and without stepping back.
    `model` has trained merges."""
    splits, rank_of = model.recovered.splits, model.recovered.rank_of
    merged = {pair: rank_of[token] for token, pair in splits.items()}
    last = [-1]  # last[n]: the last token of the first n bytes
    for end in range(1, len(piece) + 1):
        for start in range(max(0, end - model.max_token_bytes), end):
            token = model.ids.get(piece[start:end])
            if token is not None and (start == 0 or compatible(last[start], token, splits, rank_of, merged)):
                last.append(token)
                break
    ids, end = [], len(piece)
    while end:
        ids.append(last[end])
        end -= len(model.tokens[last[end]])
    return ids[::-1]


def _cuts() -> Iterator[tuple[BPEModel, bytes]]:
    yield from models_and_pieces()
    for size in (20, 60, 120):
        yield models()[5], b"a" * size


def _tries() -> Iterator[tuple[TrieEncoder, bytes]]:
    for model in models()[3:5]:
        for piece in pieces(b"abcd", 3):
            yield TrieEncoder(model), piece
    for model, piece in models_and_pieces():
        yield TrieEncoder(model), piece


def _steps_back(encoder: TrieEncoder, piece: bytes) -> bool:
    return all(isinstance(step, TrieStep) for step in trace_encode(encoder, piece))


def _neighbours() -> Iterator[tuple[BPEModel, bytes, bytes]]:
    for model in models()[1:]:
        made = [token for token in model.tokens.values() if len(token) > 1]
        letters = sorted({bytes([byte]) for token in made for byte in token})
        for left, right in product([*letters, *made][:14], repeat=2):
            yield model, left, right


def _prefixes() -> Iterator[tuple[BPEModel, bytes]]:
    for model in models()[2:6]:
        for piece in pieces(b"abcd", 3):
            yield model, piece
    yield from models_and_pieces()


EXERCISES = [
    Exercise(
        "10.1",
        "How many ways",
        count_cuts,
        _cuts,
        (
            "For no bytes there is one way: no tokens.",
            "For a piece: for each token that it begins with, add the number of ways for what is left.",
            "Fill a list from the end of the piece to its beginning, so that what is left has been counted already.",
        ),
    ),
    Exercise(
        "10.2",
        "Walked in vain",
        bytes_given_back,
        _tries,
        (
            'Each step of trace_encode(encoder, piece) has an action. The one that takes a token off is "back".',
            "encoder.model.tokens[step.token] are the token's bytes.",
        ),
        allowed=_steps_back,
    ),
    Exercise(
        "10.3",
        "The culprit",
        culprit,
        _neighbours,
        (
            "Read `compatible` again. Where it says False, the two tokens that face each other are the answer.",
            "model.merges.get((left, right)) gives (rank, id) or None. The two that you start with count too.",
            "Undo the later of the two merges: the left token gives way to its right part, the right one to its left "
            "part. After undoing the right one, a pair of equal rank is still too early.",
        ),
        allowed=lambda model, left, right: left in model.ids and right in model.ids,
    ),
    Exercise("10.4", "Another way to the merges", made_of, tables, RECOVER_HINTS, allowed=is_table),
    Exercise(
        "10.5",
        "No steps back at all",
        encode_by_prefixes,
        _prefixes,
        (
            "The last token of a prefix is the longest one that ends there and is compatible with the last token of "
            "what comes before it.",
            "`compatible` takes splits, rank_of and merged; the first two are in model.recovered, and merged is "
            "{pair: rank_of[token] for token, pair in splits.items()}.",
            "From the end: take the last token of the whole piece, go back by its length, and again.",
        ),
    ),
]
