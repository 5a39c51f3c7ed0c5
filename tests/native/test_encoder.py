"""Compiled encoding against the pure-Python encoders and the Python pre-tokenizer: the same ids, always."""

import os
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.compiled import make_engine
from bpelab.compiled.backtracking import by_backtracking
from bpelab.compiled.building import model_tables
from bpelab.compiled.cache import WINDOW
from bpelab.compiled.engine import Engine
from bpelab.compiled.jit import PAD
from bpelab.compiled.lowest_first import by_scanning
from bpelab.compiled.merging import merge_on_heap
from bpelab.compiled.parts import SCANNED, Work
from bpelab.compiled.scan import CHUNK, ScanTable, scan
from bpelab.compiled.sweeping import by_sweeping
from bpelab.encoders import HeapEncoder
from bpelab.errors import PatternError
from bpelab.install import install_command
from bpelab.notebook import book_text
from bpelab.pretokenizers.dfa import NotRegular, dfa_for
from bpelab.pretokenizers.patterns import PATTERNS
from bpelab.pretokenizers.split import Split

from ..conftest import SOAK, amount, encoding

pytestmark = pytest.mark.slow  # numba's kernels are compiled: half a minute

LETTERS = [
    *"aBé日\u0301 \n\r1२'s-!\u3000😀ſ_\tKǅ\u200d٠ა<>|=.,", "  ", "\r\n", "'ll", "the ", "ing", "\n\n", "    ", "12345",
]  # fmt: skip


def buffer(text: bytes) -> np.ndarray:
    return np.frombuffer(text + bytes(PAD), np.uint8)


def cut(text: str, table: ScanTable) -> list[str] | None:
    data, ends, begin, pieces = text.encode(), np.empty(CHUNK + 8, np.int64), 0, []
    while begin < len(data):
        count = scan(buffer(data), begin, len(data), 1, table, ends)
        if count < 0:
            return None
        for end in ends[:count].tolist():
            pieces.append(data[begin:end].decode())
            begin = end
    return pieces


def test_named_patterns_are_cut_as_by_split():
    rng = random.Random(1)
    for name, named in PATTERNS.items():
        table, split = ScanTable.of(dfa_for(named.regex)), Split(name)
        assert table is not None
        for _ in range(amount(300, 20_000)):
            text = "".join(rng.choices(LETTERS, k=rng.randint(0, 40)))
            assert cut(text, table) == split.split(text), (name, text)
        long = book_text()[:40_000]
        assert cut(long, table) == split.split(long)


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    kind = rng.randrange(7 if depth < 3 else 2)
    if kind == 0:
        return rng.choice(["a", "b", "c", "é", "[ab]", "[^a]", r"\s", r"\p{L}", "日"])
    if kind == 1:
        return f"(?:{random_pattern(rng, 3)})" + rng.choice(["*", "+", "?", "{1,2}", "*?", "++", ""])
    if kind == 2:
        return "(?:" + random_pattern(rng, depth + 1) + ")" + rng.choice(["*", "+", "?", ""])
    if kind == 3:
        return random_pattern(rng, depth + 1) + rng.choice(["(?=a)", "(?!b)", "$", ""])
    join = "|" if kind == 4 else ""
    return join.join(random_pattern(rng, depth + 1) for _ in range(rng.randint(2, 3)))


def settled(text: str, table: ScanTable, stop: int) -> list[str]:
    """The pieces that are certain when only the first `stop` characters are looked at."""
    data, end, begin, pieces = text.encode(), len(text[:stop].encode()), 0, []
    ends = np.empty(CHUNK + 8, np.int64)
    while (count := scan(buffer(data), begin, end, 0, table, ends)) > 0:
        for place in ends[:count].tolist():
            pieces.append(data[begin:place].decode())
            begin = place
    return pieces


def test_what_follows_changes_no_piece_that_is_certain():
    rng, certain, all_pieces = random.Random(7), 0, 0
    patterns = [named.regex for named in PATTERNS.values()] + [random_pattern(rng) for _ in range(amount(60, 2_000))]
    for pattern in patterns:
        try:
            table = ScanTable.of(dfa_for(pattern))
        except (NotRegular, PatternError):
            continue
        for _ in range(amount(20, 100)):
            text = "".join(rng.choices(LETTERS, k=rng.randint(1, 40)))
            pieces = None if table is None else cut(text, table)
            if pieces is not None:
                found = settled(text, table, rng.randint(0, len(text)))
                assert found == pieces[: len(found)], (pattern, text)
                certain, all_pieces = certain + len(found), all_pieces + len(pieces)
    assert all_pieces / 5 < certain < all_pieces


def test_random_patterns_are_cut_as_by_split():
    """Those with gaps, look-ahead and laziness too; those that the table refuses are left to Python."""
    rng, tried = random.Random(2), 0
    while tried < amount(150, 5_000):
        pattern = random_pattern(rng)
        try:
            table = ScanTable.of(dfa_for(pattern))
        except NotRegular:
            continue
        if table is None:
            continue
        tried += 1
        split = Split(pattern)
        for _ in range(20):
            text = "".join(rng.choices("aabbcé日 \n", k=rng.randint(0, 30)))
            assert cut(text, table) == split.split(text), (pattern, text)


