"""Tables that are kept: the same ids as from the source, files that are damaged, folders that can't be written."""

import base64
import copy
import hashlib
import json
import multiprocessing
import os
import pickle
import random
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bpelab import BPEModel, BPETokenizer, SpecialTokenError, native
from bpelab._support.cache_dir import cache_dir
from bpelab.formats.tokenizer_json_save import tokenizer_json
from bpelab.model import disk_cache
from bpelab.model.initial_symbols import InitialSymbols

from ..conftest import amount, encoding, fuzz_text

TOKENS = 1_500


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """An empty folder for tables."""
    folder = tmp_path / "tables"
    monkeypatch.setenv("BPELAB_CACHE", str(folder))
    monkeypatch.setattr(disk_cache, "SMALLEST", TOKENS)
    return folder


@pytest.fixture(scope="module")
def large():
    """A model with as many tokens as it takes: words of three letters, made of two merges each."""
    letters = [bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyz '"]
    pairs = [(a, b) for a in letters for b in letters]
    merges = pairs + [(a + b, c) for a, b in pairs for c in letters][: TOKENS - 256 - len(pairs)]
    return BPEModel.from_merges(merges)


@pytest.fixture(scope="module")
def source(large, tmp_path_factory):
    """A folder with a tokenizer.json and one with ranks."""
    folder = tmp_path_factory.mktemp("large")
    tokenizer = BPETokenizer(large, pattern="gpt2", special_tokens={"<|end|>": TOKENS})
    tokenizer.save(folder)
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in large.ids.items())
    (folder / "ranks.tiktoken").write_bytes(b"".join(lines))
    return folder


def tables(folder: Path) -> list[Path]:
    found = folder.glob("*") if folder.exists() else []  # tables of the encoder in C, and notes, have their own tests
    return sorted(path for path in found if path.name not in {"native", "checked"})


def same(one, two):
    rng = random.Random(90)
    for _ in range(amount(100, 5_000)):
        text = fuzz_text(rng) + " the cat's hat <|end|>"
        assert one.encode(text, allowed_special="all") == two.encode(text, allowed_special="all")
    assert one.model.tokens == two.model.tokens
    assert dict(one.model.merges) == dict(two.model.merges)
    assert one.model.alphabet == two.model.alphabet
    assert (one.model.ignore_merges, one.model.initial_symbols) == (two.model.ignore_merges, two.model.initial_symbols)
    assert one.special_tokens == two.special_tokens
    assert tokenizer_json(one.spec) == tokenizer_json(two.spec)


def test_a_tokenizer_json(source, kept):
    first = BPETokenizer.from_pretrained(source)
    assert len(tables(kept)) == 1
    before = tables(kept)[0].stat().st_mtime_ns
    second = BPETokenizer.from_pretrained(source)
    assert tables(kept)[0].stat().st_mtime_ns == before
    same(first, second)


def test_opening_makes_no_dictionaries(source, kept):
    for _ in ("from the file", "from the cache"):
        model = BPETokenizer.from_pretrained(source).model
        assert not {"tokens", "ids", "alphabet", "merges"} & set(vars(model))
    assert len(tables(kept)) == 1


def test_ranks(source, kept):
    path = source / "ranks.tiktoken"
    first = BPETokenizer.from_pretrained(path, pattern="gpt2")
    assert len(tables(kept)) == 1
    second = BPETokenizer.from_pretrained(path, pattern="cl100k")
    assert second.pattern == "cl100k"
    same(first, second.with_options(pattern="gpt2"))


def test_an_encoding_of_tiktoken(kept):
    encoding("r50k_base")
    first = BPETokenizer.from_tiktoken("r50k_base")
    assert len(tables(kept)) == 1
    second = BPETokenizer.from_tiktoken("r50k_base")
    assert (first.pattern, first.special_tokens) == (second.pattern, second.special_tokens)
    assert first.model.tokens == second.model.tokens


def test_initial_symbols_are_kept(kept, large):
    initial_symbols = InitialSymbols(
        characters=False, byte_tokens={1: 5}, unk_id=7, fuse_unk=True, prefix=b"#\xff", suffix=b"</w>"
    )
    model = BPEModel(large.tokens, large.merges, {b"a": large.ids[b"a"]}, True, initial_symbols)
    disk_cache.store("x", model, "é\0".encode())
    found, extra = disk_cache.fetch("x")
    assert (found.initial_symbols, found.ignore_merges, extra) == (initial_symbols, True, "é\0".encode())
    assert found.tokens == model.tokens and found.merges == model.merges


