"""Files of documents in every form, for the tests of shards."""

import gzip
import json
import os
from pathlib import Path

import pytest

SEPARATOR = "<|endoftext|>"
TEXTS = ("a.txt", "a.txt.gz", "a.txt.zst")
RECORDS = ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet")


def pack(data: bytes, name: str) -> bytes:
    """The data as a file of this name holds it, in several members or frames."""
    half = len(data) // 2
    if name.endswith(".gz"):
        return gzip.compress(data[:half], 1) + gzip.compress(data[half:], 1)
    if name.endswith(".zst"):
        zstandard = pytest.importorskip("zstandard")
        made = zstandard.ZstdCompressor(level=1)
        skipped = b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip"  # a frame that holds nothing
        return made.compress(data[:half]) + skipped + made.compress(data[half:])
    return data


def write(path: Path, documents: list[str], field: str = "text") -> Path:
    """A file of documents, in the form that its name says; text with SEPARATOR between them."""
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        table = pyarrow.table({"id": list(range(len(documents))), field: documents})
        parquet.write_table(table, path, row_group_size=7)
    elif ".jsonl" in path.name:
        escaped = [n % 2 == 0 or "\ud800" in text for n, text in enumerate(documents)]
        lines = [json.dumps({"id": 0, field: text}, ensure_ascii=how) for how, text in zip(escaped, documents)]
        path.write_bytes(pack("\n\n".join(lines).encode(), path.name))
    else:
        path.write_bytes(pack(SEPARATOR.join(documents).encode(), path.name))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Name -> bytes of all that counts in a folder of shards."""
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder)) if name != ".lock"}
