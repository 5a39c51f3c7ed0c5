"""One vocabulary merged into another: what comes over, what can't and why, and what must stay."""

import random

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.core.derivations import derive_tokens
from bpelab.editing import merge_vocabularies, prune
from bpelab.encoders.heap import HeapEncoder
from bpelab.errors import VocabularyError
from bpelab.model.initial_symbols import token_initial_symbols

from ..conftest import amount
from ..random_tokenizers import random_corpus, random_text, random_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:training stopped")
PAIRS = [
    ("trained", "trained"),
    ("list", "trained"),
    ("ranks", "list"),
    ("trained ranks", "own ids"),
    ("superwords", "trained"),
    ("scores", "file of characters"),
    ("file of characters", "scores"),
    ("suffix", "suffix"),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_token_is_reachable_or_has_a_reason(first, second):
    """Each token that was taken comes out of its own symbols; a refused one is cut into more than two tokens."""
    taken = 0
    for seed in range(amount(6, 60)):
        rng = random.Random(f"{first} {second} {seed}")
        ours, other = random_tokenizer(rng, first), random_tokenizer(rng, second)
        new, ids, added, refused = merge_vocabularies(ours, other)
        taken += len(added)
        assert added == tuple(range(ours.n_vocab, ours.n_vocab + len(added))) and len(new) == len(ours) + len(added)
        assert ours.model.tokens.items() <= new.model.tokens.items() and new.special_tokens == ours.special_tokens
        assert ids.keys() | refused.keys() == other.model.tokens.keys() and not ids.keys() & refused.keys()
        assert all(new.model.tokens[here] == other.model.tokens[there] for there, here in ids.items())
        merge = HeapEncoder(new.model).merge
        for token_id in added:
            assert merge(token_initial_symbols(new.model, new.model.tokens[token_id])) == [token_id]
        for there, why in refused.items():
            if why.startswith("the merges here make"):
                assert len(merge(token_initial_symbols(new.model, other.model.tokens[there]))) > 2
        assert set(derive_tokens(new.model).unreachable) == set(derive_tokens(ours.model).unreachable), seed
        for text in [*random_corpus(rng), *(random_text(rng) for _ in range(6))]:
            found = new.encode(text)
            if set(added).isdisjoint(found):
                assert found == ours.encode(text), (seed, text)
            if ours.model.is_byte_level:
                assert new.decode(found) == text
        assert prune(new, remove=added).tokenizer == ours
    assert taken > 10


def test_what_comes_over():
    ours = BPETokenizer.train("low lower lowest " * 9, 260)
    merged = merge_vocabularies(ours, ours)
    assert merged.tokenizer == ours and merged.added == () and merged.refused == {}
    other = BPETokenizer.train("low lower lowest newest " * 9, 270, special_tokens=["<|end|>"])
    merged = merge_vocabularies(ours, other)
    assert merged.tokenizer.encode("newest") == [merged.ids[i] for i in other.encode("newest")]
    assert "<|end|>" not in merged.tokenizer.special_tokens


def test_a_word_that_our_merges_cut_otherwise():
    """`abc` is a + bc there, and ab + c here: so it is made of these. Where more than two come out, none can be."""
    ours = BPETokenizer(BPEModel.from_merges([(b"a", b"b"), (b"c", b"d")]), pattern="gpt2")
    theirs = BPEModel.from_merges([(b"b", b"c"), (b"a", b"bc"), (b"bc", b"e"), (b"x", b"bce"), (b"y", b"z")])
    new, ids, added, refused = merge_vocabularies(ours, BPETokenizer(theirs, pattern="gpt2"))
    assert [new.model.tokens[i] for i in added] == [b"bc", b"abc", b"bce", b"xbce", b"yz"] and refused == {}
    assert new.model.merges[ours.model.ids[b"ab"], ord("c")][1] == ids[theirs.ids[b"abc"]]
    theirs = BPEModel.from_merges([(b"b", b"c"), (b"bc", b"a"), (b"a", b"bca")])
    _, _, added, refused = merge_vocabularies(ours, BPETokenizer(theirs, pattern="gpt2"))
    assert len(added) == 2 and refused == {theirs.ids[b"abca"]: "the merges here make 'ab' + 'c' + 'a' of it"}


def test_what_the_pre_tokenizer_cuts():
    words = BPETokenizer.train("one two " * 9, 260, pattern="gpt2")
    free = BPETokenizer.train("one two " * 9, 270, pattern=None)
    refused = merge_vocabularies(words, free).refused
    assert {free.model.tokens[i] for i in refused} == {t for t in free.model.tokens.values() if b" " in t.lstrip()}
    assert set(refused.values()) == {"the pre-tokenizer here cuts it"}


def test_what_is_refused():
    rng = random.Random(2)
    trained, scores = random_tokenizer(rng, "trained"), random_tokenizer(rng, "scores")
    with pytest.raises(VocabularyError, match="made of bytes, and the other's of characters"):
        merge_vocabularies(trained, scores)
    with pytest.raises(VocabularyError, match="marks"):
        merge_vocabularies(scores, random_tokenizer(rng, "suffix"))