def test_what_is_not_kept(kept, large):
    disk_cache.store("small", BPEModel.from_merges([(b"a", b"b")]))
    symbols = InitialSymbols(characters=True, symbols={b"the": 5})
    disk_cache.store("symbols", BPEModel(large.tokens, large.merges, {}, False, symbols))
    assert tables(kept) == []
    assert disk_cache.fetch("small") is None


DAMAGE = {
    "empty": lambda data: b"",
    "a byte": lambda data: data[:1],
    "a hash and nothing": lambda data: data[:32],
    "cut": lambda data: data[: len(data) // 2],
    "cut by one": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "a bit in the tokens": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "a bit in the hash": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a pickle": lambda data: pickle.dumps({"x": 1}),
    "zeros": lambda data: bytes(len(data)),
    "the hash of nothing": lambda data: hashlib.sha256(b"").digest() + b"\0" * 8,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_ignored_and_written_again(damage, source, kept):
    ours = BPETokenizer.from_pretrained(source)
    (path,) = tables(kept)
    good = path.read_bytes()
    path.write_bytes(DAMAGE[damage](good))
    assert BPETokenizer.from_pretrained(source).encode("the cat's hat") == ours.encode("the cat's hat")
    assert tables(kept) == [path]
    assert path.read_bytes() == good


def signed(body: bytes) -> bytes:
    return hashlib.sha256(body).digest() + body


def joined(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


NUMBERS = bytes(4 * TOKENS)


@pytest.mark.parametrize(
    "body",
    [
        b"\0" * 8,
        b"\0" * 7,
        (2**63).to_bytes(8, "little") + b"{}",
        joined(b"x 5", b"", b""),
        joined(b"x", b"", b"", b"\0\0", NUMBERS, NUMBERS, b""),
        joined(b"x y", b"", b"", b"\0\0", NUMBERS, NUMBERS, b""),
        joined(b"\xff 5", b"", b"", b"\0\0", NUMBERS, NUMBERS, b""),
        joined(b"x 5", b"", b"", b"\0", NUMBERS, NUMBERS, b""),
        joined(b"x 5", b"", b"", b"\0\0\0", NUMBERS, NUMBERS, b""),
        joined(b"x 5", b"", b"", b"\0\0", b""),
        joined(b"x 5", b"", b"", b"\0\0", NUMBERS, b""),
        joined(b"x 5", b"", b"", b"\0\0", NUMBERS, NUMBERS[4:], b""),
        joined(b"x 5", b"", b"", b"\0\0", NUMBERS, NUMBERS[1:], b""),
        joined(b"x 5", b"", b"", b"\0\0", NUMBERS[:400], NUMBERS[:400], b""),
        joined(b"x 5", b"", b"", b"\0\0", NUMBERS, NUMBERS, b"longer than all tokens are"),
        *(
            joined(b"x 5", b"", initial_symbols, b"\0\0", NUMBERS, NUMBERS, b"")
            for initial_symbols in (
                b"[1,2]", b"{}", b"\xff" * 9, b"[" * 60_000, b"5", b'{"x": 1}',
                b'{"byte_tokens": 5, "prefix": "", "suffix": ""}',
                b'{"byte_tokens": null, "prefix": "", "suffix": ""}',
            )
        ),
    ],
    ids=range(23),
)  # fmt: skip
def test_a_file_with_a_right_hash_and_a_wrong_content(body, source, kept):
    """Whoever can write the folder can write hashes too: what doesn't fit is ignored like any other damage."""
    ours = BPETokenizer.from_pretrained(source)
    (path,) = tables(kept)
    good = path.read_bytes()
    path.write_bytes(signed(body))
    assert BPETokenizer.from_pretrained(source).encode("the cat") == ours.encode("the cat")
    assert path.read_bytes() == good


def test_nothing_is_written_where_nobody_wants_it(source, monkeypatch, tmp_path):
    monkeypatch.setenv("BPELAB_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert cache_dir() is None
    BPETokenizer.from_pretrained(source)
    assert list(tmp_path.iterdir()) == []


def test_where_the_folder_is(monkeypatch, tmp_path):
    monkeypatch.delenv("BPELAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_dir() == str(tmp_path / "bpelab")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_dir() == str(tmp_path / "home" / ".cache" / "bpelab")
    monkeypatch.setenv("BPELAB_CACHE", "~/x")
    assert cache_dir() == str(tmp_path / "home" / "x")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # which is what it does where there is no home
    for variable in ("BPELAB_CACHE", "none"):
        assert cache_dir() is None
        monkeypatch.delenv(variable, raising=False)


def no_room(path, content):
    raise OSError("no room")


def test_a_folder_that_cannot_be_written(source, kept, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path / "file" / "below"))
    ours = BPETokenizer.from_pretrained(source)
    kept.mkdir(mode=0o500)
    monkeypatch.setenv("BPELAB_CACHE", str(kept))
    if os.geteuid() == 0:  # to whom no folder is closed
        for module in (disk_cache, native.tables):
            monkeypatch.setattr(module, "write_atomically", no_room)
    assert BPETokenizer.from_pretrained(source).encode("the cat") == ours.encode("the cat")
    assert tables(kept) == []


def test_only_the_user_can_look_into_the_folder(source, kept):
    BPETokenizer.from_pretrained(source)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700


def test_another_content_is_another_file(source, kept, tmp_path):
    data = json.loads((source / "tokenizer.json").read_text())
    ours = BPETokenizer.from_pretrained(source)
    data["model"]["merges"][:2] = reversed(data["model"]["merges"][:2])
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    other = BPETokenizer.from_pretrained(tmp_path)
    assert len(tables(kept)) == 2
    assert dict(other.model.merges) != dict(ours.model.merges)
    assert dict(BPETokenizer.from_pretrained(tmp_path).model.merges) == dict(other.model.merges)
    assert disk_cache.fingerprint(b"ab", b"c") != disk_cache.fingerprint(b"a", b"bc")


def test_what_the_config_says_is_read_each_time(source, kept, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    assert BPETokenizer.from_pretrained(tmp_path).eos_token is None
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "<|end|>"}')
    assert BPETokenizer.from_pretrained(tmp_path).eos_token == "<|end|>"
    assert len(tables(kept)) == 1


def test_no_pickle_is_ever_read(source, kept, monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("a pickle is read")

    BPETokenizer.from_pretrained(source)
    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    assert BPETokenizer.from_pretrained(source).encode("the cat")


def test_how_many_tokens_it_takes(kept, monkeypatch, large):
    monkeypatch.undo()
    assert disk_cache.SMALLEST == 20_000
    monkeypatch.setenv("BPELAB_CACHE", str(kept))
    disk_cache.store("x", large)
    assert tables(kept) == []


def open_it(folder: str) -> list[int]:
    disk_cache.SMALLEST = TOKENS  # in a process of its own too
    return BPETokenizer.from_pretrained(folder).encode("the cat's hat")


def test_several_processes_at_once(source, kept):
    expected = open_it(str(source))
    tables(kept)[0].unlink()
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.map(open_it, [str(source)] * 4, chunksize=1) == [expected] * 4
    (path,) = tables(kept)
    assert disk_cache.fetch(path.stem) is not None


def test_a_model_that_was_kept_is_loaded_when_something_looks_into_it(kept, monkeypatch):
    """By any number of threads, and not for special tokens that are surely none of its own."""
    monkeypatch.setattr(disk_cache, "SMALLEST", 10)
    model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    disk_cache.store("name", model)

    def fetched() -> BPEModel:
        found = disk_cache.fetch("name")
        assert found is not None and not {"tokens", "merges", "alphabet", "ids"} & set(vars(found[0]))
        return found[0]

    for name in ("tokens", "merges", "alphabet", "ids", "byte_ids", "max_token_bytes"):
        assert getattr(fetched(), name) == getattr(model, name)
    assert fetched() == model and pickle.loads(pickle.dumps(fetched())) == model
    assert copy.copy(fetched()) == model and fetched().is_byte_level
    with pytest.raises(AttributeError, match="nothing"):
        fetched().nothing  # noqa: B018
    shared = fetched()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: shared.tokens[257], range(64))) == {b"low"}
    BPETokenizer(fetched(), special_tokens={"<|end|>": 258}, encoder="native" if native.extension() else "auto")
    for taken in ({"low": 300}, {"<|end|>": 257}):
        with pytest.raises(SpecialTokenError):
            BPETokenizer(fetched(), special_tokens=taken, encoder="native")
