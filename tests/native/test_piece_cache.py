"""The piece cache alone: keys against Python's, rows against a dict, growth, promotion; and scratch memory."""

import ctypes
import random
import subprocess
import sys

import pytest

from bpelab import native
from bpelab.notebook import book_text

from ..conftest import ROOT, amount
from .instrumented import compiler

SHORT, LONG, LONGER = (15, 4), (31, 8), (63, 16)
"""Bytes of a piece and its ids at most, of each table."""
NOISE = bytes(range(1, 65))


def shared_library(folder, *flags: str) -> ctypes.CDLL:
    library = folder / "piece_cache.so"
    source = ROOT / "tests" / "native" / "piece_cache.c"
    command = [
        compiler(),
        "-std=c11",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Wno-unused-function",
        "-Werror",
        "-O2",
        *flags,
    ]
    subprocess.run(
        [*command, "-shared", "-fPIC", f"-I{ROOT}/bpelab/native", str(source), "-o", str(library)], check=True
    )
    c = ctypes.CDLL(str(library))
    c.new_cache.restype = ctypes.c_void_p
    for function in (c.look_up, c.find_numbers, c.distance_from_line, c.line_of, c.row_number):
        function.restype = ctypes.c_int64
    return c


@pytest.fixture(scope="module", params=["as it is", "without SSE2"])
def c(request, tmp_path_factory):
    return shared_library(tmp_path_factory.mktemp("c"), *(["-U__SSE2__"] if "without" in request.param else []))


class Cache:
    """The cache in C, with bytes and lists."""

    def __init__(self, c: ctypes.CDLL) -> None:
        self.c, self.cache, self.out = c, ctypes.c_void_p(c.new_cache()), (ctypes.c_uint32 * 16)()

    def __del__(self) -> None:
        self.c.free_cache(self.cache)

    def given(self, piece: bytes) -> tuple[ctypes.c_void_p, bytes, ctypes.c_int64]:
        return self.cache, piece + NOISE, ctypes.c_int64(len(piece))

    def __setitem__(self, piece: bytes, ids: list[int]) -> None:
        self.c.store(*self.given(piece), (ctypes.c_uint32 * len(ids))(*ids), ctypes.c_int64(len(ids)))

    def get(self, piece: bytes) -> list[int]:
        return self.out[: self.c.look_up(*self.given(piece), self.out)]

    @property
    def rows(self) -> list[int]:
        return [self.c.row_number(self.cache, table) for table in range(3)]


def key(piece: bytes, size: int) -> bytes:
    """The key of `size` bytes of a piece that is shorter."""
    return piece.ljust(size - 1, b"\0") + bytes([len(piece)])


def test_keys(c):
    """Of all sizes, whatever comes after the piece; one too long for the first table has a key that no piece has."""
    rng, short, others = random.Random(1), (ctypes.c_uint64 * 2)(), (ctypes.c_uint64 * 14)()
    for size in [*range(1, 64)] * 20:
        piece = rng.randbytes(size)
        c.keys_of(piece + rng.randbytes(64), ctypes.c_int64(size), short, others)
        bounds = [0, 16, 48, 112]
        for begin, end in zip(bounds, bounds[1:]):
            if size < end - begin:
                assert bytes(others)[begin:end] == key(piece, end - begin)
        assert bytes(short) == key(piece, 16) if size <= 15 else bytes(short)[15] > 15


def ids_of(piece: bytes, most: int) -> list[int]:
    rng = random.Random(piece)
    return [rng.randrange(1 << 28) for _ in range(rng.randint(1, most))]


@pytest.mark.parametrize("largest, most", [SHORT, LONG, LONGER, (90, 20)])
def test_what_is_found_is_what_was_stored(c, largest, most):
    """Against a dict: never other ids, never a piece that has no row, and few are forgotten until a table is full."""
    rng, cache, known = random.Random(largest), Cache(c), {}
    for _ in range(amount(3_000, 200_000)):
        piece = rng.randbytes(rng.randint(1, largest)) if rng.random() < 0.7 or not known else rng.choice([*known][-9:])
        found = cache.get(piece)
        if piece in known:
            assert found in ([], known[piece])
        else:
            assert not found
            known[piece] = ids_of(piece, most)
        if not found:
            cache[piece] = known[piece]
    fitting = [
        p for p, ids in known.items() if any(len(p) <= size and len(ids) <= n for size, n in (SHORT, LONG, LONGER))
    ]
    again = [cache.get(piece) for piece in fitting]
    assert all(found in ([], known[piece]) for found, piece in zip(again, fitting))
    if len(fitting) < cache.rows[0]:
        assert sum(map(bool, again)) > 0.85 * len(fitting)
    assert not any(cache.get(piece) for piece in known.keys() - set(fitting))


