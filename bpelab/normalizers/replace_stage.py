"""Replace, for a text that arrives in parts: the matches of a table, wherever a search surely begins anew.

What follows such a boundary is searched with the last character before it in front, for look-behind, and the
matches in that are dropped. Chapter: Streaming. Cost: as Replace's.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..boundaries.dfa_pairs import BoundaryTable, pairs_of_pattern
from ..regex.matchers import Pattern
from ..texts.stages import BufferAllStage, LiteralStage, Stage, last_boundary
from ..texts.text_buffer import Chain, add, joined
from .replace import replace_all


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
    buffered: Chain


class Matches(Stage):
    """Held back: the text after the last position where a search begins."""

    start = _State("", None)

    def __init__(self, component: Any, pairs: BoundaryTable, limit: Callable[[str], int]) -> None:
        self._component, self._pairs, self._limit = component, pairs, limit

    def _replaced(self, before: str, text: str) -> str:
        after: Any = _Behind(self._component.pattern, before)
        return replace_all(self._component, after, text, self._component.content, self._limit(text))

    def push(self, state: _State, text: str) -> tuple[_State, str]:
        offset = last_boundary(state.buffered, text, self._pairs.restarts_with_context)
        if offset is None:
            return _State(state.before, add(state.buffered, text)), ""
        settled = joined(add(state.buffered, text[:offset]))
        return _State(settled[-1], add(None, text[offset:])), self._replaced(state.before, settled)

    def finish(self, state: _State) -> str:
        return self._replaced(state.before, joined(state.buffered))

    def buffered(self, state: _State) -> str:
        return joined(state.buffered)


def replacing(component: Any, function: Callable[[str], str], limit: Callable[[str], int]) -> Stage:
    """Return the stage of a normalizer or decoder Replace; `function` is what it does to a whole text."""
    pattern: Pattern = component.pattern
    if pattern.kind == "String" and pattern.text:
        return LiteralStage(function, pattern.text)
    pairs = pairs_of_pattern(pattern)
    return BufferAllStage(function) if pairs is None else Matches(component, pairs, limit)
