"""Small models, words and pieces that the exercises of several chapters are tried on: always the same, small first."""

import copy
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

from ..model import BPEModel
from ..tokenizer import BPETokenizer
from ..trainers.naive import train_naive

SINGLE = {bytes([byte]): byte for byte in range(256)}
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


def tokenizer_of(text: str, size: int, special_tokens: Mapping[str, int] | None = None) -> BPETokenizer:
    """A fresh copy of a tokenizer trained on `text`, which is trained once."""
    return copy.deepcopy(_trained(text, size, tuple((special_tokens or {}).items())))


@lru_cache(64)
def _trained(text: str, size: int, special_tokens: tuple[tuple[str, int], ...]) -> BPETokenizer:
    return BPETokenizer.train(text, size, special_tokens=dict(special_tokens), progress=False)


def pieces(alphabet: bytes, longest: int) -> Iterator[bytes]:
    """Every piece over an alphabet, up to a length.

    >>> list(pieces(b"ab", 2))
    [b'', b'a', b'b', b'aa', b'ab', b'ba', b'bb']
    """
    for size in range(longest + 1):
        for letters in product(alphabet, repeat=size):
            yield bytes(letters)


def merges(words: dict[bytes, int], number: int) -> list[tuple[bytes, bytes]]:
    """The merges that training learns from `words`."""
    tokens = [bytes([byte]) for byte in range(256)]
    learned = []
    for step in train_naive(words, number, min_frequency=1):
        learned.append((tokens[step.left], tokens[step.right]))
        tokens.append(step.token)
    return learned


def models() -> list[BPEModel]:
    """Models with trained merges, none to a dozen."""
    lists = [
        [],
        [(b"a", b"b")],
        [(b"a", b"a")],
        [(b"a", b"b"), (b"b", b"c"), (b"bc", b"d")],
        [(b"b", b"c"), (b"a", b"b"), (b"c", b"d")],
        [(b"a", b"a"), (b"aa", b"aa"), (b"aa", b"a")],
        [(b"w", b"e"), (b"e", b"r"), (b"l", b"o"), (b"lo", b"w")],
        merges({b"banana": 2, b"bandana": 1}, 6),
        merges({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 12),
        merges({b" rat": 3, b" that": 1, b" ate": 1, b" the": 1}, 8),
    ]
    return [BPEModel.from_merges(pairs) for pairs in lists]


def models_and_pieces() -> Iterator[tuple[BPEModel, bytes]]:
    """Each model with short pieces, then with words."""
    chosen = models()
    for piece in pieces(b"ab", 3):
        for model in chosen[:3]:
            yield model, piece
    for model in chosen[3:6]:
        for piece in (b"", b"abc", b"bcd", b"abcd", b"aaaaa", b"abcdabcd", b"aabbccdd"):
            yield model, piece
    for model in chosen[6:]:
        for piece in WORDS:
            yield model, piece


def everything(alphabet: bytes, longest: int) -> Iterator[tuple[BPEModel, bytes]]:
    """Small models with every piece over an alphabet."""
    for piece in pieces(alphabet, longest):
        for model in models()[1:6]:
            yield model, piece
