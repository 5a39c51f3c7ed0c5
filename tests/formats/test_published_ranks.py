"""Rank tables that are known by their hash: they open with the pattern of their maker, and say so."""

import hashlib
import warnings

import pytest

from bpelab import BPETokenizer, TokenizerFileError
from bpelab.formats import published_ranks
from bpelab.formats.published_ranks import PUBLISHED, PatternFromHash, PublishedRanks
from bpelab.formats.tiktoken_file import save_ranks
from bpelab.notebook import book_text
from bpelab.regex.patterns import PATTERNS

from ..conftest import encoding


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """A tokenizer whose file is published, as `mine`."""
    ours = BPETokenizer.train(book_text()[:40_000], 500, pattern="qwen3.5", normalizer="NFC")
    save_ranks(ours.spec.replace(normalizer=None), tmp_path / "mine.tiktoken")
    content = (tmp_path / "mine.tiktoken").read_bytes()
    entry = PublishedRanks("Mine", "qwen3.5", "NFC", "this test")
    monkeypatch.setattr(published_ranks, "PUBLISHED", {hashlib.sha256(content).hexdigest(): entry})
    return ours


@pytest.mark.parametrize(
    ("name", "end"), [("mine.tiktoken", b"\n"), ("x.tiktoken", b"\r\n"), ("tokenizer.model", b"\n")]
)
def test_the_pattern_is_that_of_the_maker(name, end, ours, tmp_path):
    (tmp_path / name).write_bytes((tmp_path / "mine.tiktoken").read_bytes().replace(b"\n", end))
    with pytest.warns(
        PatternFromHash, match=rf'by its hash, {name} is the vocabulary of Mine.*in NFC is split.*pattern="qwen3\.5"'
    ):
        opened = BPETokenizer.from_pretrained(tmp_path / name)
    assert opened.pattern == "qwen3.5"
    for text in ("e\u0301té 12345 it's", book_text()[:3_000]):
        assert opened.encode(text) == ours.encode(text)


def test_a_pattern_that_is_named_is_used_without_a_word(ours, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened = BPETokenizer.from_pretrained(tmp_path / "mine.tiktoken", pattern="gpt2")
    assert (opened.pattern, opened.spec.normalizer) == ("gpt2", None)


def test_what_is_not_known_needs_a_pattern(ours, tmp_path):
    content = (tmp_path / "mine.tiktoken").read_bytes()
    for name in ("other.tiktoken", "other.model"):
        (tmp_path / name).write_bytes(content.rpartition(b"\n")[0].rpartition(b"\n")[0] + b"\n")
        with pytest.raises(TokenizerFileError, match='has no pattern: name the one to split with, as in pattern="cl'):
            BPETokenizer.from_pretrained(tmp_path / name)
        assert BPETokenizer.from_pretrained(tmp_path / name, pattern="gpt2").encode("low")


def test_hashes_are_those_in_tiktoken(tmp_path):
    """OpenAI's, by the source that names them; their files are what tiktoken loads."""
    public = pytest.importorskip("tiktoken_ext.openai_public")
    with open(public.__file__, encoding="utf-8") as file:
        source = file.read()
    openai = {digest: entry for digest, entry in PUBLISHED.items() if entry.source == "tiktoken_ext/openai_public.py"}
    assert len(openai) == 4 and all(digest in source for digest in openai)
    theirs = encoding("r50k_base")
    ranks = sorted(theirs._mergeable_ranks.items(), key=lambda item: item[1])
    save_ranks(BPETokenizer.from_tiktoken("r50k_base").spec, tmp_path / "gpt2.tiktoken")
    assert len(ranks) == (tmp_path / "gpt2.tiktoken").read_bytes().count(b"\n")
    with pytest.warns(PatternFromHash, match="GPT-2"):
        opened = BPETokenizer.from_pretrained(tmp_path / "gpt2.tiktoken")
    assert opened.encode("it's  the harbour") == theirs.encode("it's  the harbour")


def test_all_patterns_have_a_name():
    assert {entry.pattern for entry in PUBLISHED.values()} <= PATTERNS.keys()
