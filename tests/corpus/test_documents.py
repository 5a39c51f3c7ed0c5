"""The documents of files: which files are meant, how they are decompressed, and where a document ends."""

import os
import random

import pytest

from bpelab.corpus import compression, documents, parquet
from bpelab.corpus.compression import blocks
from bpelab.corpus.documents import ReadOptions, fragments
from bpelab.corpus.inputs import check_unchanged, find_inputs, input_paths
from bpelab.errors import CorpusError

from ..shards.corpora import RECORDS, SEPARATOR, TEXTS, pack, write

DOCUMENTS = ["low", "é日本😀" * 9, "a\nb\r\n", "<|endof", "text|>", " ", "low" * 50]


@pytest.fixture(params=[2, 5, 1 << 20])
def size(request, monkeypatch):
    """The size of blocks, fragments and batches."""
    for module, name in (
        (compression, "BLOCK"),
        (compression, "ZSTD_CHUNK"),
        (parquet, "BATCH"),
        (documents, "FRAGMENT"),
    ):
        monkeypatch.setattr(module, name, request.param)
    return request.param


def read(path, **options):
    """The documents of a file, joined from their fragments."""
    (source,) = find_inputs(path)
    texts, parts = [], []
    for text, last in fragments(source, ReadOptions(**options)):
        parts.append(text)
        if last:
            texts.append("".join(parts))
            parts = []
    assert not parts
    return texts


@pytest.mark.parametrize("name", TEXTS + RECORDS)
def test_every_format(tmp_path, size, name):
    assert read(write(tmp_path / name, DOCUMENTS), separator=SEPARATOR) == DOCUMENTS


@pytest.mark.parametrize("separator", ["--", "a", "aba", "\n\n"])
def test_a_text_is_split_as_str_split_does(tmp_path, size, separator):
    rng = random.Random(separator)
    path = tmp_path / "a.txt"
    for _ in range(50):
        text = "".join(rng.choices(["a", "b", "-", "--", "\n", "é"], k=rng.randint(0, 40)))
        path.write_text(text, encoding="utf-8", newline="")
        assert read(path, separator=separator) == [part for part in text.split(separator) if part]
    assert read(path) == ([text] if text else [])


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_compressed_file_that_is_cut_off(tmp_path, ending):
    """At any byte: an error, or the documents of the first member where it ends."""
    data = pack(b"low lower lowest " * 9, f"a{ending}")
    path = tmp_path / f"a.txt{ending}"
    whole = 0
    for end in range(len(data)):
        path.write_bytes(data[:end])
        try:
            assert (b"low lower lowest " * 9).startswith(b"".join(blocks(*find_inputs(path))))
            whole += 1
        except CorpusError as error:
            assert str(path) in str(error)
    assert whole <= 2  # after the first member, and after the frame of zstd that holds nothing


def test_which_files_are_meant(tmp_path):
    names = ["b.txt", "a.jsonl", "c.parquet.gz", ".hidden.txt", "notes.md", "deep/a.txt.zst", "deep/.git/a.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")

    def relative(*arguments):
        return [os.path.relpath(path, tmp_path).replace(os.sep, "/") for path in input_paths(*arguments)]

    assert relative(tmp_path) == ["a.jsonl", "b.txt", "deep/a.txt.zst"]
    assert relative([tmp_path / "b.txt", tmp_path / "deep"]) == ["b.txt", "deep/a.txt.zst"]
    assert relative(str(tmp_path / "**" / "*.txt")) == ["b.txt"]
    assert relative(tmp_path, "text") == ["a.jsonl", "b.txt", "c.parquet.gz", "deep/a.txt.zst", "notes.md"]
    with pytest.raises(CorpusError, match="is named twice"):
        find_inputs([tmp_path / "b.txt", tmp_path / "deep" / ".." / "b.txt"])
    with pytest.raises(CorpusError, match="no file fits this pattern"):
        input_paths(str(tmp_path / "*.csv"))


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("low")
    (source,) = find_inputs(path)
    check_unchanged(source)
    path.write_text("lower")
    with pytest.raises(CorpusError, match="was changed while it was read"):
        check_unchanged(source)
