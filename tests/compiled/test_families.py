"""Every kind of tokenizer, compiled: the ids of the pure-Python path, which the other tests compare with references."""

import json
import random
import sys
from functools import lru_cache

import pytest

from bpelab import BPETokenizer
from bpelab.notebook import book_text

from ..conftest import amount, fuzz_text, shared

pytest.importorskip("tokenizers")
from ..formats.families import families

ODD = ["", " ", "▁", "▁▁a ▁", "  two  words ", "a" * 300, "日本" * 200, "é\u0378😀" * 40, "\ud800a\udc00", "<unk> <s>▁"]
PYTHON_CUTS = {"falcon", "superbpe"}
"""Families whose texts are cut in Python: a step behind ByteLevel, a pattern that no table can run."""


@lru_cache(1)
def files():
    return families()


def pair(data, folder) -> tuple[BPETokenizer, BPETokenizer]:
    (folder / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")
    plain = BPETokenizer.from_pretrained(folder)
    return plain, plain.with_options(encoder="compiled")


def texts(rng: random.Random, count: int) -> list[str]:
    places = [rng.randrange(200_000) for _ in range(count // 10)]
    known = [book_text()[place : place + rng.randint(1, 2_000)] for place in places]
    return ODD + known + [fuzz_text(rng) for _ in range(count)]


@pytest.mark.parametrize("name", sorted(families()))
def test_family(name, tmp_path):
    plain, compiled = pair(files()[name], tmp_path)
    engine = compiled._pipeline._engine
    assert engine is not None
    assert engine.cuts == (name not in PYTHON_CUTS)
    rng = random.Random(name)
    for text in texts(rng, amount(60, 10_000)):
        for allowed in ((), "all"):
            expected = plain.encode(text, allowed_special=allowed)
            assert compiled.encode(text, allowed_special=allowed) == expected, text
