"""Fixtures: small models, words and pieces that several chapters check answers on, in a fixed order, small first."""

import copy
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

from ..errors import BPELabError
from ..model.bpe import BPEModel
from ..notebook.messages import code, merges_of
from ..tokenizer import BPETokenizer
from ..trainers.naive import train_naive

Merges = list[tuple[bytes, bytes]]
BYTE_RANKS = {bytes([byte]): byte for byte in range(256)}
CORPORA: tuple[dict[bytes, int], ...] = (
    {b"ab": 1},
    {b"ab": 2},
    {b"aaa": 2},
    {b"ab": 2, b"cd": 2},
    {b"cd": 2, b"ab": 2},
    {b"aab": 3, b"ba": 2},
    {b" a": 4, b"bc": 4},
    {b"aaaaa": 1, b"bc": 3},
    {b"banana": 2, b"bandana": 1},
    {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3},
    {b" rat": 3, b"a": 1, b" that": 1, b" ate": 1, b" the": 1, b" hat": 1, b",": 2},
    {"né".encode(): 2, "né à".encode(): 3, b" \n": 3, b"\n\n": 2},
)
WORDS = (b"low", b"lower", b"lowest", b"newest", b"widest", b"slow", b"banana", b"bandana", b" that rat", b"aaaaaaa")


def trained_tokenizer(text: str, vocab_size: int, special_tokens: Mapping[str, int] | None = None) -> BPETokenizer:
    """Train a tokenizer on `text`, once, and return a copy of it."""
    return copy.deepcopy(_trained(text, vocab_size, tuple((special_tokens or {}).items())))


@lru_cache(64)
def _trained(text: str, vocab_size: int, special_tokens: tuple[tuple[str, int], ...]) -> BPETokenizer:
    return BPETokenizer.train(text, vocab_size, special_tokens=dict(special_tokens), progress=False)


def all_pieces(alphabet: bytes, max_length: int) -> Iterator[bytes]:
    """Yield every piece over an alphabet, up to a length in bytes.

    >>> list(all_pieces(b"ab", 2))
    [b'', b'a', b'b', b'aa', b'ab', b'ba', b'bb']
    """
    for length in range(max_length + 1):
        for letters in product(alphabet, repeat=length):
            yield bytes(letters)


def learned_merges(words: dict[bytes, int], count: int) -> Merges:
    """Return the merges that training learns from `words`."""
    tokens = [bytes([byte]) for byte in range(256)]
    learned = []
    for step in train_naive(words, count, min_frequency=1):
        learned.append((tokens[step.left], tokens[step.right]))
        tokens.append(step.token)
    return learned


def models() -> list[BPEModel]:
    """Return models with zero to twelve merges."""
    lists = [
        [],
        [(b"a", b"b")],
        [(b"a", b"a")],
        [(b"a", b"b"), (b"b", b"c"), (b"bc", b"d")],
        [(b"b", b"c"), (b"a", b"b"), (b"c", b"d")],
        [(b"a", b"a"), (b"aa", b"aa"), (b"aa", b"a")],
        [(b"w", b"e"), (b"e", b"r"), (b"l", b"o"), (b"lo", b"w")],
        learned_merges({b"banana": 2, b"bandana": 1}, 6),
        learned_merges({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 12),
        learned_merges({b" rat": 3, b" that": 1, b" ate": 1, b" the": 1}, 8),
    ]
    return [BPEModel.from_merges(pairs) for pairs in lists]


def models_and_pieces() -> Iterator[tuple[BPEModel, bytes]]:
    """Yield each model with short pieces, then with words."""
    all_models = models()
    for piece in all_pieces(b"ab", 3):
        for model in all_models[:3]:
            yield model, piece
    for model in all_models[3:6]:
        for piece in (b"", b"abc", b"bcd", b"abcd", b"aaaaa", b"abcdabcd", b"aabbccdd"):
            yield model, piece
    for model in all_models[6:]:
        for piece in WORDS:
            yield model, piece


def models_and_all_pieces(alphabet: bytes, max_length: int) -> Iterator[tuple[BPEModel, bytes]]:
    """Yield small models with every piece over an alphabet."""
    for piece in all_pieces(alphabet, max_length):
        for model in models()[1:6]:
            yield model, piece


def rank_tables() -> Iterator[tuple[dict[bytes, int], bytes]]:
    """Yield (rank table, token) for each multi-byte token of several tables, and for one single byte."""
    lists = [merges_of(model) or [] for model in models()[1:]]
    lists += [[(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")], [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]]
    yield dict(BYTE_RANKS), b"a"
    yield BYTE_RANKS | {b"abc": 256}, b"abc"
    for pairs in lists:
        ranks = BYTE_RANKS | {left + right: 256 + index for index, (left, right) in enumerate(pairs)}
        for token in ranks:
            if len(token) > 1:
                yield ranks, token


def is_rank_table(ranks: Any, token: bytes) -> bool:
    """Return whether `ranks`, after shrinking, is still a rank table that contains `token`."""
    return token in ranks and all(ranks.get(bytes([byte])) == byte for byte in range(256))


def merge_lists(*extra: Merges) -> Iterator[tuple[Merges]]:
    """Yield lists of merges: an empty one, those of `models()`, four written by hand, `extra`, and a learned one."""
    yield ([],)
    for model in models()[1:]:
        yield (merges_of(model) or [],)
    made_up: list[Merges] = [
        [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")],
        [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")],
        [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"abc", b"bc")],
        [(b"a", b"a"), (b"a", b"aa")],
    ]
    for merges in (*made_up, *extra):
        yield (merges,)
    yield (learned_merges({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3, b"wider": 4}, 20),)


def is_merge_list(merges: Merges, *, distinct: bool = False) -> bool:
    """Return whether `BPEModel.from_merges` accepts a list, and if `distinct`, whether each merge makes a new token."""
    try:
        model = BPEModel.from_merges(merges)
    except BPELabError:
        return False
    return not distinct or len(model.tokens) == 256 + len(merges)


def is_close(expected: Any, got: Any) -> bool:
    """Return whether two numbers, or lists of them, are equal up to rounding errors."""
    if isinstance(expected, list):
        return isinstance(got, (list, tuple)) and len(got) == len(expected) and all(map(is_close, expected, got))
    if isinstance(expected, float) and isinstance(got, (int, float)):
        return math.isclose(expected, got, abs_tol=1e-9)
    return bool(expected == got)


def call_with_set(answer: Any, word: str, pieces: list[str]) -> Any:
    """Call an answer with a set: the inputs have a list, which can be shrunk."""
    return answer(word, set(pieces))


def show_with_set(name: str, word: str, pieces: list[str]) -> str:
    """Return the call as a message shows it."""
    return f"{name}({code(word)}, {code(set(pieces))})"
