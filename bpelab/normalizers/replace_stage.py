"""Replace for text that arrives in parts: cut the text where a table proves that the search starts afresh.

The text after such a boundary is searched with one character of context in front, for look-behind; matches in the
context are dropped. Chapter: Streaming. Cost: as for Replace.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..boundaries.dfa_pairs import BoundaryTable, pairs_of_pattern
from ..regex.matchers import Pattern
from ..texts.stages import BufferAllStage, LiteralStage, Stage, last_boundary
from ..texts.text_buffer import Chain, add, join
from .replace import replace_all


@dataclass(frozen=True)
class _Behind:
    """A pattern that sees the character before the text, without matches that reach into it."""

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
    """Replace as a stage. It holds back the text after the last position where a search surely starts afresh."""

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
        settled = join(add(state.buffered, text[:offset]))
        return _State(settled[-1], add(None, text[offset:])), self._replaced(state.before, settled)

    def finish(self, state: _State) -> str:
        return self._replaced(state.before, join(state.buffered))

    def buffered(self, state: _State) -> str:
        return join(state.buffered)


def replacing(component: Any, function: Callable[[str], str], limit: Callable[[str], int]) -> Stage:
    """Return the stage for a Replace (normalizer or decoder); `function` is its effect on a whole text."""
    pattern: Pattern = component.pattern
    if pattern.kind == "String" and pattern.text:
        return LiteralStage(function, pattern.text)
    pairs = pairs_of_pattern(pattern)
    return BufferAllStage(function) if pairs is None else Matches(component, pairs, limit)
