"""Every encoder against the definition of BPE, written out here once more without the library."""

import random
import time

import pytest
from hypothesis import given, strategies as st

from bpelab.encoders import ENCODERS, HeapEncoder, NotBPELongestMatch, TrieEncoder, make_encoder
from bpelab.errors import ModelError
from bpelab.model import BPEModel
from bpelab.model.trace import HeapStep, MergeStep, TrieStep, trace_encode
from bpelab.notebook import book_text
from bpelab.pretokenizers import Split
from bpelab.trainers import train_incremental

from ..conftest import amount, random_merges, random_ranks


def defined(model: BPEModel, piece: bytes) -> list[int]:
    """BPE by definition, on bytes: of all neighbours that merge, the lowest rank, the leftmost of equals."""
    if model.ignore_merges and piece in model.ids:
        return [model.ids[piece]]
    ids = [model.ids[bytes([byte])] for byte in piece]
    while True:
        ways = [
            (model.merges[pair][0], at, model.merges[pair][1])
            for at, pair in enumerate(zip(ids, ids[1:]))
            if pair in model.merges
        ]
        if not ways:
            return ids
        _, at, new = min(ways)
        ids[at : at + 2] = [new]


def trained(text: str, merges: int) -> BPEModel:
    words: dict[bytes, int] = {}
    for piece in Split("gpt2").split(text):
        words[piece.encode()] = words.get(piece.encode(), 0) + 1
    tokens = [bytes([byte]) for byte in range(256)]
    pairs = []
    for step in train_incremental(words, merges, 1):
        pairs.append((tokens[step.left], tokens[step.right]))
        tokens.append(step.token)
    return BPEModel.from_merges(pairs)


@pytest.fixture(scope="module")
def book_model() -> BPEModel:
    return trained(book_text()[:120_000], 1_500)


@pytest.mark.parametrize("name", ENCODERS)
class TestEveryEncoder:
    @given(piece=st.text("lowersta\u00e9 ", max_size=60))
    def test_agrees_with_the_definition(self, name, small_model, piece):
        assert make_encoder(name, small_model).encode_piece(piece.encode()) == defined(small_model, piece.encode())

    def test_agrees_on_hand_made_merges(self, name):
        rng = random.Random(1)
        for _ in range(amount(150, 3_000)):
            model = BPEModel.from_merges(random_merges(rng, b"abc", rng.randint(1, 14)))
            encoder = make_encoder(name, model)
            for _ in range(10):
                piece = bytes(rng.choices(b"abcd", k=rng.randint(0, 25)))
                assert encoder.encode_piece(piece) == defined(model, piece), (dict(model.merges), piece)

    @pytest.mark.parametrize("ignore_merges", [True, False])
    def test_agrees_on_any_rank_table(self, name, ignore_merges):
        rng = random.Random(2)
        for _ in range(amount(60, 1_500)):
            model = BPEModel.from_ranks(random_ranks(rng, b"abc", rng.randint(1, 20)), ignore_merges=ignore_merges)
            encoder = make_encoder(name, model)
            for _ in range(10):
                piece = bytes(rng.choices(b"abc", k=rng.randint(0, 16)))
                assert encoder.encode_piece(piece) == defined(model, piece), piece

    def test_agrees_on_the_words_of_a_text(self, name, book_model):
        encoder = make_encoder(name, book_model)
        for word in sorted(set(Split("gpt2").split(book_text()[:60_000]))):
            assert encoder.encode_piece(word.encode()) == defined(book_model, word.encode())

    def test_agrees_on_long_runs(self, name, book_model):
        encoder = make_encoder(name, book_model)
        for piece in (b"a" * 300, b" " * 257, b"-" * 200, b"the" * 90, bytes(range(256))):
            assert encoder.encode_piece(piece) == defined(book_model, piece)

    def test_nothing_gives_nothing(self, name, small_model):
        assert make_encoder(name, small_model).encode_piece(b"") == []

    def test_leftmost_of_equal_ranks(self, name):
        model = BPEModel.from_merges([(b"a", b"a")])
        assert make_encoder(name, model).encode_piece(b"aaa") == [256, ord("a")]

    def test_a_whole_piece_that_is_a_token(self, name):
        ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"xyz": 257}
        for ignore_merges, expected in ((True, [257]), (False, [*b"xyz"])):
            model = BPEModel.from_ranks(ranks, ignore_merges=ignore_merges)
            assert make_encoder(name, model).encode_piece(b"xyz") == expected

    def test_recording_changes_nothing(self, name, small_model):
        encoder = make_encoder(name, small_model)
        steps = list(trace_encode(encoder, b"lower slowest aaaaa"))
        assert steps
        assert encoder.encode_piece(b"lower slowest aaaaa") == defined(small_model, b"lower slowest aaaaa")


