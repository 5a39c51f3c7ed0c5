"""SentencePiece's own normalizer as a stage.

A text can be cut between two characters side by side in no entry of the character map and in no symbol of
the user's, where the first of them is the end of no entry, no space and no symbol: it is then in the result as it is.
What follows is normalized with that character in front, which is dropped again, so that spaces are what they are in the
middle of a text. Held back: the text after the last such boundary, so at least one character, and a run of spaces.

Chapter: Streaming. Cost: the entries of a map are listed once in a process (about a second for 200,000);
then linear.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from operator import add as add_strings
from typing import NamedTuple

from ..texts.stages import Stage, last_boundary
from ..texts.text_buffer import Chain, add, joined
from .charsmap import IS_VALUE, CharsMap, read_charsmap
from .sentencepiece import SPACE, SentencePieceNormalizer

MOST_ENTRIES, LONGEST_ENTRY = 1 << 20, 1 << 10


class _State(NamedTuple):
    before: str
    buffered: Chain


class SentencePieceStage(Stage):
    """`normalizer` in parts."""

    start = _State("", None)

    def __init__(self, normalizer: SentencePieceNormalizer) -> None:
        self._first, self._later = normalizer, replace(normalizer, add_dummy_prefix=False)
        found = _sides(normalizer.precompiled_charsmap) if normalizer.precompiled_charsmap else _sides_of(())
        symbols = _sides_of(normalizer.symbols)
        self._known = found is not None
        self._pairs, self._ends = found or _sides_of(())
        self._more_pairs, self._more_ends = symbols.pairs, symbols.ends | {" ", SPACE}

    def _safe(self, a: str, b: str) -> bool:
        ends = a in self._ends or a in self._more_ends
        return self._known and not ends and a + b not in self._pairs and a + b not in self._more_pairs

    def _normalized(self, before: str, text: str) -> str:
        return self._later(before + text)[len(before) :] if before else self._first(text)

    def push(self, state: _State, text: str) -> tuple[_State, str]:
        offset = last_boundary(state.buffered, text, self._safe)
        if offset is None:
            return _State(state.before, add(state.buffered, text)), ""
        settled = joined(add(state.buffered, text[:offset]))
        return _State(settled[-1], add(None, text[offset:])), self._normalized(state.before, settled)

    def finish(self, state: _State) -> str:
        return self._normalized(state.before, joined(state.buffered))

    def buffered(self, state: _State) -> str:
        return joined(state.buffered)


class _Sides(NamedTuple):
    """Pairs of characters that are neighbours in some of the strings, and the last characters of them."""

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
    """Those of the entries of a map; None where there are too many of them."""
    try:
        return _sides_of(_entries(read_charsmap(charsmap)))
    except OverflowError:
        return None


def _entries(found: CharsMap) -> Iterator[str]:
    """Yield the entries of a map.

    Raises OverflowError for a map that has more than `MOST_ENTRIES`, as a broken one may.
    """
    below: dict[int, list[int]] = defaultdict(list)
    for at, unit in enumerate(found.units):
        if not unit & IS_VALUE and unit & 0xFF:
            below[at ^ unit & 0xFF].append(at)
    waiting = [(found.next_node(0), b"")]
    count = 0
    while waiting:
        node, spelled = waiting.pop()
        for at in below[node]:
            longer = spelled + bytes([found.units[at] & 0xFF])
            if found.units[at] & 0x100:
                yield longer.decode("utf-8", "replace")
            waiting.append((found.next_node(at), longer))
        count += 1
        if count > MOST_ENTRIES or len(spelled) > LONGEST_ENTRY:
            raise OverflowError