@pytest.mark.parametrize("table, size", [(0, 12), (1, 25), (2, 50)])
def test_tables_grow_and_stop_growing(c, table, size):
    """Fourfold when half full, each alone, with all that was in it; and to 14 MB, where they stay."""
    cache, pieces = Cache(c), []
    first = cache.rows
    assert first == [1 << 12, 1 << 10, 1 << 8]
    while cache.rows == first:
        pieces.append(random.Random(len(pieces)).randbytes(size))
        cache[pieces[-1]] = ids_of(pieces[-1], 4)
    assert first[table] // 2 < len(pieces) < 0.6 * first[table]
    assert cache.rows == [rows * 4 if at == table else rows for at, rows in enumerate(first)]
    assert sum(cache.get(piece) == ids_of(piece, 4) for piece in pieces) > 0.9 * len(pieces)
    largest, numbers = [1 << 18, 1 << 16, 1 << 14][table], (cache.cache, ctypes.c_int64(1 << 18), ctypes.c_int64(size))
    c.store_numbers(*numbers)
    assert cache.rows[table] == largest
    assert 0.6 * largest < c.find_numbers(*numbers) <= largest


def test_a_row_is_promoted(c):
    """A piece that is in the adjacent line changes places with one of its own line when it is met again."""
    cache, rng = Cache(c), random.Random(4)
    line = c.line_of(*cache.given(b"first"))
    pieces = [b"first"]
    while len(pieces) < 4:
        piece = rng.randbytes(rng.randint(1, 15))
        if c.line_of(*cache.given(piece)) == line and piece not in pieces:
            pieces.append(piece)
    for piece in pieces:
        cache[piece] = ids_of(piece, 4)
    where = [c.distance_from_line(*cache.given(piece)) for piece in pieces]
    assert where == [0, 1, 2, 3]
    for piece in (pieces[2], pieces[3], pieces[0], pieces[3]):
        assert cache.get(piece) == ids_of(piece, 4)
        assert c.distance_from_line(*cache.given(piece)) < 2
    assert sorted(c.distance_from_line(*cache.given(piece)) for piece in pieces) == [0, 1, 2, 3]
    assert [cache.get(piece) for piece in pieces] == [ids_of(piece, 4) for piece in pieces]


def test_short_pieces_of_many_ids(c):
    """They are in a larger table, where they are looked for only if they are common."""
    cache = Cache(c)
    piece, ids = b"of five", [1, 2, 3, 4, 5]
    for number in range(100):
        cache[number.to_bytes(3, "big")] = [number]
    cache[piece] = ids
    assert cache.get(piece) == []
    for number in range(20):
        cache[b"dense" + bytes([number])] = ids
    assert cache.get(piece) == ids and cache.get(b"dense" + bytes([7])) == ids


def test_scratch_memory_is_kept_up_to_a_limit(c):
    limit = (1 << 22) + 4096
    sizes = [10, 5, 4_000_000, 3, limit, limit + 1, 7, 50_000_000]
    kept = (ctypes.c_int64 * len(sizes))()
    assert c.reserve_and_trim((ctypes.c_int64 * len(sizes))(*sizes), ctypes.c_int64(len(sizes)), kept)
    assert [*kept] == [10, 10, 4_000_000, 4_000_000, limit, 0, 7, 0]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")
@pytest.mark.parametrize("call", ["encode_array(text)", "encode_batch_array([text], threads=1)",
                                  "encode_batch_array([text[:9_000]] * 1_500, threads=1)"])  # fmt: skip
def test_a_long_text_leaves_little_behind(call):
    """After 16 MB the process is larger by the cache and what scratch memory keeps."""
    code = f"""
from bpelab import BPETokenizer
import numpy
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6
t = BPETokenizer.train({book_text()[:20_000]!r}, 500, encoder="native", progress=False)
t.encode_array("low"), t.encode_batch_array(["low"])
text = {book_text()[:20_000]!r} * 800
before = resident()
t.{call}
after = resident()
print(after - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert float(done.stdout) < 14 + 4.5 + 1.5 + 5
