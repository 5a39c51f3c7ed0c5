"""tiktoken both ways: encodings loaded, tokenizers handed over, rank files."""

import base64

import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, TokenizerFileError
from bpelab.formats.tiktoken import read_ranks, save_ranks
from bpelab.notebook import book_text

from ..conftest import ENCODINGS, encoding


@pytest.mark.parametrize("name", [*ENCODINGS, "o200k_harmony"])
def test_encodings_load(name):
    theirs = encoding(name)
    ours = BPETokenizer.from_tiktoken(name)
    assert ours.n_vocab == theirs.n_vocab
    assert ours.special_tokens == theirs._special_tokens
    text = book_text()[:20_000] + "<|endoftext|>"
    assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    assert ours.encode(text) == theirs.encode_ordinary(text)
    assert ours.decode(theirs.encode(text, allowed_special="all")) == text
    assert [theirs.encode_single_token(token) for token in list(ours.get_vocab())[:500]] == list(
        ours.get_vocab().values()
    )[:500]
    assert ours.decode_with_offsets(theirs.encode("日本 é 😀 x")) == theirs.decode_with_offsets(
        theirs.encode("日本 é 😀 x")
    )


def test_names_that_tiktoken_does_not_know():
    pytest.importorskip("tiktoken")
    with pytest.raises(ValueError, match="Unknown encoding"):
        BPETokenizer.from_tiktoken("no_such_base")
    with pytest.raises(TypeError):
        BPETokenizer.from_tiktoken(5)


def test_rank_files_both_ways(tmp_path):
    ours = BPETokenizer.train(book_text()[:30_000], 700)
    save_ranks(ours, tmp_path / "a.tiktoken")
    assert read_ranks(tmp_path / "a.tiktoken") == ours.model.ids
    again = BPETokenizer(BPEModel.from_ranks(read_ranks(tmp_path / "a.tiktoken")))
    assert again.encode(book_text()[:9_000]) == ours.encode(book_text()[:9_000])


def test_tiktoken_reads_our_rank_files(tmp_path, monkeypatch):
    load = pytest.importorskip("tiktoken.load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # where it would keep a copy of what it reads
    ours = BPETokenizer.train(book_text()[:30_000], 500)
    save_ranks(ours, tmp_path / "a.tiktoken")
    assert load.load_tiktoken_bpe(str(tmp_path / "a.tiktoken")) == ours.model.ids


LINE = base64.b64encode(b"ab").decode()


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (f"{LINE} 1\n{LINE} 2\n", "line 2: repeats the token or the rank of line 1"),
        (f"{LINE} 1\nYWM= 1\n", "line 2: repeats"),
        (f"{LINE}\n", "line 1: expected a token in Base64"),
        (f"{LINE} x\n", "line 1"),
        (f"{LINE} -1\n", "line 1"),
        (f"{LINE} 1 2\n", "line 1"),
        ("!!! 1\n", "line 1"),
        (" 1\n", "line 1"),
        (f"{LINE} {'9' * 5_000}\n", "line 1"),
        ("", "holds no token"),
    ],
)
def test_rank_files_that_are_wrong(content, where, tmp_path):
    (tmp_path / "x.tiktoken").write_text(content)
    with pytest.raises(TokenizerFileError, match=where):
        read_ranks(tmp_path / "x.tiktoken")


def test_what_tiktoken_cannot_hold():
    pytest.importorskip("tiktoken")
    with pytest.raises(ConversionError, match="NFC"):
        BPETokenizer.train("abab", 257, normalizer="NFC").to_tiktoken()
    ranks = {bytes([b]): b for b in range(256)} | {b"xyz": 256}
    orphan = BPETokenizer(BPEModel.from_ranks(ranks, take_whole=False))
    with pytest.raises(ConversionError, match="no merge makes them"):
        orphan.to_tiktoken()
    whole = BPETokenizer(BPEModel.from_ranks(ranks, take_whole=True))
    assert whole.to_tiktoken().encode("xyz") == whole.encode("xyz") == [256]
