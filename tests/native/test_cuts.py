"""Boundaries inside a piece: no token spans one, so splitting there changes no id, in any script and for any tokens."""

import random

import pytest

from bpelab import BPEModel, native
from bpelab.encoders import HeapEncoder

from ..conftest import amount

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")

SCRIPTS = ("abcde fg", "жзийклмн", "あいうえお日本語", "ก็ขฃคฅฆ", "😀😁😂🤣", "aéжあ😀", "é\u0301ö\u0308")


def tokens_of(rng: random.Random, alphabet: str) -> list[bytes]:
    """Runs of characters, some of them beginning or ending in the middle of one."""
    tokens = []
    for _ in range(rng.randrange(1, 30)):
        raw = "".join(rng.choices(alphabet, k=rng.randrange(1, 6))).encode()
        start = rng.randrange(min(3, len(raw))) if rng.random() < 0.4 else 0
        stop = len(raw) - rng.randrange(min(3, len(raw))) if rng.random() < 0.4 else len(raw)
        tokens.append(raw[start:stop] or raw)
    return tokens


@pytest.mark.parametrize("alphabet", SCRIPTS)
def test_parts_merge_as_the_whole(alphabet):
    """Pieces are split into parts, which the cache keeps; the ids are those of the heap, which splits nothing."""
    rng = random.Random(alphabet)
    for _ in range(amount(60, 3_000)):
        tokens = [token for token in dict.fromkeys(tokens_of(rng, alphabet)) if len(token) > 1]
        ranks = {bytes([byte]): byte for byte in range(256)} | {token: 256 + n for n, token in enumerate(tokens)}
        model = BPEModel.from_ranks(ranks, ignore_merges=False)
        in_c, heap = native.encoder_for(model, None), HeapEncoder(model)
        for _ in range(20):
            text = "".join(rng.choices(alphabet, k=rng.randrange(1, 60)))
            for _ in range(2):  # the second time with its parts in the cache
                assert in_c.encode(text) == heap.encode_piece(text.encode()), (text, model)
            piece = text.encode()
            if rng.random() < 0.2:  # bytes that are not UTF-8
                piece = bytes(rng.choices(piece + b"\x80\xbf\xc3\xe3\xf0\xff", k=len(piece)))
            assert in_c.encode_piece(piece) == heap.encode_piece(piece), (piece, model)


def test_a_long_sentence_is_cut():
    """Without boundaries, a long sentence that never repeats would be one piece for the heap."""
    tokens = [whole[:size] for whole in ("日".encode(), "本".encode()) for size in (2, 3)] + ["日本".encode()]
    ranks = {bytes([byte]): byte for byte in range(256)} | {token: 256 + n for n, token in enumerate(tokens)}
    text = "".join(random.Random(1).choices("日本語中文字", k=300_000))
    ids = native.encoder_for(BPEModel.from_ranks(ranks, ignore_merges=False), None).encode(text)
    assert ids.count(260) == text.count("日本") and ids.count(257) == text.count("日") - text.count("日本")
