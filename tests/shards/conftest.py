"""A small tokenizer, documents, and sizes so small that everything is cut."""

import os
import random

import pytest

from bpelab import BPETokenizer
from bpelab._support.textio import valid_text
from bpelab.corpus import compression, documents, parquet as columns
from bpelab.notebook import book_text
from bpelab.shards import partition

from ..conftest import fuzz_text


@pytest.fixture(scope="session")
def tokenizer():
    names = ["<|endoftext|>", "<|other|>"]
    return BPETokenizer.train(book_text()[:30_000], 600, special_tokens=names, eos_token="<|endoftext|>")


@pytest.fixture(scope="session")
def texts():
    """Documents of all lengths, none of them empty, and none with the separator in it."""
    rng, book = random.Random(5), book_text()
    found = [valid_text(fuzz_text(rng)).replace("<|endoftext|>", "<|other|>") for _ in range(40)]
    for _ in range(20):
        start = rng.randrange(len(book))
        found.append(book[start : start + rng.choice((3, 50, 3_000))])
    rng.shuffle(found)
    return [text for text in found if text]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """What is to outlast a power cut is not asked for where no power is cut: a disk takes long for it."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def tiny(monkeypatch):
    """A function that sets the sizes of blocks, fragments and batches."""

    def sizes(size: int) -> None:
        for module, name in (
            (compression, "BLOCK"),
            (compression, "ZSTD_CHUNK"),
            (columns, "BATCH"),
            (documents, "FRAGMENT"),
            (partition, "FRAGMENT"),
            (partition, "BATCH"),
            (partition, "WINDOW"),
        ):
            monkeypatch.setattr(module, name, max(2, size))

    return sizes
