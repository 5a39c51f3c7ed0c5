"""Random vocabularies with superwords, and texts of their words."""

import random

from bpelab import BPEModel
from bpelab.encoders.superwords import SUPERWORD
from bpelab.trainers.naive import replace_pair

from .conftest import fuzz_text

WORDS = [
    " of",
    " the",
    "a",
    " a",
    "of the",
    "\n",
    " ",
    "é",
    " é b",
    "--",
    "12",
    "of",
    "e",
    "t",
    "日本",
    "b\xa0 c",
    "x y",
]


def random_text(rng: random.Random) -> str:
    if rng.random() < 0.1:
        return "".join(rng.choices(WORDS, k=400)) + rng.choice(WORDS) * 300
    return "".join(rng.choices(WORDS, k=rng.randint(0, 40))) + fuzz_text(rng)


def random_merges(rng: random.Random) -> list[tuple[bytes, bytes]]:
    """Merges of neighbours in a text, as in training but of random ones: words first, then anything."""
    text = "".join(rng.choices(WORDS, k=80)).encode()
    ids, merges = [bytes([byte]) for byte in text], list[tuple[bytes, bytes]]()
    words = rng.randint(0, 40)
    for _ in range(rng.randint(60, 200)):
        at = rng.randrange(len(ids) - 1)
        pair = ids[at], ids[at + 1]
        if len(merges) < words and SUPERWORD.search(b"".join(pair)):
            continue
        if b"".join(pair) not in {left + right for left, right in merges}:
            merges.append(pair)
            ids = replace_pair(ids, pair, b"".join(pair))
        if len(ids) < 2:
            break
    return merges


def models(rng: random.Random, rounds: int):
    for _ in range(rounds):
        merges = random_merges(rng)
        model = BPEModel.from_merges(merges)
        if rng.random() < 0.5:  # ids that aren't indices
            ids = rng.sample(range(5_000), len(model.tokens))
            model = BPEModel.from_vocab({ids[at]: token for at, token in model.tokens.items()}, merges)
        yield model
