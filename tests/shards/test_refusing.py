"""What is wrong with an input is said with file, line or row, and field, in bounded memory, and nothing looks whole."""

import gzip
import json
import os
import subprocess
import sys

import pytest

from bpelab import CorpusError, MissingDependencyError, ShardsError, SpecialTokenError
from bpelab._support.install import install_command
from bpelab.shards import open_shards

from ..conftest import ROOT, amount
from .corpora import SEPARATOR, write

LINES = [
    (b"[1, 2]", "line 2: expected an object with the field 'text', found a list of 2"),
    (b'"text"', "line 2: expected an object with the field 'text', found 'text'"),
    (b'{"content": "a", "id": 1}', "line 2: there is no field 'text'; it has 'content', 'id': name the one that holds"),
    (b"{}", "line 2: there is no field 'text'; it has none"),
    (b'{"text": 5}', "line 2: field 'text': expected a string, found 5; leave such lines out"),
    (b'{"text": null}', "line 2: field 'text': expected a string, found nothing"),
    (b'{"text": "a"', "line 2: is not JSON: Expecting ',' delimiter, column 13"),
    (b'{"text": "a"} {"text": "b"}', "line 2: is not JSON: Extra data, column 15; a line is a JSON object"),
    (
        b'{"text": "\xff"}',
        "line 2: is not UTF-8: invalid start byte at byte 10 of the line; convert the file, or encode it with",
    ),
    (b"[" * 100_000, "line 2: is nested too deeply"),
    (b'{"text": "a", "n": ' + b"1" * 5_000 + b"}", "line 2: holds an integer with thousands of digits"),
]


@pytest.mark.parametrize(("line", "said"), LINES, ids=range(len(LINES)))
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_lines(tmp_path, tokenizer, line, said, name):
    data = b'{"text": "good"}\n' + line + b'\n{"text": "good"}\n'
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(CorpusError) as caught:
        tokenizer.encode_files(tmp_path / name, tmp_path / "out")
    assert f"{tmp_path / name}: {said}" in str(caught.value)
    with pytest.raises(ShardsError, match="isn't finished"):
        open_shards(tmp_path / "out")
    assert not [name for name in os.listdir(tmp_path / "out") if name.startswith("shard") or name.endswith(".part")]


@pytest.mark.parametrize("size", [3, 1 << 20])
def test_text_that_is_not_utf8(tmp_path, tokenizer, tiny, size):
    tiny(size)
    for data, said in (
        (b"abcdef\xffg", "invalid start byte at byte 6;"),
        (b"abcdefghi\xe2\x82", "unexpected end of data at byte 9;"),
        (b"a\xed\xa0\x80", "invalid continuation byte at byte 1;"),
        ("é".encode("utf-16"), "invalid start byte at byte 0;"),
    ):
        (tmp_path / "a.txt").write_bytes(data)
        with pytest.raises(CorpusError) as caught:
            tokenizer.encode_files(tmp_path / "a.txt", tmp_path / "out", overwrite=True)
        assert f"a.txt: is not UTF-8: {said} convert the file, or encode it with errors=replace" in str(caught.value)