def test_a_scan_that_reads_in_vain_is_given_up():
    """Quadratic for a plain scan: Python's notes about failures take over, and the ids are the same."""
    text = "a" * 20_000
    assert cut(text, ScanTable.of(dfa_for("a*b|a"))) is None
    tokenizer = BPETokenizer(BPEModel.from_merges([(b"a", b"a")]), pattern="a*b|a")
    assert tokenizer.with_options(encoder="compiled").encode(text) == tokenizer.encode(text)


def random_model(rng: random.Random) -> tuple[BPEModel, list[int]]:
    """Trained-looking merges, or any table of ranks: also ones where a token ranks before its parts.

    Of letters, or of the bytes of other characters, where pieces are cut into parts.
    """
    alphabet = rng.sample(rng.choice([b"abcdefgh", "aé日語😀".encode()]), rng.randint(1, 5))
    if rng.random() < 0.5:
        tokens, merges, seen = [bytes([byte]) for byte in alphabet], [], set()
        for _ in range(rng.randint(0, 60)):
            pair = rng.choice(tokens), rng.choice(tokens)
            if pair not in seen and len(b"".join(pair)) <= 40:
                seen.add(pair)
                merges.append(pair)
                tokens.append(b"".join(pair))
        return BPEModel.from_merges(merges, take_whole=rng.random() < 0.5), alphabet
    words = {bytes(rng.choices(alphabet, k=rng.randint(2, rng.choice([4, 8, 24])))) for _ in range(rng.randint(0, 60))}
    order = rng.sample(sorted(words), len(words))
    if rng.random() < 0.5:
        order.sort(key=len)
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + place for place, word in enumerate(order)}
    return BPEModel.from_ranks(ranks, take_whole=rng.random() < 0.7), alphabet


@pytest.mark.slow
def test_every_way_to_merge_gives_the_ids_of_the_heap():
    rng, exact, cut, early, work = random.Random(3), 0, 0, 0, Work.of()
    models = amount(120, 10_000)
    for _ in range(models):
        model, alphabet = random_model(rng)
        tables, slow, engine = model_tables(model), HeapEncoder(model), Engine(model, None)
        exact += len(tables.trie) > 0
        cut += len(tables.crossings) > 0
        early += tables.same_made
        pieces = []
        for _ in range(30):
            size = rng.choice([1, 2, 5, 8, 15, 16, 17, 24, 25, 31, 32, 33, 60, 120])
            piece = bytes(rng.choices([*alphabet, 200], weights=[9] * len(alphabet) + [1], k=size))
            pieces.append(piece)
            expected = slow.encode_piece(piece)
            assert engine.pieces([piece]).tolist() == expected, (piece, model)
            if model.whole(piece) is not None:
                continue
            out = np.empty(size + 8, np.uint32)
            units = np.append(tables.byte_tokens[list(piece)], np.zeros(8, np.uint32))
            ways = [(merge_on_heap, (units.copy(), 0, size, tables)), (by_sweeping, (units, 0, size, tables))]
            if 2 <= size <= SCANNED:
                ways.append((by_scanning, (buffer(piece), 0, size, out, 0, tables, work.tokens, work.ranks)))
            if len(tables.trie):
                ways.append((by_backtracking, (buffer(piece), 0, size, out, 0, tables)))
            for way, arguments in ways:
                count = way(*arguments)
                found = arguments[0] if way in (merge_on_heap, by_sweeping) else out
                assert count < 0 or tables.ids[found[:count]].tolist() == expected, (piece, model)
        again = rng.choices(pieces, k=60)  # from the cache now
        assert engine.pieces(again).tolist() == [token for piece in again for token in slow.encode_piece(piece)]
    assert all(models / 4 < number < models for number in (exact, cut, early))


def test_halves_are_those_that_python_finds():
    rng = random.Random(4)
    for _ in range(amount(100, 5_000)):
        model, _ = random_model(rng)
        tables, recovered = model_tables(model), model.recovered
        assert (len(tables.trie) > 0) == recovered.exact
        if recovered.exact:
            found = {
                int(tables.ids[token]): (int(tables.ids[left]), int(tables.ids[right]))
                for token, (left, right) in enumerate(tables.halves)
                if (left, right) != (token, token)
            }
            assert found == dict(recovered.splits)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_real_vocabularies(name):
    tokenizer = BPETokenizer.from_tiktoken(encoding(name))
    compiled = tokenizer.with_options(encoder="compiled")
    rng = random.Random(name)
    texts = [book_text()[:100_000]] + [
        "".join(rng.choices(LETTERS, k=rng.choice([1, 3, 10, 60, 400]))) for _ in range(amount(300, 20_000))
    ]
    for text in texts:
        assert compiled.encode(text) == tokenizer.encode(text), text
    for text in ("a" * 30_000, " " * 30_000, "-" * 30_000, "ab" * 9_000, "日本" * 9_000, "\n" * 9_000 + "x"):
        assert compiled.encode(text) == tokenizer.encode(text)


