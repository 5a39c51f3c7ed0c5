"""Every kind of tokenizer, in C: the ids of the pure-Python path, which other tests compare with references."""

import gzip
import json
import random
from functools import lru_cache
from pathlib import Path

import pytest

from bpelab import BPETokenizer, native
from bpelab.errors import BPELabError
from bpelab.notebook import book_text

from ..conftest import SHARED, amount, fuzz_text, load_script, shared

pytest.importorskip("tokenizers")
from ..boundaries import test_from_vocabulary
from ..conformance.adapter import load
from ..formats import random_zoo
from ..formats.families import families
from ..model.test_initial_symbols import random_file as random_initial_symbols

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")

ODD = [
    "", " ", "▁", "▁▁a ▁", "  two  words ", "a" * 300, "日本" * 200, "é\u0378😀" * 40, "\ud800a\udc00", "<unk> <s>▁",
    " 12345 " * 9, "\n \n", "I'll, you'd!",
]  # fmt: skip
SPLIT_IN_PYTHON = {"falcon", "superbpe"}
"""A step after ByteLevel, and a pattern that is no DFA."""


@lru_cache(1)
def files():
    return families()


def both(data, folder: Path) -> tuple[BPETokenizer, BPETokenizer]:
    (folder / "tokenizer.json").write_text(json.dumps(data), encoding="utf-8")
    plain = BPETokenizer.from_pretrained(folder)
    return plain.with_options(encoder="heap"), plain.with_options(encoder="native")


@pytest.mark.parametrize("name", sorted(files()))
def test_families(name, tmp_path):
    plain, in_c = both(files()[name], tmp_path)
    assert (in_c.pipeline.native is not None) == (name not in SPLIT_IN_PYTHON)
    rng = random.Random(name)
    book = [book_text()[place : place + rng.randint(1, 2_000)] for place in rng.sample(range(200_000), 5)]
    for text in [*ODD, *book, *(fuzz_text(rng) for _ in range(amount(60, 10_000)))]:
        for allowed in ((), "all"):
            expected = plain.encode(text, allowed_special=allowed)
            assert in_c.encode(text, allowed_special=allowed) == expected, text


def outcome(tokenizer: BPETokenizer, text: str) -> object:
    try:
        return tokenizer.encode(text, allowed_special="all")
    except BPELabError as error:
        return type(error)


DRAWN = {
    "zoo": random_zoo.draw,
    "initial symbols": lambda seed: random_initial_symbols(random.Random(seed)),
    "spaces": lambda seed: test_from_vocabulary.random_file(random.Random(seed)),
}


@pytest.mark.parametrize("kind", sorted(DRAWN))
def test_files_drawn_at_random(kind, tmp_path):
    """Any parts and any merges: symbols missing, marked, fused, spelled in bytes; `▁` anywhere."""
    served = 0
    for seed in range(amount(60, 4_000)):
        rng, data = random.Random(seed), DRAWN[kind](seed)
        try:
            plain, in_c = both(data, tmp_path)
        except BPELabError:
            continue
        served += in_c.pipeline.native is not None
        letters = test_from_vocabulary.LETTERS + "abcé😀 zŋ"
        texts = (
            random_zoo.texts(rng, data, 12)
            if kind == "zoo"
            else ["".join(rng.choices(letters, k=rng.choice((1, 5, 14, 60, 200)))) for _ in range(12)]
        )
        for text in texts:
            assert outcome(in_c, text) == outcome(plain, text), (seed, text)
    assert served > amount(60, 4_000) / 3


@pytest.mark.parametrize("unknown", [None, "?"])
def test_pieces_of_one_unit_or_none(unknown, tmp_path):
    """If the vocabulary lacks all symbols of a piece, nothing is left to merge."""
    vocab = {token: number for number, token in enumerate(["a", "b", "ab", "?"])}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], "unk_token": unknown, "fuse_unk": True}
    plain, in_c = both({"model": model, "pre_tokenizer": {"type": "Whitespace"}, "added_tokens": []}, tmp_path)
    assert in_c.pipeline.native is not None
    for text in ("", "z", "zzzz zz", "ab zz ab", "zab abz z a zb", "z " * 50 + "ab" + " é" * 50):
        assert in_c.encode(text) == plain.encode(text), text
    assert bool(in_c.encode("zz")) == bool(unknown)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-2", "gemma", "deepseek-v3", "nllb", "clip", "starcoder", "subword-prefix"])
def test_long_texts(name, tmp_path):
    """More pieces than one block has, at every level, and one piece without an end."""
    plain, in_c = both(files()[name], tmp_path)
    book, size = book_text()[:150_000], amount(10_000, 200_000)
    for text in (book, "7" * size, "1 " * size, "日本" * size, "a" * size, "🙂" * size, "▁" * size, " " * size + "x"):
        assert in_c.encode(text) == plain.encode(text), text[:3]


def listed() -> list[str]:
    found = sorted(entry.name for entry in (SHARED / "conformance" / "tokenizers").glob("*/"))
    return found or ["(the kit is not here)"]


@pytest.mark.slow
@pytest.mark.parametrize("name", listed())
def test_recorded_cases(name):
    script = shared("conformance/conformance.py")
    kit = load_script(script)
    tokenizer = load(str(script.parent / "tokenizers" / name)).tokenizer.with_options(encoder="native")
    packed = (script.parent / "expected" / f"{name}.jsonl.gz").read_bytes()
    expected = {row["name"]: row for row in map(json.loads, gzip.decompress(packed).splitlines())}
    compared = 0
    for case in map(json.loads, script.with_name("cases.jsonl").read_text("utf-8").splitlines()):
        recorded = expected.get(case["name"], {}).get("ids")
        if recorded is None:
            continue
        ids = tokenizer.encode(kit.expand(case, kit.scale_of(name)), allowed_special="all", add_special_tokens=False)
        assert kit.pack_ids(ids) == recorded, case["name"]
        compared += 1
    assert compared
