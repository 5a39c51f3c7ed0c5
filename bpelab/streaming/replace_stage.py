"""Replace, for a text that arrives in parts: the matches of a table, wherever a search surely begins anew.

What follows such a place is searched with the last character before it in front, for patterns that look behind, and the
matches in that are dropped. Chapter: Streaming. Cost: as Replace's.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..normalizers.replace import replace_all
from ..pretokenizers.matching import Pattern
from .held import Chain, add, joined
from .safe_pairs import Pairs, pairs_of_pattern
from .stages import Occurrences, Stage, Whole, last_place


@dataclass(frozen=True)
class _Behind:
    """A pattern that is shown the character before the text. It has no match that reaches over the text's beginning."""

    pattern: Pattern
    before: str
    kind: Literal["Regex"] = "Regex"

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        first = len(self.before)
        spans = self.pattern.spans(self.before + text)
        return ((start - first, end - first) for start, end in spans if start >= first)


class _State(NamedTuple):
    before: str
    held: Chain


class Matches(Stage):
    """Held back: what follows the last place where a search begins."""

    start = _State("", None)

    def __init__(self, component: Any, pairs: Pairs, limit: Callable[[str], int]) -> None:
        self._component, self._pairs, self._limit = component, pairs, limit

    def _replaced(self, before: str, text: str) -> str:
        behind: Any = _Behind(self._component.pattern, before)
        return replace_all(self._component, behind, text, self._component.content, self._limit(text))

    def push(self, state: _State, text: str) -> tuple[_State, str]:
        place = last_place(state.held, text, self._pairs.restarts_behind)
        if place is None:
            return _State(state.before, add(state.held, text)), ""
        settled = joined(add(state.held, text[:place]))
        return _State(settled[-1], add(None, text[place:])), self._replaced(state.before, settled)

    def finish(self, state: _State) -> str:
        return self._replaced(state.before, joined(state.held))

    def held(self, state: _State) -> str:
        return joined(state.held)


def replacing(component: Any, function: Callable[[str], str], limit: Callable[[str], int]) -> Stage:
    """The stage of a normalizer or decoder Replace; `function` is what it does to a whole text."""
    pattern: Pattern = component.pattern
    if pattern.kind == "String" and pattern.text:
        return Occurrences(function, pattern.text)
    pairs = pairs_of_pattern(pattern)
    return Whole(function) if pairs is None else Matches(component, pairs, limit)
