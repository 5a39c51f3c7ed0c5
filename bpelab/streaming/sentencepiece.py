"""SentencePiece's own normalizer as a stage.

A text can be cut between two characters that stand side by side in no entry of the character map and in no symbol of
the user's, where the first of them is the end of no entry, no space and no symbol: it is then in the result as it is.
What follows is normalized with that character in front, which is dropped again, so that spaces are what they are in the
middle of a text. Held back: what follows the last such place, so at least one character, and a run of spaces.

Chapter: Streaming. Cost: the entries of the map are listed once, in some 0.1 s; then linear.
"""

from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ..normalizers.precompiled import IS_VALUE, CharsMap, read_charsmap
from ..normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from .held import Chain, add, joined
from .stages import Stage, last_place

MOST_ENTRIES = 1 << 20


class _State(NamedTuple):
    before: str
    held: Chain


class SentencePieceStage(Stage):
    """`normalizer` in parts."""

    start = _State("", None)

    def __init__(self, normalizer: SentencePieceNormalizer) -> None:
        self._first, self._later = normalizer, replace(normalizer, add_dummy_prefix=False)
        entries = _entries(normalizer.precompiled_charsmap) if normalizer.precompiled_charsmap else ()
        self._pairs: frozenset[str] | None = None
        if entries is not None:
            strings = (*entries, *normalizer.symbols)
            self._pairs = frozenset(string[at : at + 2] for string in strings for at in range(len(string) - 1))
            self._ends = frozenset([" ", SPACE, *(string[-1:] for string in strings)])

    def _safe(self, a: str, b: str) -> bool:
        return self._pairs is not None and a not in self._ends and a + b not in self._pairs

    def _normalized(self, before: str, text: str) -> str:
        return self._later(before + text)[len(before) :] if before else self._first(text)

    def push(self, state: _State, text: str) -> tuple[_State, str]:
        place = last_place(state.held, text, self._safe)
        if place is None:
            return _State(state.before, add(state.held, text)), ""
        settled = joined(add(state.held, text[:place]))
        return _State(settled[-1], add(None, text[place:])), self._normalized(state.before, settled)

    def finish(self, state: _State) -> str:
        return self._normalized(state.before, joined(state.held))

    def held(self, state: _State) -> str:
        return joined(state.held)


@lru_cache(8)
def _entries(charsmap: str) -> tuple[str, ...] | None:
    """What the entries of a map begin with; None where there are too many of them."""
    found = read_charsmap(charsmap)
    below: dict[int, list[int]] = defaultdict(list)
    for at, unit in enumerate(found.units):
        if not unit & IS_VALUE and unit & 0xFF:
            below[at ^ unit & 0xFF].append(at)
    entries: list[str] = []
    waiting = [(_next(found, 0), b"")]
    while waiting:
        node, spelled = waiting.pop()
        for at in below[node]:
            longer = spelled + bytes([found.units[at] & 0xFF])
            if found.units[at] & 0x100:
                entries.append(longer.decode("utf-8", "replace"))
            waiting.append((_next(found, at), longer))
        if len(entries) + len(waiting) > MOST_ENTRIES:
            return None
    return tuple(entries)


def _next(found: CharsMap, at: int) -> int:
    return found._next(at)