def test_parts_around_the_engine():
    """Normalizers, added tokens, other pre-tokenizers, models that Python alone encodes."""
    text = book_text()[:3_000] + "<|end|>e\u0301 <|end|>" + "x" * 100
    for options in (
        {"normalizer": "NFC"},
        {"pattern": None},
        {"pattern": r"(?<=a)b|\w+"},
        {"pattern": "gpt2", "special_tokens": ["<|end|>", "<|en"]},
    ):
        tokenizer = BPETokenizer.train(book_text()[:20_000], 500, **{"special_tokens": ["<|end|>"], **options})
        compiled = tokenizer.with_options(encoder="compiled")
        for allowed in ((), "all"):
            expected = tokenizer.encode(text, allowed_special=allowed)
            assert compiled.encode(text, allowed_special=allowed) == expected
            for one in (tokenizer, compiled):
                array = one.encode_array(text, allowed_special=allowed)
                assert array.dtype == np.uint32 and array.tolist() == expected
        assert compiled.encode("") == compiled.encode_array("").tolist() == []
        assert pickle.loads(pickle.dumps(compiled)).encode(text) == tokenizer.encode(text)
        assert compiled.encode("\ud800a") == tokenizer.encode("\ud800a")


def test_many_threads_on_one_engine():
    tokenizer = BPETokenizer.train(book_text()[:50_000], 800)
    compiled = tokenizer.with_options(encoder="compiled")
    rng = random.Random(6)
    texts = [book_text()[start : start + rng.randint(0, 3_000)] for start in rng.sample(range(200_000), 200)]
    expected = list(map(tokenizer.encode, texts))
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(compiled.encode, texts * 3)) == expected * 3
    assert len(compiled._pipeline._engine._free) <= 16


def test_memory_stays_flat():
    """Pieces that never come again don't make the cache larger than it may be."""
    engine = make_engine(BPEModel.from_merges([(b"a", b"b")]), None)
    for start in range(0, amount(300_000, 2_000_000), 50_000):
        engine.pieces([b"%x-%d" % (number, number) for number in range(start, start + 50_000)])
    (handle,) = engine._free
    cache = handle.parts.cache
    assert cache.narrow.nbytes + cache.wide.nbytes <= (1 << 19) * 32 + (1 << 17) * 64
    assert cache.counts[0] <= len(cache.narrow) and len(cache.narrow) % WINDOW == 0


def run(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, check=False
    )


ENCODE = """
from bpelab import BPETokenizer
t = BPETokenizer.train("low lower lowest " * 9, 262)
for pattern in None, "gpt2":  # where no pattern cuts, other kernels are called first
    t = t.with_options(pattern=pattern)
    assert t.with_options(encoder="compiled").encode("lowest newer " * 9) == t.encode("lowest newer " * 9)
print(True)
"""


@pytest.mark.slow
def test_kernels_are_kept_and_broken_files_are_replaced(tmp_path):
    cache = str(tmp_path / "cache")
    processes = [
        threading.Thread(target=run, args=(ENCODE,), kwargs={"BPELAB_CACHE": cache}) for _ in range(amount(1, 2))
    ]
    for process in processes:  # in the soak two that compile at once
        process.start()
    for process in processes:
        process.join()
    files = [file for file in (tmp_path / "cache").rglob("*.nbc") if file.name.startswith(("tables.fill", "calls."))]
    assert len(files) >= 4
    for number, file in enumerate(files):
        file.write_bytes(b"" if number % 2 else b"not a pickle")
    done = run(ENCODE, BPELAB_CACHE=cache)
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert all(len(file.read_bytes()) > 1_000 for file in files)


@pytest.mark.skipif(not SOAK, reason="compiles everything once more; runs in the soak")
def test_without_a_place_to_keep_kernels(tmp_path):
    (tmp_path / "file").write_text("")
    done = run(ENCODE, BPELAB_CACHE=str(tmp_path / "file"))
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_numba_is_imported_only_when_it_pays(tmp_path):
    code = """
import sys
from bpelab import BPETokenizer
t = BPETokenizer.train("low lower lowest " * 9, 262)
t.encode("lowest newer " * 9000)
t.encode_array("lowest newer " * 9000)
print("numba" in sys.modules)
"""
    assert run(code, BPELAB_CACHE=str(tmp_path)).stdout == "False\n"


def test_without_numba(tmp_path):
    code = """
import sys
sys.modules["numba"] = None
from bpelab import BPETokenizer, MissingDependencyError
t = BPETokenizer.train("low lower lowest " * 9, 262)
print(t.encode_array("low").tolist() == t.encode("low"))
try:
    t.with_options(encoder="compiled")
except MissingDependencyError as error:
    print(error)
"""
    done = run(code, BPELAB_CACHE=str(tmp_path))
    assert done.stdout == f"True\ncompiled encoding needs numba: {install_command('fast')}\n"
