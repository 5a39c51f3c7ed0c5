"""The cuts that a vocabulary implies change no id: with and without them, for vocabularies that have ▁ anywhere."""

import json
import random

import pytest

from bpelab import BPETokenizer
from bpelab.boundaries.from_vocabulary import VocabularyBoundaries

from ..conftest import amount

LETTERS = "ab▁,日"


def random_file(rng):
    """A model over characters without a pre-tokenizer; now and then ▁ stands inside of tokens or behind them."""
    inside = rng.choice((0.0, 0.0, 0.2, 1.0))
    vocab = dict.fromkeys(rng.sample(LETTERS, rng.randint(3, 5)))
    merges = []
    for _ in range(rng.randint(0, 15)):
        left, right = rng.choice(list(vocab)), rng.choice(list(vocab))
        if right.startswith("▁") and not left.endswith("▁") and rng.random() >= inside:
            continue
        if (left, right) not in merges:
            merges.append((left, right))
            vocab[left + right] = None
    unk = rng.choice((None, "<unk>", "x▁", "▁"))
    fallback = rng.random() < 0.4
    spelled = [f"<0x{byte:02X}>" for byte in range(256) if fallback and rng.random() < 0.9]
    tokens = list(vocab | dict.fromkeys(([unk] if unk else []) + spelled))
    return {
        "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None,
        "truncation": None, "padding": None, "version": "1.0",
        "model": {
            "type": "BPE", "unk_token": unk, "fuse_unk": rng.random() < 0.5, "byte_fallback": fallback,
            "vocab": {token: number for number, token in enumerate(tokens)}, "merges": list(map(list, merges)),
        },
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_the_same_ids_with_and_without(seed, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    rng, cuts = random.Random(seed), 0
    for _ in range(amount(50, 3_000)):
        data = json.dumps(random_file(rng))
        (tmp_path / "tokenizer.json").write_text(data)
        ours, theirs = BPETokenizer.from_pretrained(tmp_path), tokenizers.Tokenizer.from_str(data)
        cutter = VocabularyBoundaries.of(ours.model)
        for _ in range(12):
            text = "".join(rng.choices(LETTERS + "z", k=rng.randint(0, 14)))
            assert ours.encode(text) == theirs.encode(text).ids, (text, data)
            if cutter is not None:
                parts = cutter.split(text)
                assert "".join(parts) == text
                cuts += len(parts) - bool(text)
    assert cuts > 50  # else nothing was tested


def test_where_nothing_is_cut(small_model):
    assert VocabularyBoundaries.of(small_model) is None  # bytes


def test_a_long_text_is_cut_in_linear_time():
    cutter = VocabularyBoundaries(frozenset(","))
    assert len(cutter.split("▁a" * 200_000)) == 200_000
    assert len(cutter.split("▁" * 400_000)) == 1
