"""What encoders tell of their steps, which of them is chosen, and where the sweep of the buckets has to stop."""

import random

import pytest

from bpelab import encoders
from bpelab.encoders import ENCODERS, BucketEncoder, TrieEncoder, buckets, encode_function, make_encoder
from bpelab.errors import ModelError
from bpelab.model import BPEModel
from bpelab.model.trace import HeapStep, MergeStep, TrieStep

from ..conftest import amount, random_merges, random_ranks
from .test_encoders import defined

BYTES = {bytes([byte]): byte for byte in range(256)}


def steps_of(name: str, model: BPEModel, piece: bytes) -> list:
    steps: list = []
    assert ENCODERS[name](model).encode_piece(piece, steps.append) == defined(model, piece)
    return steps


def merges_by_definition(model: BPEModel, piece: bytes) -> list[MergeStep]:
    """Of all neighbours that merge, the lowest rank, the leftmost of equals; one after the other."""
    ids, steps = [model.ids[bytes([byte])] for byte in piece], []
    while ways := [
        (*model.merges[pair], at) for at, pair in enumerate(zip(ids, ids[1:])) if model.merges.get(pair) is not None
    ]:
        rank, new, at = min(ways, key=lambda way: (way[0], way[2]))
        left, right = ids[at : at + 2]
        ids[at : at + 2] = [new]
        steps.append(MergeStep(rank, at, left, right, new, tuple(ids)))
    return steps


@pytest.mark.parametrize("name", ["naive", "heap", "buckets"])
def test_merges_are_told_one_by_one(name):
    rng = random.Random(4)
    for _ in range(amount(40, 2_000)):
        model = BPEModel.from_merges(random_merges(rng, b"abc", rng.randint(1, 14)))
        piece = bytes(rng.choices(b"abc", k=rng.randint(0, 25)))
        told = [step for step in steps_of(name, model, piece) if isinstance(step, MergeStep)]
        assert told == merges_by_definition(model, piece)


def test_the_heap_tells_every_entry():
    model = BPEModel.from_merges([(b"a", b"a"), (b"aa", b"b")])
    told = [step for step in steps_of("heap", model, b"aaab") if isinstance(step, HeapStep)]
    assert told == [
        HeapStep("push", 0, 0), HeapStep("push", 0, 1), HeapStep("pop", 0, 0), HeapStep("stale", 0, 1)
    ]  # fmt: skip
    told = [step for step in steps_of("heap", model, b"aab") if isinstance(step, HeapStep)]
    assert told == [HeapStep("push", 0, 0), HeapStep("pop", 0, 0), HeapStep("push", 1, 0), HeapStep("pop", 1, 0)]


def replay(model: BPEModel, piece: bytes, steps: list[TrieStep]) -> list[int]:
    """The ids at which the steps of a search arrive, each of which has to follow from those before it."""
    ids: list[int] = []
    at, looking = 0, None

    def longest(below: int) -> int:
        found = [token for token in model.tokens.values() if piece.startswith(token, at) and len(token) < below]
        return model.ids[max(found, key=len)]

    for step in steps:
        if step.action == "back":
            assert ids.pop() == step.token
            at, looking = at - len(model.tokens[step.token]), step.token
        elif step.action == "match":
            assert looking is None and step.token == longest(99)
            looking = step.token
        elif step.action == "shorter":
            assert step.token == longest(len(model.tokens[looking]))
            looking = step.token
        assert step.position == at
        assert step.token == looking
        if step.action == "accept":
            ids.append(looking)
            at, looking = at + len(model.tokens[looking]), None
    assert looking is None
    return ids


def test_the_trie_tells_its_search():
    rng, seen = random.Random(5), set()
    for _ in range(amount(150, 3_000)):
        model = BPEModel.from_merges(random_merges(rng, b"ab", rng.randint(1, 10)))
        if not TrieEncoder.supports(model) or model.recovered_merges.unreachable:
            continue
        piece = bytes(rng.choices(b"ab", k=rng.randint(0, 16)))
        steps = steps_of("trie", model, piece)
        assert replay(model, piece, steps) == defined(model, piece)
        seen |= {step.action for step in steps}
    assert seen == {"match", "accept", "reject", "shorter", "back"}


def test_counts_of_prefixes_of_any_model():
    """Also of those with tokens that no text is ever encoded to."""
    rng, odd = random.Random(6), 0
    for _ in range(amount(150, 3_000)):
        model = BPEModel.from_ranks({**BYTES, **ranks_behind(rng)}, ignore_merges=False)
        if TrieEncoder.supports(model):
            odd += bool(model.recovered_merges.unreachable)
            piece = bytes(rng.choices(b"ab", k=rng.randint(0, 14)))
            expected = [len(defined(model, piece[:end])) for end in range(len(piece) + 1)]
            assert TrieEncoder(model).prefix_counts(piece) == expected
    assert odd > 3


