"""Stages: functions of a text that arrives in parts.

A stage is immutable. It maps (state, text) to (state, settled text), and its states are immutable too, so a step that
fails halfway leaves everything as it was. Joined, a stage's results for the parts equal its function's result for the
whole. Chapter: Streaming. Cost: linear, however small the parts are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from .text_buffer import Chain, add, join

State = Any
SafePair = Callable[[str, str], bool]
"""Whether a text may be cut between two characters, in any context."""
REMEMBERED = 1 << 14
"""The cache size of such a function: the most pairs, or characters, with a cached answer."""


class Stage(ABC):
    """A function of a text that arrives in parts. Its states are opaque."""

    start: State = None
    """The state before the first part."""

    @abstractmethod
    def push(self, state: State, text: str) -> tuple[State, str]:
        """Return the state after `text`, and the text that is now settled."""

    @abstractmethod
    def finish(self, state: State) -> str:
        """Return the remaining text, at the end."""

    @abstractmethod
    def buffered(self, state: State) -> str:
        """Return the text that is held back."""


class CharStage(Stage):
    """A stage for a function that looks at one character at a time. Nothing is held back."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self._function = function

    def push(self, state: State, text: str) -> tuple[State, str]:
        return state, self._function(text)

    def finish(self, state: State) -> str:
        return ""

    def buffered(self, state: State) -> str:
        return ""


class BoundaryStage(Stage):
    """A stage for a function whose text can be cut between two characters if `safe` says so.

    It holds back the text after the last such boundary.
    """

    def __init__(self, function: Callable[[str], str], safe: SafePair) -> None:
        self._function, self._safe = function, safe

    def push(self, state: Chain, text: str) -> tuple[Chain, str]:
        offset = last_boundary(state, text, self._safe)
        if offset is None:
            return add(state, text), ""
        return add(None, text[offset:]), self._function(join(add(state, text[:offset])))

    def finish(self, state: Chain) -> str:
        return self._function(join(state))

    def buffered(self, state: Chain) -> str:
        return join(state)


def last_boundary(chain: Chain, text: str, safe: SafePair) -> int | None:
    """Return the last boundary in `text`, which follows `chain`, or None.

    Only pairs with a character of `text` are examined: pairs within the chain were examined earlier.
    """
    for at in range(len(text) - 1, 0, -1):
        if safe(text[at - 1], text[at]):
            return at
    return 0 if chain is not None and text and safe(chain.part[-1], text[0]) else None


class BufferAllStage(Stage):
    """A stage for any other function: it holds back all text until the end."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self._function = function

    def push(self, state: Chain, text: str) -> tuple[Chain, str]:
        return add(state, text), ""

    def finish(self, state: Chain) -> str:
        return self._function(join(state))

    def buffered(self, state: Chain) -> str:
        return join(state)


class LiteralStage(Stage):
    """A stage for replacing every occurrence of a string. It holds back an end that could start an occurrence."""

    start = ""

    def __init__(self, function: Callable[[str], str], string: str) -> None:
        self._function, self._string = function, string

    def push(self, state: str, text: str) -> tuple[str, str]:
        text, string = state + text, self._string
        last = rest = 0
        while (last := text.find(string, rest)) >= 0:
            rest = last + len(string)
        begun = (len(text) - n for n in range(min(len(string) - 1, len(text) - rest), 0, -1))
        offset = next((at for at in begun if string.startswith(text[at:])), len(text))
        return text[offset:], self._function(text[:offset])

    def finish(self, state: str) -> str:
        return self._function(state)

    def buffered(self, state: str) -> str:
        return state


class StageChain(Stage):
    """Stages in a row, each applied to the output of the one before it."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._stages = tuple(stages)
        self.start = tuple(stage.start for stage in self._stages)

    def push(self, state: tuple[State, ...], text: str) -> tuple[tuple[State, ...], str]:
        states = []
        for stage, old in zip(self._stages, state):
            new, text = stage.push(old, text)
            states.append(new)
        return tuple(states), text

    def finish(self, state: tuple[State, ...]) -> str:
        text = ""
        for stage, old in zip(self._stages, state):
            new, out = stage.push(old, text)
            text = out + stage.finish(new)
        return text

    def buffered(self, state: tuple[State, ...]) -> str:
        return "".join(reversed([stage.buffered(old) for stage, old in zip(self._stages, state)]))
