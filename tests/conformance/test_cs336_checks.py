"""What the tests of Stanford's CS336, assignment 1, check, on bpelab behind the functions that the assignment asks for.

The texts are ours. GPT-2's vocabulary and merges come from tiktoken's r50k_base. A deliberate difference: for the limit
of 1 MB on memory while a file is encoded, what Python allocates is measured, not what the process maps, since an
engine that is compiled maps more once.
"""

import tracemalloc

import pytest

from bpelab import BPETokenizer
from bpelab.model.merge_recovery import merge_pairs
from bpelab.notebook import book_text, passages

from ..conftest import encoding
from .adapters.cs336 import get_tokenizer, train_bpe

END = "<|endoftext|>"
TEXTS = ["", "s", "\U0001f643", "Hello, how are you?", "Héllò hôw are ü? \U0001f643", passages("languages")["german"],
         passages("stories")["fog-day"], "a  \n\n\n b"]  # fmt: skip


@pytest.fixture(scope="module")
def gpt2():
    theirs = encoding("r50k_base")
    model = BPETokenizer.from_tiktoken("r50k_base").model
    merges = [(model.tokens[left], model.tokens[right]) for left, right in merge_pairs(model)]
    return theirs, dict(model.tokens), merges


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_tiktokens_ids_and_back(text, gpt2):
    theirs, vocab, merges = gpt2
    tokenizer = get_tokenizer(vocab, merges)
    ids = tokenizer.encode(text)
    assert ids == theirs.encode(text)
    assert tokenizer.decode(ids) == text
    assert "".join(tokenizer.decode([token_id]) for token_id in ids) == text or not text.isascii()


@pytest.mark.parametrize("around", ["", "\n", "\n\n", " ", "x"])
def test_special_tokens(around, gpt2):
    theirs, vocab, merges = gpt2
    tokenizer = get_tokenizer({**vocab, 50256: END.encode()}, merges, [END])
    text = f"Héllò{around}{END}{around}how {END}{END}{around}are ü? \U0001f643{END}{around}"
    ids = tokenizer.encode(text)
    assert ids == theirs.encode(text, allowed_special={END})
    assert tokenizer.decode(ids) == text
    assert ids.count(50256) == 4


def test_the_longer_of_two_special_tokens(gpt2):
    _, vocab, merges = gpt2
    tokenizer = get_tokenizer(vocab, merges, [END, END + END])
    ids = tokenizer.encode(f"Hello, {END}{END} how are you?{END}")
    found = [tokenizer.decode([token_id]) for token_id in ids]
    assert (found.count(END), found.count(END + END)) == (1, 1)


def test_a_file_in_little_memory(gpt2, tmp_path):
    """Line by line, with ids equal to those of the whole text, and less than 1 MB at a time."""
    theirs, vocab, merges = gpt2
    text = (book_text() + END) * 4
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8", newline="")
    tokenizer = get_tokenizer({**vocab, 50256: END.encode()}, merges, [END])
    next(tokenizer.encode_iterable(["warm"]))
    with (tmp_path / "corpus.txt").open(encoding="utf-8", newline="") as lines:
        ids = list(tokenizer.encode_iterable(lines))
    assert ids == theirs.encode(text, allowed_special={END})
    tracemalloc.start()
    with (tmp_path / "corpus.txt").open(encoding="utf-8", newline="") as lines:
        number = sum(1 for _ in tokenizer.encode_iterable(line for line in lines))
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert number == len(ids)
    assert used < 1_000_000, f"{used:,} bytes"


def test_training(tmp_path):
    """The vocabulary and the merges that the rule gives: greatest pairs first, special tokens apart."""
    (tmp_path / "corpus.txt").write_text(book_text()[:60_000] + f"{END}low lower{END}" * 40, encoding="utf-8")
    vocab, merges = train_bpe(tmp_path / "corpus.txt", 500, [END])
    assert len(vocab) == 500
    assert len(merges) == 500 - 256 - 1
    assert set(vocab.values()) >= {END.encode(), *(bytes([byte]) for byte in range(256))}
    assert {left + right for left, right in merges} <= set(vocab.values())
    assert not [token for token in vocab.values() if b"<|" in token and token != END.encode()]
    again = get_tokenizer(vocab, merges, [END])
    assert again.decode(again.encode(f"low {END}lower")) == f"low {END}lower"
