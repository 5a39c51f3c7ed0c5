"""What was built: the table says what the reader's file does, also where it does something else than the library."""

import base64
import re
from pathlib import Path

import pytest

from bpelab.exercises import EXERCISES, what_you_built
from bpelab.exercises.own_file import FILE, OwnFileError, text_until
from bpelab.formats.tiktoken_file import save_ranks
from bpelab.notebook import published_ranks
from bpelab.tokenizer import BPETokenizer

TEXT = "The lamplighter of the harbour lit the lamps of the harbour. 日本 é\n" * 20
PARTS = "decode, train, encode_piece, split, Tokenizer, encode_special, decode_special, chatml_ids, trie_encoder"


@pytest.fixture
def vocabulary(tmp_path, monkeypatch):
    """A folder in which a reader works, with a vocabulary beside the notebook in the place of GPT-4's."""
    monkeypatch.delenv("BPELAB_NO_PROGRESS", raising=False)
    monkeypatch.setenv("BPELAB_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    tokenizer = BPETokenizer.train(TEXT, 290, pattern="cl100k", progress=False)
    save_ranks(tokenizer.spec, "cl100k_base.tiktoken")
    return dict(tokenizer.model.ids)


def test_the_books_file_does_all_that_it_should(vocabulary):
    report = what_you_built(TEXT)
    found = dict(report.rows)
    assert found["File"].endswith(f"; 0 of 9 parts are yours; the book's answers stand in for {PARTS}")
    assert found["Training"].startswith("the same vocabulary as bpelab's: ")
    assert found["Encoding"].startswith("the same ids as bpelab's: ")
    assert found["GPT-4"].startswith("the same ids as cl100k_base's: ")
    assert found["Decoding"] == "the text comes back"
    assert found["Chat"].startswith("the same ids as bpelab's")
    assert re.fullmatch(r"[\d.]+ MB/s; bpelab [\d,]+ times as fast", found["Speed"])
    assert repr(report).splitlines()[1].startswith("Training     the same")


def test_a_file_that_does_something_else_is_said_to(vocabulary):
    source = text_until("trie")
    changes = {
        "Encoding": ("return ids\n\n    def decode", "return ids[1:]\n\n    def decode"),
        "Decoding": ('errors="replace")', 'errors="replace").strip()'),
        "Training": ("max(counts.values()) < 2", "max(counts.values()) < 40"),
        "Chat": ('tokenizer.encode(message["role"]', 'encode_special(tokenizer, special, message["role"]'),
    }
    for label, (right, wrong) in changes.items():
        assert right in source
        Path(FILE).write_text(source.replace(right, wrong), encoding="utf-8")
        finding = dict(what_you_built(TEXT).rows)[label]
        assert finding.startswith(("not the same", "another text")), (label, finding)
    Path(FILE).write_text(EXERCISES["bytes.6"].source + "\n", encoding="utf-8")
    assert "; 1 of 9 parts are yours; " in dict(what_you_built(TEXT).rows)["File"]
    Path(FILE).write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(OwnFileError, match="doesn't run"):
        what_you_built(TEXT)


def test_the_file_is_taken_home_whole(vocabulary):
    html = what_you_built(TEXT)._repr_html_()
    name, data = re.search(r'<a download="(.*?)" href="data:text/x-python;charset=utf-8;base64,(.*?)"', html).groups()
    assert name == FILE and base64.b64decode(data).decode() == text_until("trie")
    assert html.count('<th scope="row"') == 7 and "<caption" in html


def test_a_vocabulary_beside_the_notebook_comes_first(vocabulary):
    assert published_ranks("cl100k_base") == vocabulary


def test_without_a_vocabulary_nothing_is_claimed(vocabulary, monkeypatch, capsys):
    Path("cl100k_base.tiktoken").unlink()
    monkeypatch.setitem(__import__("sys").modules, "tiktoken", None)
    assert dict(what_you_built(TEXT).rows)["GPT-4"] == "not compared: its vocabulary is not here"
    assert "tiktoken is not installed here" in capsys.readouterr().out
