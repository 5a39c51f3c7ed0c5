"""The exercises of *A tokenizer in production*."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from ...notebook.messages import code
from ..exercise import Exercise


def bounded(chunks, limit):
    """Return the text that arrives in `chunks`, an iterator of bytes, or None.

    None for more than `limit` bytes, and for bytes that are not UTF-8. Once there
    are more than `limit` bytes, take no further chunk.
    """
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > limit:
            return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def batch_for(milliseconds, per_second, patience):
    """Return the batch size to use, or None if no size will do.

    `milliseconds` is {batch size: milliseconds that one call takes}, and `per_second`
    messages arrive, evenly spaced. A size will do if

    - a call takes no longer than it takes as many messages to arrive, and
    - the first message of a batch, which waits for the last and then for the call,
      waits at most `patience` milliseconds.

    Of these sizes, return the one that takes least time per message; ties go to the
    smaller one.
    """
    apart = 1000 / per_second
    sizes = [
        size for size, call in milliseconds.items() if call <= size * apart and (size - 1) * apart + call <= patience
    ]
    return min(sizes, key=lambda size: (milliseconds[size] / size, size), default=None)


def load_pinned(read, pinned):
    """Return what a JSON file contains, or None if its SHA-256, in hex, isn't `pinned`.

    `read()` returns the bytes that the file has at that moment. It may be replaced at
    any time, between two calls of `read` too. Use `json` and `sha256`.
    """
    data = read()
    return json.loads(data) if sha256(data).hexdigest() == pinned else None


def private_bytes(objects, touched, page):
    """Return how many bytes of memory a forked worker no longer shares.

    `objects` are Python objects as (address, size). The worker looked at those whose
    indices are in `touched`, and looking at an object writes its reference count, which
    is its first 8 bytes. Memory is copied in whole pages of `page` bytes. A page starts
    at each multiple of `page`, and is copied when it is first written to.
    """
    copied = set()
    for number in touched:
        address, _ = objects[number]
        copied.update((address // page, (address + 7) // page))
    return page * len(copied)


def _bodies() -> Iterator[tuple[list[bytes], int]]:
    yield from (([], 0), ([b""], 0), ([b"a"], 0), ([b"a"], 1), ([b"ab", b"c"], 3), ([b"ab", b"c"], 2))
    yield from (
        ([b"\xc3", b"\xa9"], 2),
        ([b"\xc3", b"\xa9"], 1),
        ([b"\xff"], 4),
        ([b"\xc3"], 4),
        ([b"", b"", b"ab"], 1),
    )
    yield from (([b"abcd"] * 9, 10), ([b"abcd"] * 9, 36), ([b"abcd"] * 9, 35), ([b"abc", b"\xff", b"d"], 9))
    data = "日本の港, naïve 👩\u200d🔬".encode()
    for size in (1, 2, 5):
        chunks = [data[start : start + size] for start in range(0, len(data), size)]
        yield from ((chunks, limit) for limit in (len(data), len(data) - 1, len(data.decode()), 3))


def _count_chunks(answer: Callable[..., Any], chunks: list[bytes], limit: int) -> dict[str, Any] | None:
    taken = 0

    def arriving() -> Iterator[bytes]:
        nonlocal taken
        for chunk in chunks:
            taken += 1
            yield chunk

    result = answer(arriving(), limit)
    return None if result in (None, Ellipsis) and not taken else {"returned": result, "chunks taken": taken}


def _no_more_chunks(expected: dict[str, Any], got: dict[str, Any]) -> bool:
    return expected["returned"] == got["returned"] and got["chunks taken"] <= expected["chunks taken"]


PER_SECOND = (1, 10, 100, 125, 200, 250, 500, 1000)
"""Rates in messages a second that are a whole number of milliseconds apart, so that rounding never matters."""


def _loads() -> Iterator[tuple[dict[int, float], int, float]]:
    flat = {1: 1.0, 2: 1.25, 4: 1.75, 8: 2.75, 16: 4.75, 32: 8.75}
    slow = {1: 8.0, 2: 9.0, 4: 11.0, 8: 15.0}
    yield from (({}, 1, 5.0), ({1: 1.0}, 1000, 1.0), ({1: 2.0}, 1000, 9.0), ({1: 1.0}, 1000, 0.5))
    yield from (({1: 1.0, 2: 2.0}, 500, 9.0), ({1: 1.5, 2: 2.0}, 1000, 3.0), ({1: 1.5, 2: 2.0}, 1000, 2.5))
    for times in flat, slow:
        for per_second in PER_SECOND:
            yield from ((times, per_second, patience) for patience in (1.0, 9.0, 16.75, 50.0, 1000.0))
    yield {1: 1.0, 8: 12.0, 64: 100.0}, 500, 10_000.0  # larger batches that are slower
    yield {4: 3.0, 2: 1.5, 1: 1.0}, 1000, 100.0


def _is_load(milliseconds: dict[int, float], per_second: int, patience: float) -> bool:
    return per_second in PER_SECOND and all(size > 0 and time > 0 for size, time in milliseconds.items())


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()


GOOD, DAMAGED, REPLACED = b'{"merges": ["l o"]}', b'{"merges": ["l o"', b'{"merges": ["o l"]}'


def _files() -> Iterator[tuple[list[bytes], str]]:
    pinned = _hash(GOOD)
    yield from (([GOOD], pinned), ([REPLACED], pinned), ([DAMAGED], pinned), ([b""], pinned), ([b"\xff"], pinned))
    yield from (([GOOD, REPLACED], pinned), ([REPLACED, GOOD], pinned), ([GOOD, DAMAGED], pinned))
    yield [REPLACED], _hash(REPLACED)
    yield [GOOD], pinned[:16] + _hash(REPLACED)[16:]
    yield [GOOD + b"\n"], pinned


def _read_in_turn(answer: Callable[..., Any], versions: list[bytes], pinned: str) -> dict[str, Any] | None:
    reads = 0

    def read() -> bytes:
        nonlocal reads
        reads += 1
        return versions[min(reads, len(versions)) - 1]

    result = answer(read, pinned)
    return None if result in (None, Ellipsis) and not reads else {"returned": result}


def _can_pin(versions: list[bytes], pinned: str) -> bool:
    return bool(versions) and len(pinned) == 64 and (_hash(GOOD)[:16] == pinned[:16] or pinned == _hash(REPLACED))


def _show_reads(name: str, versions: list[bytes], pinned: str) -> str:
    then = "".join(f", then {code(data)}" for data in versions[1:])
    return f"{name}(read, {code(pinned)})  # read() returns {code(versions[0])}{then}"


Objects = list[tuple[int, int]]


def _memory() -> Iterator[tuple[Objects, list[int], int]]:
    near = [(0, 28), (32, 28), (64, 56), (120, 28)]
    yield from (([], [], 64), (near, [], 64), (near, [0], 64), (near, [1], 64), (near, [0, 1], 64), (near, [0, 0], 64))
    yield from (
        (near, [3], 64),
        (near, [0, 1, 2, 3], 64),
        ([(60, 8)], [0], 64),
        ([(56, 8)], [0], 64),
        ([(57, 8)], [0], 64),
    )
    yield from (([(4096, 100_000)], [0], 4096), ([(4092, 28), (8000, 4)], [0], 4096))
    row = [(96 + 56 * number, 56) for number in range(300)]
    yield from ((row, list(range(0, 300, step)), page) for step in (1, 7, 100) for page in (64, 4096))


def _is_memory(objects: Objects, touched: list[int], page: int) -> bool:
    return page >= 8 and all(number < len(objects) for number in touched)


EXERCISES = [
    Exercise(
        "production.1",
        "A body without end",
        bounded,
        _bodies,
        (
            "Count bytes and not characters, and count before you decode.",
            "Add each chunk to what has come so far, and return None as soon as that is more than `limit`.",
            "Decode once, at the end: a character may begin in one chunk and end in the next.",
        ),
        level="easy",
        next_step="Give a chunk a limit of time as well: a client may send one byte an hour.",
        call=_count_chunks,
        equal=_no_more_chunks,
        format_call=lambda name, chunks, limit: f"{name}(iter({code(chunks)}), {limit})",
        is_valid=lambda chunks, limit: limit >= 0,
    ),
    Exercise(
        "production.2",
        "Batch size against latency",
        batch_for,
        _loads,
        (
            "Messages are 1000 / per_second milliseconds apart. How far apart are the first and the last of a batch?",
            "The first message of n waits n - 1 of these intervals, and then for the call.",
            "While a call runs, the next batch arrives: that takes n intervals, and the call may take no longer.",
        ),
        level="medium",
        next_step="What if messages come in bursts? Draw their times at random, and measure the wait.",
        is_valid=_is_load,
    ),
    Exercise(
        "production.3",
        "The file that was checked",
        load_pinned,
        _files,
        (
            "What you check and what you load must be the same bytes. How often may `read` be called?",
            "Call it once, keep the bytes, compare the whole hash, and only then let `json.loads` see them.",
        ),
        level="easy",
        next_step="Where would you keep the hash, so that replacing the file is not enough to replace it too?",
        call=_read_in_turn,
        format_call=_show_reads,
        is_valid=_can_pin,
    ),
    Exercise(
        "production.4",
        "The leak that nobody wrote",
        private_bytes,
        _memory,
        (
            "The page of an address is address // page. Collect the pages that are written to in a set.",
            "A reference count may begin on one page and end on the next. Its last byte is at address + 7.",
        ),
        level="medium",
        next_step="Why does `gc.freeze()` before a fork help, and why doesn't it help with this?",
        is_valid=_is_memory,
    ),
]
