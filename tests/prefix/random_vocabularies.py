"""Random vocabularies over few characters, with patterns of all kinds, and texts that begin anywhere in them."""

import random

from bpelab import BPEModel, BPETokenizer
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.normalizers import NormalizerSequence, Prepend, Replace
from bpelab.regex.matchers import Pattern
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

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


SENTENCEPIECE = [("ab ", "x"), ("ab ", "éx"), ("aé ", "ê"), ("aé ", "êx"), ("a日 ", "旦")]
"""Characters of a vocabulary, and others: one for each first bytes of a character."""
END = AddedToken("<|0|>", 300)


def random_model(rng: random.Random, characters: str) -> BPEModel:
    """Up to 14 tokens of up to three bytes: merges, as they are learned or in any order, or ranks."""
    units = sorted({bytes([byte]) for byte in characters.encode()})
    if rng.random() < 0.5:
        merges = random_merges(rng, units)
        if rng.random() < 0.3:
            rng.shuffle(merges)  # some tokens then rank before their parts
            ids = {bytes([byte]): byte for byte in range(256)}
            ids |= {left + right: 256 + at for at, (left, right) in enumerate(merges)}
            return BPEModel.from_vocab(ids, merges)
        return BPEModel.from_merges(merges, ignore_merges=rng.random() < 0.3)
    drawn = {b"".join(rng.choices(units, k=rng.randint(2, 3))): None for _ in range(rng.randint(1, 14))}
    ranks = {bytes([byte]): byte for byte in range(256)} | {token: 256 + at for at, token in enumerate(drawn)}
    return BPEModel.from_ranks(ranks, ignore_merges=rng.random() < 0.7)


def random_merges(rng: random.Random, units: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Up to 14 merges, each of tokens that are there before it."""
    tokens, merges = list(units), []
    for _ in range(rng.randint(1, 14)):
        pair = rng.choice(tokens), rng.choice(tokens)
        if len((pair[0] + pair[1]).decode(errors="ignore") or "?") <= 3 and pair[0] + pair[1] not in tokens:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
    return merges


def random_added(rng: random.Random, characters: str) -> list[AddedToken]:
    """Up to three added tokens of up to three characters that aren't special."""
    texts = sorted({"".join(rng.choices(characters, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 3))})
    return [AddedToken(text, 400 + at, special=False) for at, text in enumerate(texts)]


def random_case(rng: random.Random, cases=CASES, special: tuple[AddedToken, ...] = ()) -> tuple[BPETokenizer, str]:
    """A tokenizer of bytes that is served, with special tokens, and the characters of its texts."""
    pattern, alphabet, characters = rng.choice(cases)
    added = random_added(rng, characters) if rng.random() < 0.4 else []
    tokens = SpecialTokens([*special, *added])
    return BPETokenizer(random_model(rng, characters), pattern=pattern, special_tokens=tokens), alphabet


def random_sentencepiece(
    rng: random.Random, cases=SENTENCEPIECE, special: tuple[AddedToken, ...] = ()
) -> tuple[BPETokenizer, str]:
    """A tokenizer of SentencePiece's kind: tokens of characters, spaces as `▁`, other characters as bytes."""
    characters, others = rng.choice(cases)
    units = sorted(char.replace(" ", "▁").encode() for char in characters)
    merges = random_merges(rng, units)
    if rng.random() < 0.3:
        rng.shuffle(merges)
    tokens = [f"<0x{byte:02X}>".encode() for byte in range(256)] + units + [left + right for left, right in merges]
    ids = {token: at for at, token in enumerate(tokens)}
    pairs = {(ids[left], ids[right]): (at, ids[left + right]) for at, (left, right) in enumerate(merges)}
    symbols = InitialSymbols(characters=True, byte_tokens={byte: byte for byte in range(256)})
    model = BPEModel(
        {at: token for token, at in ids.items()}, pairs, {unit: ids[unit] for unit in units}, initial_symbols=symbols
    )
    steps, added = [Replace(Pattern("String", " "), "▁")], list[AddedToken]()
    kind = rng.random()
    if kind < 0.3:
        steps.insert(0, Prepend("▁"))
    elif kind < 0.7:
        added = random_added(rng, characters)
    tokenizer = BPETokenizer(
        model,
        pattern=None,
        normalizer=NormalizerSequence(tuple(steps)),
        special_tokens=SpecialTokens([*special, *added]),
    )
    return tokenizer, characters + others


def random_beginning(rng: random.Random, alphabet: str) -> bytes:
    """A text of up to five characters, cut after any byte but the first."""
    data = "".join(rng.choices(alphabet, k=rng.randint(1, 5))).encode()
    return data[: rng.randint(1, len(data))]
