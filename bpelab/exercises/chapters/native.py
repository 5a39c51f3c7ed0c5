"""The exercises of *Native code*."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from ..._support.install import install_command
from ...errors import MissingDependencyError
from ...model.bpe import BPEModel
from ...notebook.messages import code
from ...regex.dfa import dfa_for
from ..exercise import Exercise
from ..fixtures import BYTE_RANKS, models_and_all_pieces, models_and_pieces

Rows = list[list[tuple[int, bool]]]
START = 1
"""The state in which a search starts."""


def with_commits(rows, start):
    """Return the table with commits: rows of (next, flags), flags a string.

    Flags are "C" if the next piece has started (next is the state after its
    first character), else "M" if a match ends here, with "S" after it if
    the search ends (next is then 0).
    """
    made = []
    for row in rows:
        new = []
        for kind, (following, matched) in enumerate(row):
            begun = rows[start][kind][0]
            if following == 0 and matched and begun:
                new.append((begun, "C"))
            else:
                new.append((following, "M" * matched + "S" * (following == 0)))
        made.append(new)
    return made


def look_up(rows, home, key, find):
    """Return the value of `key`, from the rows of the array `rows` or from `find`.

    A missing key is written into `rows`.
    """
    for row in range(home, home + 4):
        if rows[row, 0] == key:
            return int(rows[row, 1])
    free = [row for row in range(home, home + 4) if rows[row, 0] == 0]
    row = free[0] if free else home + key % 4
    rows[row] = key, find(key)
    return int(rows[row, 1])


def offsets_to_cut(tokens, piece):
    """Return the offsets, 1 to len(piece) - 1, that no token can span.

    With the tokens {b"ab", b"c"} and the piece b"cab" it is [1].
    """
    longest = max(map(len, tokens))
    crossed = set()
    for start in range(len(piece)):
        for end in range(start + 2, min(start + longest, len(piece)) + 1):
            if piece[start:end] in tokens:
                crossed.update(range(start + 1, end))
    return [position for position in range(1, len(piece)) if position not in crossed]


def shares(sizes, threads):
    """Return, for each of `threads` threads, the numbers of its documents.

    `sizes` are the documents' bytes.
    """
    parts = [[] for _ in range(threads)]
    taken = [0] * threads
    for index, size in enumerate(sizes):
        least = taken.index(min(taken))
        parts[least].append(index)
        taken[least] += size
    return parts


def _automata() -> Iterator[tuple[Rows, int]]:
    for pattern in ("a|[^a]", "a+|[^a]+", "[a-z]+|[0-9]|[^a-z0-9]+", " ?[a-z]+|[^a-z]", "ab|[^b]|b", "[a-z]+"):
        dfa = dfa_for(pattern, "rust")
        steps = [(value >> 1, bool(value & 1)) for value in dfa.trans]
        yield [steps[at : at + dfa.width] for at in range(0, len(steps), dfa.width)], START


def _series() -> Iterator[tuple[int, list[int]]]:
    for keys in ([1], [1, 1], [1, 2, 1], [1, 3, 5, 7, 1], [1, 3, 5, 7, 9, 1, 9, 5], [1, 5, 9, 13, 17, 1, 5]):
        yield 8, keys
    random = Random(11)
    for size, most in ((4, 9), (16, 40), (64, 200)):
        yield size, [random.randint(1, most) for _ in range(300)]


def _all_keys(answer: Callable[..., Any], size: int, keys: list[int]) -> dict[str, Any] | None:
    try:
        import numpy as np
    except ImportError as error:
        raise MissingDependencyError(f"this exercise needs numpy: {install_command('chapters')}") from error
    rows, asked = np.zeros((size, 2), np.int64), list[int]()

    def find(key: int) -> int:
        asked.append(key)
        return 1000 + key

    values = [answer(rows, 4 * (key % (size // 4)), key, find) for key in keys]
    if all(value is None or value is Ellipsis for value in values):
        return None
    return {"values": values, "asked for": asked, "rows": rows.tolist()}


def _show_series(name: str, size: int, keys: list[int]) -> str:
    calls = f"[{name}(rows, 4 * (key % {size // 4}), key, find) for key in {code(keys)}]"
    return f"rows = np.zeros(({size}, 2), int); {calls}"


def _can_look_up(size: int, keys: list[int]) -> bool:
    return size >= 4 and size % 4 == 0 and bool(keys) and min(keys) > 0


def _tokens_and_pieces() -> Iterator[tuple[set[bytes], bytes]]:
    for model, piece in (*models_and_all_pieces(b"ab", 4), *models_and_pieces()):
        if piece:
            yield _tokens(model), piece


def _tokens(model: BPEModel) -> set[bytes]:
    """Return a model's tokens, except most single bytes: there are many, and none crosses a boundary."""
    return {b"a"} | {token for token in model.tokens.values() if token not in BYTE_RANKS}