def packed_wrongly(data: bytes, kind: str) -> list[tuple[bytes, str]]:
    end = f"{kind}'s data ends before its end; fetch it again, or compress it again"
    middle = bytearray(data)
    middle[len(data) // 2] ^= 0xFF
    return [
        (data[:-3], f"is cut off: {end}"),
        (data[: len(data) // 2], f"is cut off: {end}"),
        (bytes(middle), "a.jsonl."),
        (b"", "fetch it again"),
        (b'{"text": "a"}', f"is not a complete {kind} file: "),
        (data + b"garbage", f"is not a complete {kind} file: "),
    ]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_packed_files(tmp_path, tokenizer, texts, kind):
    path = write(tmp_path / f"a.jsonl.{'gz' if kind == 'gzip' else 'zst'}", texts)
    for data, said in packed_wrongly(path.read_bytes(), kind):
        path.write_bytes(data)
        with pytest.raises(CorpusError) as caught:
            tokenizer.encode_files(path, tmp_path / "out", overwrite=True)
        assert said in str(caught.value)
        with pytest.raises(ShardsError, match="isn't finished"):
            open_shards(tmp_path / "out")


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.zst"])
def test_packed_files_by_another_name(tmp_path, tokenizer, name):
    plain = tmp_path / name.rpartition(".")[0]
    write(tmp_path / name, ["one", "two"]).rename(plain)
    kind = {"a.txt.gz": "text.gz", "a.jsonl.zst": "jsonl.zst"}[name]
    with pytest.raises(CorpusError, match=f"is compressed with g?zs?[it]?[pd]?[td]?; pass input_format='{kind}'"):
        tokenizer.encode_files(plain, tmp_path / "out")
    shards = tokenizer.encode_files(plain, tmp_path / "out2", input_format=kind, separator=SEPARATOR)
    assert shards.documents == 2


def test_columns(tmp_path, tokenizer):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    broken = pyarrow.StringArray.from_buffers(
        1, pyarrow.array([0, 2], pyarrow.int32()).buffers()[1], pyarrow.py_buffer(b"a\xff")
    )
    for columns, said in (
        ({"content": ["a"], "id": [1]}, "there is no column 'text'; its columns are 'content', 'id': name one of them"),
        ({"text": [1]}, "column 'text': expected strings, found int64; name another column"),
        ({"text": [["a"]]}, "column 'text': expected strings, found list<"),
        ({"text": ["a", None]}, "row 1: column 'text': expected a string, found nothing; leave such rows out"),
        ({"text": broken}, "row 0: column 'text': is not UTF-8: invalid start byte at byte 1;"),
    ):
        parquet.write_table(pyarrow.table(columns), path)
        with pytest.raises(CorpusError) as caught:
            tokenizer.encode_files(path, tmp_path / "out", overwrite=True)
        assert f"{path}: {said}" in str(caught.value)
    parquet.write_table(pyarrow.table({"text": ["some text"] * 1_000}), path)
    whole = path.read_bytes()
    for data in (whole[:-9], whole[: len(whole) // 2], b"", b"PAR1", whole[:20] + bytes(40) + whole[60:]):
        path.write_bytes(data)
        with pytest.raises(CorpusError, match=r"a.parquet: row 0: can't be read as Parquet: .*; write it again"):
            tokenizer.encode_files(path, tmp_path / "out", overwrite=True)


def test_paths(tmp_path, tokenizer):
    write(tmp_path / "a.txt", ["a"])
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    for paths, said in (
        ([], "there is no input: name at least one file"),
        (tmp_path / "none.txt", "none.txt: can't be read: No such file or directory"),
        (
            tmp_path / "a.md",
            "a.md: the name doesn't tell what it holds; pass input_format, one of text",
        ),
        (tmp_path / "folder", "folder: the folder holds no file whose name ends as in .txt"),
        (f"{tmp_path}/*.jsonl", "*.jsonl: no file fits this pattern"),
        (tmp_path / "pipe.txt", "pipe.txt: is not a regular file"),
        ([tmp_path / "a.txt", f"{tmp_path}/a.*t"], "a.txt: is named twice"),
        ("a\0.txt", "can't be read: embedded null byte"),
    ):
        with pytest.raises(CorpusError) as caught:
            tokenizer.encode_files(paths, tmp_path / "out")
        assert said in str(caught.value)
    with pytest.raises(TypeError, match=r"an input is a path \(str or pathlib.Path\), not int"):
        tokenizer.encode_files([5], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_options(tmp_path, tokenizer):
    path = write(tmp_path / "a.txt", ["a"])
    for options, kind, said in (
        ({"input_format": "json"}, ValueError, "input_format is one of text, text.gz"),
        ({"shard_format": "pt"}, ValueError, "shard_format is one of 'npy', 'bin', not 'pt'"),
        ({"dtype": "int64"}, ValueError, "dtype is one of 'auto', 'uint16', 'uint32', not 'int64'"),
        ({"errors": "ignore"}, ValueError, "errors is one of 'strict', 'replace', not 'ignore'"),
        ({"separator": ""}, ValueError, "separator is a string of at least one character, not ''"),
        ({"field": 1}, ValueError, "field is a string"),
        ({"shard_tokens": 0}, ValueError, "shard_tokens is a whole number from 1 up, not 0"),
        ({"threads": True}, ValueError, "threads is a whole number from 1 up, not True"),
        ({"worker_timeout": -1, "client": "local"}, ValueError, "worker_timeout is a number of seconds, 0 or more"),
        ({"worker_timeout": 60}, ValueError, "worker_timeout is for a cluster: pass client, too"),
        ({"end_of_document": "<end>"}, SpecialTokenError, "it has '<|endoftext|>', '<|other|>'"),
        ({"allowed_special": ["x"]}, SpecialTokenError, "allowed_special names 'x'"),
    ):
        with pytest.raises(kind) as caught:
            tokenizer.encode_files(path, tmp_path / "out", **options)
        assert said in str(caught.value)
    with pytest.raises(SpecialTokenError, match="names no eos_token: name the token that ends documents"):
        tokenizer.with_options(eos_token=None).encode_files(path, tmp_path / "out", end_of_document=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("package", "name"), [("zstandard", "a.txt.zst"), ("pyarrow", "a.parquet"), ("numpy", "a.txt")]
)
def test_packages_that_are_missing(tmp_path, package, name):
    path = write(tmp_path / name, ["a"])
    program = (
        f"import sys; sys.modules[{package!r}] = None\nfrom bpelab import BPETokenizer, MissingDependencyError\n"
        f"try: BPETokenizer.train('abab', 257).encode_files({str(path)!r}, {str(tmp_path / 'out')!r})\n"
        "except MissingDependencyError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert f"not installed: {install_command('files')}" in done.stdout
    assert MissingDependencyError


def test_only_what_is_needed_is_imported(tmp_path):
    path = write(tmp_path / "a.txt", ["a"])
    program = (
        "import sys; from bpelab import BPETokenizer\n"
        f"BPETokenizer.train('abab', 257).encode_files({str(path)!r}, {str(tmp_path / 'out')!r})\n"
        "print(*{'pyarrow', 'zstandard', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "\n"


BOMBS = """
import gzip, json, resource, sys
from bpelab import BPELabError, BPETokenizer
import numpy, zstandard, bpelab.shards.write
bpelab.shards.partition.MAX_BUFFER = 1 << 23  # of which every place is looked at
tokenizer = BPETokenizer.train("abab", 257)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    shards = tokenizer.encode_files(sys.argv[1], sys.argv[2])
    said = f"{len(shards)} tokens"
except BPELabError as error:
    said = str(error)
print(json.dumps([said, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10]))
"""


def in_process(path, folder) -> tuple[str, int]:
    """What becomes of a file, and by how many MiB memory grew."""
    words = [sys.executable, "-c", BOMBS, str(path), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
    said, grown = json.loads(done.stdout)
    return said, grown


@pytest.mark.slow
def test_bombs(tmp_path):
    """Small files of 200 MB, which no run takes into memory: one line, one word, and lines with little text in them."""
    zstandard = pytest.importorskip("zstandard")
    block, blocks = 1 << 20, 200

    def bomb(name, begin, fill, end=b""):
        path = tmp_path / name
        with gzip.open(path, "wb", 1) if name.endswith("gz") else zstandard.open(path, "wb") as file:
            file.write(begin)
            for _ in range(blocks):
                file.write(fill * (block // len(fill)))
            file.write(end)
        assert path.stat().st_size < 4 << 20
        return path

    said, grown = in_process(bomb("line.jsonl.gz", b'{"text": "', b"a"), tmp_path / "1")
    assert "line.jsonl.gz: line 1 has more than 33,554,432 bytes; split its document, or leave it out" in said
    assert grown < 100
    said, grown = in_process(bomb("word.txt.zst", b"", b"a"), tmp_path / "2")
    assert "word.txt.zst: document 0, counted from 0, has more than 8,388,608 characters without a place" in said
    assert grown < 100
    line = b'{"text": "ab", "rest": "' + b"a" * 65_000 + b'"}\n'
    said, grown = in_process(bomb("lines.jsonl.zst", b"", line.ljust(1 << 16, b" ")), tmp_path / "3")
    assert said == f"{blocks * 16} tokens"
    assert grown < 100


@pytest.mark.slow
def test_memory_does_not_grow_with_the_input(tmp_path):
    """The second text is four times the first, or more."""
    grown = []
    for size in (2, amount(8, 100)):
        path = tmp_path / f"{size}.txt"
        path.write_text("abab, ab and so on. " * (size * 50_000))
        grown.append(in_process(path, tmp_path / str(size))[1])
    assert grown[1] < grown[0] + 50  # of 8 MB of text, 7 million ids
