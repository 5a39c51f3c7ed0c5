"""Random vocabularies over few characters, with patterns of all kinds, and texts that begin anywhere in them."""

import random
from typing import Any

from bpelab import BPEModel, BPETokenizer
from bpelab.encoders import TrieEncoder

CASES = [  # pattern, characters of texts, and those of them that tokens have
    (None, "abécè", "abé"),
    ("gpt2", "al cs'\n", "al '"),
    ("cl100k", "as c1!\n", "as 1!"),
    ("cl100k", "as ct'\n", "as '\n"),
    ("o200k", "aS cBt'", "aS '"),
    ("llama3", "a c\n\t1", "a \n1"),
    ("superbpe", "a c1!2?", "a 1!"),  # which leaves gaps
    (r"\s+(?!\S)|\S+|\s", "ab c\n", "ab "),
    (r"\p{L}+|[^\p{L}]$|[^\p{L}]+", "aé è1×", "aé 1"),
    ("[ab]+", "abc d", "ab "),
    ("a{0,2}b|a", "abcd", "abc"),
    (r"(?<=a)b+|[^b]c?", "abcd", "abc"),
    ("[a-z]{2}", "abc!", "ab"),
    (r"\w+\b|\W", "ab c!", "ab "),
]
"""Texts have a character that is in no token for each kind that the pattern tells apart, and for each first byte."""


def random_model(rng: random.Random, characters: str) -> BPEModel:
    """Up to 14 tokens of up to three bytes: merges as they are learned, or ranks, some of which no merges make."""
    units = sorted({bytes([byte]) for byte in characters.encode()})
    if rng.random() < 0.5:
        tokens, merges = list(units), []
        for _ in range(rng.randint(1, 14)):
            pair = rng.choice(tokens), rng.choice(tokens)
            if len(pair[0] + pair[1]) <= 3 and pair[0] + pair[1] not in tokens:
                merges.append(pair)
                tokens.append(pair[0] + pair[1])
        return BPEModel.from_merges(merges, ignore_merges=rng.random() < 0.3)
    drawn = {b"".join(rng.choices(units, k=rng.randint(2, 3))): None for _ in range(rng.randint(1, 14))}
    ranks = {bytes([byte]): byte for byte in range(256)} | {token: 256 + at for at, token in enumerate(drawn)}
    return BPEModel.from_ranks(ranks, ignore_merges=rng.random() < 0.7)


def random_case(rng: random.Random, cases=CASES, **options: Any) -> tuple[BPETokenizer, str]:
    """A tokenizer that is served, with these options, and the characters of its texts."""
    pattern, alphabet, characters = rng.choice(cases)
    while not TrieEncoder.supports(model := random_model(rng, characters)):
        pass
    return BPETokenizer(model, pattern=pattern, **options), alphabet


def random_beginning(rng: random.Random, alphabet: str) -> bytes:
    """A text of up to five characters, cut after any byte but the first."""
    data = "".join(rng.choices(alphabet, k=rng.randint(1, 5))).encode()
    return data[: rng.randint(1, len(data))]
