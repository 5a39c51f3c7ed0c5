"""The exercises of *A trie*."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ...encoders import TrieEncoder
from ...model.bpe import BPEModel
from ...model.merge_recovery import compatible
from ...model.trace import TrieStep, trace_encode
from ...notebook.messages import code
from ..exercise import Exercise
from ..fixtures import all_pieces, models, models_and_pieces
from .encoding import _vocabularies_and_pieces
from .heap import encode_piece


def count_cuts(model, piece):
    """Return the number of ways to write `piece` as tokens of `model`; 1 for no bytes."""
    ways = [0] * len(piece) + [1]  # ways[i]: of writing the rest, from byte i on
    for start in range(len(piece) - 1, -1, -1):
        ends = range(start + 1, min(start + model.max_token_bytes, len(piece)) + 1)
        ways[start] = sum(ways[end] for end in ends if piece[start:end] in model.ids)
    return ways[0]


def bytes_given_back(encoder, piece):
    """Return the total length of the tokens that the trie encoder takes back."""
    steps = trace_encode(encoder, piece)
    return sum(len(encoder.model.tokens[step.token]) for step in steps if step.action == "back")  # type: ignore


def culprit(model, left, right):
    """Return, for two adjacent tokens (bytes), the pair (bytes, bytes) across the
    border that would have merged too early, found by undoing their merges one by
    one; None if the two tokens are compatible."""
    splits, rank_of = model.recovered_merges.splits, model.recovered_merges.rank_of
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


def longest_that_fits(encoder, piece, limit):
    """Return the length in bytes of the longest prefix of `piece` that takes at
    most `limit` tokens when it is encoded by itself."""
    counts = encoder.prefix_counts(piece)  # counts[size]: tokens of the first `size` bytes
    return max(size for size, count in enumerate(counts) if count <= limit)


def encode_by_prefixes(model, piece):
    """Return the ids of `piece`, found without a trie and without stepping back.
    `model` has trained merges."""
    splits, rank_of = model.recovered_merges.splits, model.recovered_merges.rank_of
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
        for piece in all_pieces(b"abcd", 3):
            yield TrieEncoder(model), piece
    for model, piece in models_and_pieces():
        yield TrieEncoder(model), piece


def _steps_back(encoder: TrieEncoder, piece: bytes) -> bool:
    return all(isinstance(step, TrieStep) for step in trace_encode(encoder, piece))


def _neighbours() -> Iterator[tuple[BPEModel, bytes, bytes]]:
    for model in models()[1:]:
        tokens = [token for token in model.tokens.values() if len(token) > 1]
        letters = sorted({bytes([byte]) for token in tokens for byte in token})
        for left, right in product([*letters, *tokens][:14], repeat=2):
            yield model, left, right


def _limits() -> Iterator[tuple[TrieEncoder, bytes, int]]:
    for limit in (0, 1, 2, 3):
        for piece in (b"", b"a", b"ab", b"abc", b"abcd", b"abcdabcd", b"aaaaaaa"):
            for model in (*models()[1:6], *_late_merges()):
                yield TrieEncoder(model), piece, limit
    for model, piece in models_and_pieces():
        yield TrieEncoder(model), piece, 2


def _late_merges() -> Iterator[BPEModel]:
    """Yield models in which one more byte means fewer tokens: `abc` is one token, and `ab` is two."""
    yield BPEModel.from_merges([(b"b", b"c"), (b"a", b"bc")])
    yield BPEModel.from_merges([(b"c", b"d"), (b"a", b"b"), (b"ab", b"c"), (b"ab", b"cd"), (b"abcd", b"abc")])


def _prefixes() -> Iterator[tuple[BPEModel, bytes]]:
    for model in models()[2:6]:
        for piece in all_pieces(b"abcd", 3):
            yield model, piece
    yield from models_and_pieces()


def trie_encoder(vocab):
    """Return a function from a piece (bytes) to its ids; `vocab` is a dict of token (bytes) -> id.

    It takes the longest token that fits. It keeps it if merging its bytes and those of the token before
    it ends with exactly these two; otherwise it steps back to the next shorter one.
    """
    root = {}
    for token in vocab:
        node = root
        for byte in token:
            node = node.setdefault(byte, {})
        node["token"] = token
    known = {}

    def fits(left, right):
        if (left, right) not in known:
            known[left, right] = encode_piece(vocab, left + right) == [vocab[token] for token in (left, right) if token]
        return known[left, right]

    def matches(piece, start):
        node, found = root, []
        for index in range(start, len(piece)):
            if piece[index] not in node:
                break
            node = node[piece[index]]
            found += [node["token"]] if "token" in node else []
        return found

    def encode(piece):
        tokens, dead, start, choices = [], set(), 0, [matches(piece, 0)]
        while start < len(piece):
            if not choices[-1]:  # nothing fits here, so the token before was wrong
                dead.add(start)
                choices.pop()
                start -= len(tokens.pop())
                continue
            token = choices[-1].pop()
            if start + len(token) not in dead and fits(tokens[-1] if tokens else b"", token):
                tokens.append(token)
                start += len(token)
                choices.append(matches(piece, start))
        return [vocab[token] for token in tokens]

    return encode


def _encode_with(make: Any, vocab: dict[bytes, int], piece: bytes) -> Any:
    encode = make(vocab)
    return None if encode is None else encode(piece)


EXERCISES = [
    Exercise(
        "trie.1",
        "How many ways",
        count_cuts,
        _cuts,
        (
            "For no bytes there is one way: no tokens.",
            "For a piece: for each token that it begins with, add the number of ways for what is left.",
            "Fill a list from the end of the piece to its beginning, so that what is left has been counted already.",
        ),
        level="medium",
        next_step='How fast does the number grow? Try `b"some" * n` for small n.',
    ),
    Exercise(
        "trie.2",
        "Walked in vain",
        bytes_given_back,
        _tries,
        (
            'Each step of trace_encode(encoder, piece) has an action. The one that takes a token off is "back".',
            "encoder.model.tokens[step.token] are the token's bytes.",
        ),
        level="easy",
        next_step="Over the whole book, how many bytes are given back for each byte that stays?",
        is_valid=_steps_back,
    ),
    Exercise(
        "trie.3",
        "The culprit",
        culprit,
        _neighbours,
        (
            "Read `compatible` again. Where it says False, the two tokens that face each other are the answer.",
            "model.merges.get((left, right)) returns (rank, id) or None. The two that you start with count too.",
            "Undo the later of the two merges: the left token gives way to its right part, the right one to its left "
            "part. After undoing the right one, a pair of equal rank is still too early.",
        ),
        level="hard",
        next_step="Run it on a word that longest match gets wrong: the culprit names the merge.",
        is_valid=lambda model, left, right: left in model.ids and right in model.ids,
    ),
    Exercise(
        "trie.4",
        "What fits",
        longest_that_fits,
        _limits,
        (
            "encoder.prefix_counts(piece) has a number for every beginning, that of no bytes first.",
            "The counts go up and down. A beginning that is too long says nothing about those after it.",
            "Of all sizes whose count is within the limit, return the largest.",
        ),
        level="easy",
        next_step='Cutting there may split a character. "Text is bytes" has the function that prevents it.',
        is_valid=lambda encoder, piece, limit: limit >= 0,
    ),
    Exercise(
        "trie.5",
        "No steps back at all",
        encode_by_prefixes,
        _prefixes,
        (
            "The last token of a prefix is the longest one that ends there and is compatible with the last token of "
            "what comes before it.",
            "`compatible` takes splits, rank_of and merged; the first two are in model.recovered_merges, and merged is "
            "{pair: rank_of[token] for token, pair in splits.items()}.",
            "From the end: take the last token of the whole piece, go back by its length, and again.",
        ),
        level="hard",
        next_step="Time it beside the walk through the trie, on words and on a long run of one letter.",
    ),
    Exercise(
        "trie.6",
        "Your tokenizer: a trie",
        trie_encoder,
        _vocabularies_and_pieces,
        (
            "Build the trie once, outside of the function that you return: a dict of byte -> dict, with the token at "
            "its end.",
            "Two tokens fit if `encode_piece(vocab, left + right)` is the ids of exactly these two. Remember answers.",
            "Keep, for each token taken, the shorter matches at the same position. When none is left, step back.",
        ),
        level="hard",
        next_step=(
            'Your file trains, encodes in three ways, decodes and saves. It prompts a model in "A model answers".'
        ),
        call=_encode_with,
        is_valid=lambda vocab, piece: False,
        format_call=lambda name, vocab, piece: f"{name}({code(vocab)})({code(piece)})",
    ),
]
