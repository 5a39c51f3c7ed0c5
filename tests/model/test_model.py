"""Models: built, refused, and the merges that a rank table doesn't tell."""

import copy
import pickle
import random

import pytest

from bpelab import BPEModel, ModelError
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.model.merge_recovery import compatible
from bpelab.notebook import book_text
from bpelab.pretokenizers import Split
from bpelab.trainers import train_incremental

from ..conftest import ENCODINGS, amount, encoding
from ..encoders.test_encoders import defined, trained

BYTES = {bytes([byte]): byte for byte in range(256)}


def test_from_merges():
    model = BPEModel.from_merges([(b"a", b"b"), (b"ab", b"c")])
    assert model.tokens[256] == b"ab"
    assert model.merges[256, 99] == (1, 257)
    assert (model.max_token_bytes, model.initial_ids(b"ab")) == (3, [97, 98])


def test_ids_pass_over_what_is_reserved():
    model = BPEModel.from_merges([(b"a", b"b"), (b"ab", b"c")], reserved={0, 257})
    assert model.ids[b"\0"] == 1
    assert [model.ids[b"ab"], model.ids[b"abc"]] == [258, 259]


def test_two_merges_may_make_one_token():
    model = BPEModel.from_merges([(b"a", b"b"), (b"b", b"c"), (b"ab", b"c"), (b"a", b"bc")])
    assert model.merges[256, 99][1] == model.merges[97, 257][1] == model.ids[b"abc"]


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ([(b"ab", b"c")], "no earlier merge made b'ab'"),
        ([(b"", b"c")], "no earlier merge made b''"),
        ([(b"a", b"b"), (b"a", b"b")], "again: merge 0 did"),
    ],
)
def test_bad_merges(merges, message):
    with pytest.raises(ModelError, match=message):
        BPEModel.from_merges(merges)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ({b"a": 0}, "no token for 255 single bytes"),
        (BYTES | {b"ab": 5}, "same rank, 5"),
        (BYTES | {b"ab": -1}, "id -1"),
        (BYTES | {"ab": 300}, "maps bytes to integers"),
        (BYTES | {b"ab": 300.0}, "maps bytes to integers"),
        (BYTES | {b"ab": True}, "maps bytes to integers"),
    ],
)
def test_bad_ranks(ranks, message):
    with pytest.raises(ModelError, match=message):
        BPEModel.from_ranks(ranks)


def test_bad_parts():
    good = BPEModel.from_merges([(b"a", b"b")])
    for merges, message in [
        ({(97, 500): (0, 256)}, "no token 500"),
        ({(97, 99): (0, 256)}, "can't become b'ab'"),
    ]:
        with pytest.raises(ModelError, match=message):
            BPEModel(good.tokens, merges, good.alphabet)
    with pytest.raises(ModelError, match="alphabet gives"):
        BPEModel(good.tokens, {}, {**good.alphabet, b"a": 98})


def test_frozen():
    model = BPEModel.from_merges([(b"a", b"b")])
    with pytest.raises(AttributeError):
        model.ignore_merges = True
    with pytest.raises(AttributeError):
        del model.ignore_merges
    with pytest.raises(TypeError):
        model.tokens[0] = b"x"
    with pytest.raises(TypeError):
        model.merges[0, 0] = (0, 0)


def test_a_rank_table_is_a_mapping():
    model = BPEModel.from_ranks(BYTES | {b"ab": 256, b"bc": 257, b"abc": 258})
    assert dict(model.merges) == {
        (97, 98): (256, 256),
        (98, 99): (257, 257),
        (256, 99): (258, 258),
        (97, 257): (258, 258),
    }
    assert len(model.merges) == 4
    assert model.merges.get((97, 97)) is None
    with pytest.raises(KeyError):
        model.merges[97, 97]
    with pytest.raises(KeyError):
        model.merges[9_999, 97]
    assert (9_999, 97) not in model.merges


def test_what_a_model_shows_and_equals():
    initial_symbols = InitialSymbols(characters=True, unk_id=0)
    model = BPEModel({0: b"a"}, {}, alphabet={b"a": 0}, initial_symbols=initial_symbols)
    assert (
        repr(model)
        == f"BPEModel(tokens={{0: b'a'}}, merges={{}}, alphabet={{b'a': 0}}, ignore_merges=False, {initial_symbols=})"
    )
    same, other = (
        BPEModel({0: b"a"}, {}, {b"a": 0}, False, initial_symbols),
        BPEModel({0: b"a"}, {}, {b"a": 0}, True, initial_symbols),
    )
    assert model == same and hash(model) == hash(same) and model not in (other, 5)
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again == model and type(again) is BPEModel


def test_pickles(small_model):
    ranks = BPEModel.from_ranks(BYTES | {b"ab": 256})
    for model in (small_model, ranks):
        again = pickle.loads(pickle.dumps(model))
        assert dict(again.merges) == dict(model.merges)
        assert again.tokens == model.tokens


def test_training_is_recovered():
    words: dict[bytes, int] = {}
    for piece in Split("gpt2").split(book_text()[:60_000]):
        words[piece.encode()] = words.get(piece.encode(), 0) + 1
    steps = list(train_incremental(words, 1_000, 1))
    ranks = BYTES | {step.token: 256 + step.rank for step in steps}
    recovered_merges = BPEModel.from_ranks(ranks).recovered_merges
    assert list(recovered_merges.splits.values()) == [(step.left, step.right) for step in steps]
    assert not (recovered_merges.early or recovered_merges.unreachable)


def test_ranks_and_merges_of_a_training_are_one_model():
    model = trained(book_text()[:60_000], 800)
    ranks = BPEModel.from_ranks(dict(model.ids))
    for word in sorted(set(Split("gpt2").split(book_text()[60_000:90_000]))):
        assert defined(model, word.encode()) == defined(ranks, word.encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODINGS)
def test_published_vocabularies_are_recovered(name):
    theirs = encoding(name)
    model = BPEModel.from_ranks(theirs._mergeable_ranks)
    assert not (model.recovered_merges.early or model.recovered_merges.unreachable)
    rng = random.Random(41)
    ambiguous = 0
    for rank in rng.sample(sorted(model.recovered_merges.splits), amount(300, 20_000)):
        token = model.tokens[rank]
        ids = model.initial_ids(token)
        while len(ids) > 2:
            best = min(
                (m[0], i) for i in range(len(ids) - 1) if (m := model.merges.get((ids[i], ids[i + 1]))) and m[0] < rank
            )
            ids[best[1] : best[1] + 2] = [best[0]]
        assert tuple(ids) == model.recovered_merges.splits[rank]
        ambiguous += sum(token[:i] in model.ids and token[i:] in model.ids for i in range(1, len(token))) > 1
    assert ambiguous > 0


def test_compatible():
    recovered_merges = BPEModel.from_merges([(b"a", b"b"), (b"b", b"c")]).recovered_merges
    merged = {pair: recovered_merges.rank_of[token] for token, pair in recovered_merges.splits.items()}
    assert compatible(256, 99, recovered_merges.splits, recovered_merges.rank_of, merged)  # ab|c is what abc becomes
    assert not compatible(97, 257, recovered_merges.splits, recovered_merges.rank_of, merged)  # a|bc is not
