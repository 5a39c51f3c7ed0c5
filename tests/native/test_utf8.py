"""UTF-8 in C, from each of the three ways in which Python stores a str: with 256 tokens, the ids are the bytes."""

import random

import pytest

from bpelab import BPEModel, native

from ..conftest import amount

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")
BYTES = BPEModel.from_ranks({bytes([byte]): byte for byte in range(256)}, ignore_merges=False)
WIDEST = {1: 0xFF, 2: 0xFFFF, 4: 0x10FFFF}
"""Bytes of a character in memory -> the highest code point."""


def character(rng: random.Random, kind: int) -> str:
    """A character, ASCII in most cases, at the edges of a length in UTF-8 often."""
    edges = [code for code in (0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000) if code <= WIDEST[kind]]
    code = rng.choice([rng.randrange(128)] * 12 + edges + [rng.randrange(WIDEST[kind])])
    return "a" if 0xD800 <= code < 0xE000 else chr(code)


@pytest.mark.parametrize("kind", WIDEST)
def test_ids_are_the_bytes(kind):
    rng, encoder = random.Random(kind), native.encoder_for(BYTES, None)
    for _ in range(amount(400, 20_000)):
        size = rng.choice([*range(70), 600, 5_000])
        text = "".join(character(rng, kind) for _ in range(size)) + chr(WIDEST[kind])
        assert encoder.encode(text) == list(text.encode())


@pytest.mark.parametrize("around", ["", "é", "a" * 16, "\U00010000" * 20, "日本" * 3_000])
def test_a_surrogate_is_left_to_python(around):
    encoder = native.encoder_for(BYTES, None)
    for surrogate in "\ud800\udbff\udc00\udfff":
        assert encoder.encode(around + surrogate) is None
        assert encoder.encode(surrogate + around) is None
