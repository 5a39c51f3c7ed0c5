"""Ids equal to tiktoken's: on texts, on every code point, on fuzz, and on long runs of one kind."""

import random
from functools import lru_cache

import pytest

from bpelab import BPETokenizer
from bpelab.encoders import NaiveEncoder

from ..conftest import ENCODINGS, SOAK, amount, boundary_characters, encoding, fuzz_text, shared_text

TEXTS = [
    "tinyshakespeare.txt",
    "udhr_multilingual.txt",
    "english_16MB.txt.xz",
    "languages_12MB.txt.xz",
    "cjk_5MB.txt.xz",
]
CONTEXTS = ["{}", "a{}b", " {}", "1{} ", "'{}\n", "A{}{}a\n{}"]
MEGABYTE = 1_000_000


@lru_cache(None)
def ours(name: str) -> BPETokenizer:
    return BPETokenizer.from_tiktoken(encoding(name))


def first_difference(name: str, text: str) -> str | None:
    got, want = ours(name).encode_ordinary(text), encoding(name).encode_ordinary(text)
    if got == want:
        return None
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    near = ours(name).decode(want[max(0, at - 5) : at + 5])
    return f"token {at}: {got[at : at + 8]} instead of {want[at : at + 8]} near {near!r}"


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("text", TEXTS)
def test_texts(name, text):
    """The whole of each text in a soak; otherwise the first 300,000 characters, cut into documents alike."""
    whole = shared_text(text, None if SOAK else 300_000)
    for start in range(0, len(whole), MEGABYTE):  # tiktoken and we get the same documents
        assert first_difference(name, whole[start : start + MEGABYTE]) is None


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_every_code_point(name, context):
    """All of them in a soak; otherwise those where a category begins or ends, and every hundred-and-first."""
    if SOAK:
        characters = [chr(cp) for cp in range(0x110000) if not 0xD800 <= cp < 0xE000]
    else:
        sampled = [chr(cp) for cp in range(0, 0x110000, 101) if not 0xD800 <= cp < 0xE000]
        characters = sorted({*sampled, *boundary_characters()})
    for start in range(0, len(characters), 5_000):
        text = "\x00".join(context.replace("{}", char) for char in characters[start : start + 5_000])
        assert first_difference(name, text) is None


@pytest.mark.parametrize("name", ENCODINGS)
def test_fuzz(name):
    rng = random.Random(f"{name} 1")
    for _ in range(amount(2_000, 100_000)):
        text = fuzz_text(rng)
        got, want = ours(name).encode(text, allowed_special="all"), encoding(name).encode(text, allowed_special="all")
        assert got == want, text


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODINGS if SOAK else ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("unit", ["a", " ", "7", "\n", "-", "ab"])
def test_a_megabyte_of_one_kind(name, unit):
    """tiktoken fails on a megabyte of spaces with o200k_base; there the trie encoder is a second opinion."""
    text = unit * (MEGABYTE // len(unit))
    got = ours(name).encode_ordinary(text)
    assert len(ours(name).decode_bytes(got)) == MEGABYTE
    try:
        want = encoding(name).encode_ordinary(text)
    except BaseException as error:  # a Rust panic is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        want = ours(name).with_options(encoder="trie").encode_ordinary(text)
    assert got == want


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_long_runs_by_definition(name):
    tokenizer = ours(name)
    naive = NaiveEncoder(tokenizer.model)
    for unit in ("a", " ", "7", "\n", "=-"):
        text = unit * amount(1_500, 6_000)
        pieces = tokenizer.pieces(text)
        assert tokenizer.encode_ordinary(text) == [i for piece in pieces for i in naive.encode_piece(piece.encode())]