def test_a_model_the_trie_cannot_serve_is_served_by_the_heap():
    backwards = BPEModel.from_ranks(
        {bytes([b]): b + 10 for b in range(256)} | {b"abc": 0, b"bc": 1, b"abcd": 2, b"cd": 3}
    )
    assert not TrieEncoder.supports(backwards)
    assert isinstance(make_encoder("trie", backwards), HeapEncoder)
    with pytest.raises(ModelError, match="use encoder='heap'"):
        TrieEncoder(backwards)


def test_the_trie_serves_what_training_learns(book_model):
    assert TrieEncoder.supports(book_model)
    assert isinstance(make_encoder("trie", book_model), TrieEncoder)


def test_prefix_counts(book_model):
    piece = b"Thermopylae, 1234 harbours!"
    encoder = TrieEncoder(book_model)
    assert encoder.prefix_counts(piece) == [len(defined(book_model, piece[:n])) for n in range(len(piece) + 1)]


def test_unknown_names_are_refused(small_model):
    with pytest.raises(ValueError, match="choose one of auto, native, naive, heap, buckets, trie"):
        make_encoder("fast", small_model)


def test_longest_match_is_not_bpe(book_model):
    longest, words = NotBPELongestMatch(book_model), sorted(set(Split("gpt2").split(book_text()[:60_000])))
    different = [word for word in words if longest.encode_piece(word.encode()) != defined(book_model, word.encode())]
    assert 0 < len(different) < len(words)
    for word in words:  # but it loses nothing
        assert b"".join(book_model.tokens[i] for i in longest.encode_piece(word.encode())) == word.encode()


def test_traces_tell_what_happened(small_model):
    for name in ("naive", "heap"):
        merges = [step for step in trace_encode(ENCODERS[name](small_model), b" lowest") if isinstance(step, MergeStep)]
        assert [small_model.tokens[step.token] for step in merges] == [b"lo", b"low", b" low", b"es", b"est"]
        assert list(merges[-1].ids) == defined(small_model, b" lowest")
        for before, step in zip([tuple(b" lowest"), *(m.ids for m in merges)], merges):
            assert before[step.position : step.position + 2] == (step.left, step.right)
    heap = [step.action for step in trace_encode(HeapEncoder(small_model), b"aaaaa") if isinstance(step, HeapStep)]
    assert heap.count("push") == heap.count("pop") + heap.count("stale")
    assert "stale" in heap
    trie = [s for s in trace_encode(TrieEncoder(small_model), b"aaaaa") if isinstance(s, TrieStep)]
    assert [s.token for s in trie if s.action == "accept"] == defined(small_model, b"aaaaa")


def test_traces_are_bounded(small_model):
    with pytest.raises(Exception, match="4,096"):
        list(trace_encode(HeapEncoder(small_model), b"a" * 5_000))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heap", "trie"])
@pytest.mark.parametrize("kind", ["letter", "letters", "spaces", "digits"])
def test_time_grows_no_faster_than_the_piece(name, kind, book_model):
    """Doubling a piece may at most double the time; 3.2 leaves room for noise, and a square would give 4 twice over."""
    rng = random.Random(3)
    size = 60_000
    make = {
        "letter": lambda n: b"a" * n,
        "letters": lambda n: bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=n)),
        "spaces": lambda n: b" " * n,
        "digits": lambda n: bytes(rng.choices(b"0123456789", k=n)),
    }[kind]
    encoder = make_encoder(name, book_model)

    def seconds(n: int) -> float:
        piece = make(n)
        times = []
        for _ in range(3):
            start = time.process_time()
            encoder.encode_piece(piece)
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(4 * size) / seconds(size) < 3.2**2
