"""What a piece is cut into, and what becomes of what is missing: against the BPE model of tokenizers alone."""

import json
import random

import pytest

from bpelab import BPETokenizer
from bpelab.model.initial_symbols import InitialSymbols

from ..conftest import amount, fuzz_text

LETTERS = "abcé日😀 "


def random_model(rng, prefix, suffix):
    """A vocabulary and merges of any tokens so far, where a token without the prefix can only begin a piece."""
    known = rng.sample(LETTERS, rng.randint(2, 7))
    vocab = dict.fromkeys(known)
    if prefix:
        vocab |= dict.fromkeys(prefix + char for char in rng.sample(known, rng.randint(1, len(known))))
    if suffix:
        vocab |= dict.fromkeys(char + suffix for char in rng.sample(known, rng.randint(1, len(known))))
        if prefix:
            vocab |= dict.fromkeys(prefix + char + suffix for char in rng.sample(known, rng.randint(1, len(known))))
    merges: list[tuple[str, str]] = []
    for _ in range(rng.randint(0, 12)):
        left = rng.choice([token for token in vocab if not (suffix and token.endswith(suffix))])
        right = rng.choice([token for token in vocab if not prefix or token.startswith(prefix)] or [None])
        if right is None or (left, right) in merges:
            continue
        merges.append((left, right))
        vocab[left + right[len(prefix) :]] = None
    return list(vocab), merges


def random_file(rng):
    """A tokenizer.json with nothing in it but a model."""
    prefix, suffix = rng.choice(("", "", "##", "é")), rng.choice(("", "", "</w>", "_"))
    tokens, merges = random_model(rng, prefix, suffix)
    unk = rng.choice((None, "[UNK]", "a"))
    if unk and unk not in tokens:
        tokens.append(unk)
    fallback = rng.random() < 0.5
    share = rng.choice((1.0, 1.0, 0.8, 0.0))
    tokens += [f"<0x{byte:02X}>" for byte in range(256) if fallback and rng.random() < share]
    numbers = rng.sample(range(len(tokens)), len(tokens))
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": None, "post_processor": None, "decoder": None,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": unk, "continuing_subword_prefix": prefix or None,
            "end_of_word_suffix": suffix or None, "fuse_unk": rng.random() < 0.5, "byte_fallback": fallback,
            "ignore_merges": rng.random() < 0.2, "vocab": dict(zip(tokens, numbers)), "merges": list(map(list, merges)),
        },
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_the_model_of_tokenizers(seed, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(seed)
    for _ in range(amount(40, 2_000)):
        data = json.dumps(random_file(rng))
        (tmp_path / "tokenizer.json").write_text(data)
        theirs = tokenizers.Tokenizer.from_str(data)
        ours = BPETokenizer.from_pretrained(tmp_path)
        for _ in range(12):
            text = "".join(rng.choices(LETTERS + "zŋ", k=rng.randint(0, 9)))
            assert ours.encode(text) == theirs.encode(text).ids, (text, data)


def test_bytes_and_unknown_characters_in_a_row(tmp_path):
    """The order is Hugging Face's, also where an unknown character stands before one that is written in bytes."""
    tokenizers = pytest.importorskip("tokenizers")
    vocab = {"a": 0, "[UNK]": 1, "<0xC3>": 2, "<0xA9>": 3}
    for fuse in (True, False):
        model = tokenizers.models.BPE(vocab, [], unk_token="[UNK]", fuse_unk=fuse, byte_fallback=True)
        theirs = tokenizers.Tokenizer(model)
        theirs.save(str(tmp_path / "t.json"))
        ours = BPETokenizer.from_pretrained(tmp_path / "t.json")
        for text in ("é", "日é", "é日", "日日é日", "a日éa", "日a日日"):
            assert ours.encode(text) == theirs.encode(text).ids, text


def test_any_text(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(40)
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=400, special_tokens=["[UNK]"], show_progress=False)
    theirs.train_from_iterator((fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(100)), trainer)
    theirs.save(str(tmp_path / "t.json"))
    ours = BPETokenizer.from_pretrained(tmp_path / "t.json")
    for _ in range(amount(300, 20_000)):
        text = fuzz_text(rng).encode("utf-8", "replace").decode()
        assert ours.encode(text) == theirs.encode(text).ids, text


def test_symbols_stand_alone():
    initial_symbols = InitialSymbols(characters=True, symbols={b"ab": 7, b"abc": 8, "é".encode(): 9}, unk_id=0)
    assert initial_symbols.cut("xababcé".encode()) == [b"x", b"ab", b"abc", "é".encode()]
    assert initial_symbols.ids("xababcéab".encode(), {b"x": 1}) == [1, 7, 8, 9, 7]
    assert initial_symbols.ids(b"", {}) == []


def test_pieces_that_are_no_utf8():
    assert InitialSymbols(characters=True).cut(b"a\xff") == [b"a", "\ufffd".encode()]
    assert InitialSymbols(characters=False).cut(b"a\xff") == [b"a", b"\xff"]
