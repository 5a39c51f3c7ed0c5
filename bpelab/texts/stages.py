"""Stages: functions of a text that are fed it in parts.

A stage never changes. It maps (state, text) to (state, text that is settled), and its states are never changed either,
so that a step that fails halfway leaves everything as it was. What a stage returns for the parts, joined, is what its
function returns for the whole. Chapter: Streaming. Cost: linear, however small the parts are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from .text_buffer import Chain, add, joined

State = Any
SafePair = Callable[[str, str], bool]
"""Whether a text may be cut between two characters, whatever is around them."""
REMEMBERED = 1 << 14
"""The most pairs, or characters, of which one such function remembers what it has said."""


class Stage(ABC):
    """A function of a text, in parts. The state that a stage returns is opaque."""

    start: State = None
    """The state before the first part."""

    @abstractmethod
    def push(self, state: State, text: str) -> tuple[State, str]:
        """Return the state after `text`, and what can be given out."""

    @abstractmethod
    def finish(self, state: State) -> str:
        """Return what is given out when the text ends."""

    @abstractmethod
    def buffered(self, state: State) -> str:
        """Return what is held back."""


class CharStage(Stage):
    """A function that looks at one character at a time: nothing is held back."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self._function = function

    def push(self, state: State, text: str) -> tuple[State, str]:
        return state, self._function(text)

    def finish(self, state: State) -> str:
        return ""

    def buffered(self, state: State) -> str:
        return ""


class BoundaryStage(Stage):
    """A function whose text can be cut where `safe` says so of the characters on both sides.

    Held back: the text after the last such boundary.
    """

    def __init__(self, function: Callable[[str], str], safe: SafePair) -> None:
        self._function, self._safe = function, safe

    def push(self, state: Chain, text: str) -> tuple[Chain, str]:
        offset = last_boundary(state, text, self._safe)
        if offset is None:
            return add(state, text), ""
        return add(None, text[offset:]), self._function(joined(add(state, text[:offset])))

    def finish(self, state: Chain) -> str:
        return self._function(joined(state))

    def buffered(self, state: Chain) -> str:
        return joined(state)


def last_boundary(chain: Chain, text: str, safe: SafePair) -> int | None:
    """Return the last boundary in `text`, with `chain` before it; None without one.

    Only pairs with a character of `text` are looked at: those in the chain were, when it grew.
    """
    for at in range(len(text) - 1, 0, -1):
        if safe(text[at - 1], text[at]):
            return at
    return 0 if chain is not None and text and safe(chain.part[-1], text[0]) else None


class BufferAllStage(Stage):
    """A function of which nothing can be said before the text has ended: all is held back."""

    def __init__(self, function: Callable[[str], str]) -> None:
        self._function = function

    def push(self, state: Chain, text: str) -> tuple[Chain, str]:
        return add(state, text), ""

    def finish(self, state: Chain) -> str:
        return self._function(joined(state))

    def buffered(self, state: Chain) -> str:
        return joined(state)


class LiteralStage(Stage):
    """A function that replaces every occurrence of a string. Held back: an end with which one could begin."""

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
