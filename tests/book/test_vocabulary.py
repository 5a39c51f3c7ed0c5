"""GPT-4's vocabulary for a browser has the bytes that OpenAI publishes, or isn't written."""

import importlib
import subprocess
from hashlib import sha256

import pytest

from bpelab.formats.tiktoken_file import read_ranks

from ..conftest import ROOT

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "book")
    vocabulary = importlib.import_module("vocabulary")

MODULE = r'export default {"pat_str":"a|b","bpe_ranks":"! 0 IQ== Ig==\n! 5 Iw==","special_tokens":{}};'


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of js-tiktoken with three tokens."""
    monkeypatch.setattr(vocabulary, "SOURCE", tmp_path / "cl100k_base.js")
    vocabulary.SOURCE.write_text(MODULE, encoding="utf-8")
    return tmp_path


def test_ranks_go_on_from_the_first_of_a_line(tmp_path):
    (tmp_path / "ranks.tiktoken").write_bytes(vocabulary.tiktoken_file(MODULE))
    assert read_ranks(tmp_path / "ranks.tiktoken") == {b"!": 0, b'"': 1, b"#": 5}


def test_it_is_written_if_it_has_the_published_hash(module, monkeypatch):
    monkeypatch.setattr(vocabulary, "PUBLISHED", sha256(vocabulary.tiktoken_file(MODULE)).hexdigest())
    vocabulary.write_vocabulary(module)
    assert (module / vocabulary.NAME).read_bytes() == b"IQ== 0\nIg== 1\nIw== 5\n"


def test_with_another_hash_nothing_is_written(module):
    with pytest.raises(ValueError, match="that OpenAI publishes: take another version"):
        vocabulary.write_vocabulary(module)
    assert not (module / vocabulary.NAME).exists()


def test_without_npm_the_chapters_are_built_all_the_same(module, monkeypatch, capsys):
    def refuse(*words):
        raise subprocess.CalledProcessError(1, "npm")

    vocabulary.SOURCE.unlink()
    monkeypatch.setattr(vocabulary, "npm_install", refuse)
    vocabulary.write_vocabulary(module)
    assert "without GPT-4's vocabulary" in capsys.readouterr().err and not (module / vocabulary.NAME).exists()
