"""The places of exercise native.3 are safe: parts merge as the whole does, in random models."""

from random import Random

from bpelab import ENCODERS, BPEModel
from bpelab.exercises.chapters.native import offsets_to_cut
from bpelab.exercises.fixtures import BYTE_RANKS, learned_merges

from ..conftest import amount


def test_parts_merge_as_the_whole():
    random, cut = Random(11), 0
    for _ in range(amount(60, 2000)):
        words = {bytes(random.choices(b"abcd", k=random.randint(1, 8))): random.randint(1, 5) for _ in range(6)}
        model = BPEModel.from_merges(learned_merges(words, random.randint(1, 12)))
        tokens = {token for token in model.tokens.values() if token not in BYTE_RANKS} | {b"a"}
        encode = ENCODERS["heap"](model).encode_piece
        for _ in range(20):
            piece = bytes(random.choices(b"abcd", k=random.randint(1, 12)))
            places = offsets_to_cut(tokens, piece)
            ends = [0, *places, len(piece)]
            cut += len(places)
            assert [i for a, b in zip(ends, ends[1:]) for i in encode(piece[a:b])] == encode(piece)
    assert cut
