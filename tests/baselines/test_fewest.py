"""The fewest tokens, against every cut of short pieces, and never more than BPE needs."""

import itertools
import random

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.baselines import FewestTokens
from bpelab.encoders import NaiveEncoder
from bpelab.errors import ModelError
from bpelab.exercises.fixtures import all_pieces, models
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.notebook import book_text

from ..conftest import amount


def fewest_of_all_cuts(model: BPEModel, piece: bytes) -> int:
    """By brute force: every way to cut the piece."""
    sizes = [0] if not piece else []
    for borders in itertools.product([False, True], repeat=max(0, len(piece) - 1)):
        places = [0, *(place for place, cut in enumerate(borders, start=1) if cut), len(piece)]
        parts = [piece[a:b] for a, b in zip(places, places[1:])]
        if piece and all(part in model.ids for part in parts):
            sizes.append(len(parts))
    return min(sizes)


@pytest.mark.parametrize("model", models())
def test_against_brute_force(model):
    fewest = FewestTokens(model)
    for piece in [*all_pieces(b"ab", 6), *all_pieces(b"abcd", 4), b"banana", b"bandana", b"lowest", b"\xff\x00"]:
        ids = fewest.encode_piece(piece)
        assert b"".join(map(model.tokens.get, ids)) == piece
        assert len(ids) == fewest_of_all_cuts(model, piece)


def test_random_vocabularies_against_brute_force():
    rng = random.Random(16)
    single = {bytes([byte]): byte for byte in range(256)}
    for _ in range(amount(50, 1000)):
        made = {bytes(rng.choices(b"abc", k=rng.randint(2, 4))) for _ in range(rng.randint(1, 12))}
        ranks = single | {token: 256 + n for n, token in enumerate(sorted(made))}
        model = BPEModel.from_ranks(ranks)
        fewest = FewestTokens(model)
        for _ in range(10):
            piece = bytes(rng.choices(b"abc", k=rng.randint(0, 10)))
            ids = fewest.encode_piece(piece)
            assert b"".join(map(model.tokens.get, ids)) == piece
            assert len(ids) == fewest_of_all_cuts(model, piece)


def test_never_more_than_bpe():
    tokenizer = BPETokenizer.train(book_text()[:60_000], 800, progress=False)
    fewest, naive = FewestTokens(tokenizer.model), NaiveEncoder(tokenizer.model)
    distinct = {piece.encode() for piece in tokenizer.pieces(book_text()[:60_000])}
    differences = {len(naive.encode_piece(p)) - len(fewest.encode_piece(p)) for p in distinct}
    assert min(differences) == 0
    assert max(differences) > 0


def test_a_model_that_lacks_bytes_is_refused():
    initial_symbols = InitialSymbols(characters=True)
    model = BPEModel({0: b"a"}, {}, {b"a": 0}, initial_symbols=initial_symbols)
    with pytest.raises(ModelError, match="all 256"):
        FewestTokens(model)