def _documents() -> Iterator[tuple[list[int], int]]:
    yield from (([], 1), ([], 3), ([5], 1), ([5], 2), ([3, 3], 2), ([4, 1, 1, 1, 1], 2), ([1, 1, 1, 1, 8], 2))
    yield from (([9, 1, 9, 1, 9, 1], 2), ([9, 9, 9, 1, 1, 1], 2), ([1] * 12, 5), ([10, 1, 1, 10, 1, 1, 10, 1, 1], 3))
    random = Random(11)
    for threads in (2, 3, 8):
        yield [random.randint(1, 2000) for _ in range(60)], threads
        yield sorted(random.randint(1, 2000) for _ in range(60)), threads


def _unfair(got: Any, sizes: list[int], threads: int) -> str | None:
    if not (isinstance(got, list) and all(isinstance(part, list) for part in got)):
        return "the answer is a list of lists, one for each thread"
    if len(got) != threads:
        return f"there must be {threads} shares, not {len(got)}"
    numbers = [index for part in got for index in part]
    if not all(type(index) is int for index in numbers) or sorted(numbers) != list(range(len(sizes))):
        return f"each of the documents 0 to {len(sizes) - 1} must be in one share"
    loads = [sum(sizes[index] for index in part) for part in got]
    if max(loads) - min(loads) > max(sizes, default=0):
        return f"the shares have {loads} bytes, and the largest document has {max(sizes)}"
    return None


def _can_share(sizes: list[int], threads: int) -> bool:
    return threads > 0 and all(size > 0 for size in sizes)


EXERCISES = [
    Exercise(
        "native.1",
        "Begun at once",
        with_commits,
        _automata,
        (
            "rows[start][kind][0] is the state after a character of that kind that begins a piece; 0 if none can.",
            'For an entry (0, True), if that state is not 0, the new entry is (that state, "C").',
            'All others keep their next state, with "M" if matched and "S" if next is 0; both may be there, as "MS".',
        ),
        level="hard",
        next_step="`scan.h` reads such a table, at several positions of a text in turn.",
        is_valid=lambda rows, start: False,
    ),
    Exercise(
        "native.2",
        "Four ways",
        look_up,
        _series,
        (
            "Look at rows[home, 0] to rows[home + 3, 0] first. If none of them is the key, look for one that is 0.",
            "Call `find` once, and only for a key that isn't there.",
        ),
        level="medium",
        next_step="Which share of the keys is found in the first row? Try the book's words.",
        call=_all_keys,
        is_valid=_can_look_up,
        format_call=_show_series,
    ),
    Exercise(
        "native.3",
        "Nothing spans it",
        offsets_to_cut,
        _tokens_and_pieces,
        (
            "For each start and end: if piece[start:end] is a token, the offsets start + 1 to end - 1 are spanned.",
            "The answer is all offsets that were never spanned. No end needs to be further than the longest token.",
        ),
        level="medium",
        next_step="`cuts.h` may miss some of these offsets and never invents one. Why is that safe?",
        is_valid=lambda tokens, piece: bool(tokens) and bool(piece),
    ),
    Exercise(
        "native.4",
        "Fair shares",
        shares,
        _documents,
        (
            "Equal numbers of documents are not equal work. Keep the bytes that each share has so far.",
            "Give each document to the share that has least. What a share gets last may be the largest document, and "
            "before that no share had less.",
        ),
        level="medium",
        next_step="If sizes aren't known beforehand, threads can take the next document whenever they are free.",
        problem=_unfair,
        is_valid=_can_share,
    ),
]