def test_a_prefix_in_which_a_token_is_not_what_it_seems():
    """`bcd` stands at the end of `abcd`, but `ab` merges first and leaves nothing that `bcd` could be made of."""
    model = BPEModel.from_merges([(b"a", b"b"), (b"b", b"c"), (b"bc", b"d")])
    assert TrieEncoder(model).prefix_counts(b"abcd") == [0, 1, 1, 2, 3]


def ranks_behind(rng: random.Random) -> dict[bytes, int]:
    tokens = sorted({bytes(rng.choices(b"ab", k=rng.randint(2, 4))) for _ in range(rng.randint(1, 9))}, key=len)
    return {token: 256 + number for number, token in enumerate(tokens)}


def test_who_serves_every_model(small_model):
    backwards = BPEModel.from_ranks({**{byte: rank + 4 for byte, rank in BYTES.items()}, b"abc": 0, b"bc": 1})
    for name in ("naive", "heap", "buckets"):
        for model in (small_model, backwards):
            assert type(make_encoder(name, model)) is ENCODERS[name]
            assert ENCODERS[name].supports(model)
    message = "the trie encoder needs bytes as its symbols and merges in which every token ranks after its parts; "
    with pytest.raises(ModelError, match=f"^{message}use encoder='heap'$"):
        TrieEncoder(backwards)
    assert type(make_encoder("auto", small_model)) is ENCODERS["heap"]


@pytest.mark.parametrize("name", [*ENCODERS, "auto"])
def test_the_function_of_an_encoder(name, small_model):
    encode = encode_function(name, small_model)
    for piece in (b"", b"lowest", b"lower " * 60):
        assert encode(piece) == defined(small_model, piece)
    if name != "auto":
        assert type(encode.__self__) is ENCODERS[name]


def test_auto_sweeps_long_pieces(small_model, monkeypatch):
    for name in ("HeapEncoder", "BucketEncoder"):
        monkeypatch.setattr(getattr(encoders, name), "encode_piece", lambda self, piece, name=name: [name, len(piece)])
    encode = encode_function("auto", small_model)
    assert [encode(b"a" * size) for size in (0, 199, 200, 5_000)] == [
        ["HeapEncoder", 0],
        ["HeapEncoder", 199],
        ["BucketEncoder", 200],
        ["BucketEncoder", 5_000],
    ]
    with pytest.raises(ValueError, match="there is no encoder 'none'"):
        encode_function("none", small_model)


STOPPING = {"behind": (b"ab", b"aba"), "before": (b"bc", b"abc")}


@pytest.mark.parametrize("side", STOPPING)
def test_a_sweep_stops_for_a_pair_that_ranks_before_it(side):
    """Where a merge makes a pair that should have gone first, on its left or on its right."""
    late, early = STOPPING[side]
    model = BPEModel.from_ranks({**BYTES, early: 256, late: 257})
    rng = random.Random(7)
    for piece in (b"abab", b"ababab", b"abcabcbc", *(bytes(rng.choices(b"abc", k=12)) for _ in range(100))):
        assert BucketEncoder(model).encode_piece(piece) == defined(model, piece)


def test_ids_are_no_ranks():
    """A file numbers tokens as it likes: here the token of the lower rank has the higher id."""
    merges = {(97, 98): (1, 256), (256, 97): (0, 400)}
    tokens = {**{number: byte for byte, number in BYTES.items()}, 256: b"ab", 400: b"aba"}
    model = BPEModel(tokens, merges, BYTES)
    for name in ("naive", "heap", "buckets"):
        assert ENCODERS[name](model).encode_piece(b"abab") == [400, 98]


@pytest.mark.parametrize("side", STOPPING)
def test_a_model_that_stops_too_often_is_left_to_the_heap(side, monkeypatch):
    late, early = STOPPING[side]
    model = BPEModel.from_ranks({**BYTES, early: 256, late: 257})
    asked = []

    class Heap(ENCODERS["heap"]):
        def encode_piece(self, piece, record=None):
            asked.append(piece)
            return super().encode_piece(piece, record)

    monkeypatch.setattr(buckets, "HeapEncoder", Heap)
    once = b"aba " if side == "behind" else b"abc "
    for times, left in ((buckets.MOST_STOPS, False), (buckets.MOST_STOPS + 1, True)):
        asked.clear()
        assert BucketEncoder(model).encode_piece(once * times) == defined(model, once * times)
        assert asked == ([once * times] if left else [])
    asked.clear()
    steps: list = []  # but not what is watched
    BucketEncoder(model).encode_piece(once * 70, steps.append)
    assert not asked and len(steps) == 140


def test_random_ranks_and_long_pieces():
    rng = random.Random(8)
    for _ in range(amount(10, 500)):
        model = BPEModel.from_ranks(random_ranks(rng, b"abc", rng.randint(5, 40)))
        piece = bytes(rng.choices(b"abc", k=400))
        for name in ("heap", "buckets"):
            assert ENCODERS[name](model).encode_piece(piece) == defined(model, piece)
