"""SentencePiece's own normalizer as a stage.

A text can be cut between two characters if they are adjacent in no entry of the character map and in no user-defined
symbol, and if the first isn't a space and ends no entry and no symbol: it then appears unchanged in the result. The
text after the cut is normalized with that character in front, which is dropped afterwards, so that spaces are treated
as in the middle of a text. The text after the last such boundary is held back: at least one character, and runs of
spaces.

Chapter: Streaming. Cost: listing a map's entries once per process (about a second for 200,000), then linear.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from operator import add as add_strings
from typing import NamedTuple

from ..texts.stages import Stage, last_boundary
from ..texts.text_buffer import Chain, add, join
from .charsmap import IS_VALUE, CharsMap, read_charsmap
from .sentencepiece import SPACE, SentencePieceNormalizer

MOST_ENTRIES, LONGEST_ENTRY = 1 << 20, 1 << 10


class _State(NamedTuple):
    before: str
    buffered: Chain


class SentencePieceStage(Stage):
    """SentencePiece's normalizer as a stage."""

    start = _State("", None)

    def __init__(self, normalizer: SentencePieceNormalizer) -> None:
        self._first, self._after_first = normalizer, replace(normalizer, add_dummy_prefix=False)
        found = _sides(normalizer.precompiled_charsmap) if normalizer.precompiled_charsmap else _sides_of(())
        symbols = _sides_of(normalizer.symbols)
        self._has_sides = found is not None
        self._pairs, self._ends = found or _sides_of(())
        self._more_pairs, self._more_ends = symbols.pairs, symbols.ends | {" ", SPACE}

    def _safe(self, a: str, b: str) -> bool:
        ends = a in self._ends or a in self._more_ends
        return self._has_sides and not ends and a + b not in self._pairs and a + b not in self._more_pairs

    def _normalized(self, before: str, text: str) -> str:
        return self._after_first(before + text)[len(before) :] if before else self._first(text)

    def push(self, state: _State, text: str) -> tuple[_State, str]:
        offset = last_boundary(state.buffered, text, self._safe)
        if offset is None:
            return _State(state.before, add(state.buffered, text)), ""
        settled = join(add(state.buffered, text[:offset]))
        return _State(settled[-1], add(None, text[offset:])), self._normalized(state.before, settled)

    def finish(self, state: _State) -> str:
        return self._normalized(state.before, join(state.buffered))

    def buffered(self, state: _State) -> str:
        return join(state.buffered)


class _Sides(NamedTuple):
    """Pairs of characters that are adjacent in some string, and the strings' last characters."""

    pairs: frozenset[str]
    ends: frozenset[str]


def _sides_of(strings: Iterable[str]) -> _Sides:
    pairs: set[str] = set()
    ends: set[str] = set()
    for string in strings:
        ends.add(string[-1:])
        pairs.update(map(add_strings, string, string[1:]))
    return _Sides(frozenset(pairs), frozenset(ends))


@lru_cache(8)
def _sides(charsmap: str) -> _Sides | None:
    """Return the `_Sides` of a map's entries; None if it has too many entries."""
    try:
        return _sides_of(_entries(read_charsmap(charsmap)))
    except OverflowError:
        return None


def _entries(charsmap: CharsMap) -> Iterator[str]:
    """Yield the entries of a map.

    Raises OverflowError for more than `MOST_ENTRIES` entries, which a malformed map may have.
    """
    below: dict[int, list[int]] = defaultdict(list)
    for at, unit in enumerate(charsmap.units):
        if not unit & IS_VALUE and unit & 0xFF:
            below[at ^ unit & 0xFF].append(at)
    waiting = [(charsmap.next_node(0), b"")]
    count = 0
    while waiting:
        node, spelled = waiting.pop()
        for at in below[node]:
            longer = spelled + bytes([charsmap.units[at] & 0xFF])
            if charsmap.units[at] & 0x100:
                yield longer.decode("utf-8", "replace")
            waiting.append((charsmap.next_node(at), longer))
        count += 1
        if count > MOST_ENTRIES or len(spelled) > LONGEST_ENTRY:
            raise OverflowError
