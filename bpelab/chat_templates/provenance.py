"""Provenance: who wrote each character of a rendered conversation.

Only what a template's author wrote can become a control token. Strings, dicts and lists that come from a message know
it; text whose provenance was lost is untrusted.

Chapter: Chat templates. Cost: linear in the values that are asked.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple


class Provenance(NamedTuple):
    """Where characters come from.

    Attributes:
        trusted: whether the template's author wrote them: only then can they become a control token.
        message: the index of the message that they come from, if it's known and only one.
        field: its key ("content", "tool_calls"), "tools", or another variable's name.
        generated: whether they were written inside a `{% generation %}` block.
    """

    trusted: bool
    message: int | None = None
    field: str = ""
    generated: bool = False


TEMPLATE, UNKNOWN = Provenance(True), Provenance(False)
Runs = tuple[tuple[int, Provenance], ...]
"""The provenance of a string, as (number of characters, provenance)."""


class TaintedDict(dict[str, Any]):
    """A dict from a message: text made from it comes from that message, even if the dict holds no text."""

    origin: Provenance


class TaintedList(list[Any]):
    """A list from a message."""

    origin: Provenance


def provenance_spans(text: str) -> Runs:
    """Return the runs of any string; one without runs has unknown provenance."""
    runs: Runs | None = getattr(text, "runs", None)
    if runs is None:
        return ((len(text), UNKNOWN),) if text else ()
    return runs


def provenances(values: Iterable[Any]) -> Iterator[Provenance]:
    """Yield the origins of all strings in lists and dicts; an object that occurs twice is visited once."""
    waiting = list(values)
    seen: dict[int, Any] = {}  # keeps the objects alive, so that no id is reused
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, str):
            yield from (origin for _, origin in provenance_spans(value))
        elif isinstance(value, (list, tuple)):
            waiting += value
        elif isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        if isinstance(value, (TaintedDict, TaintedList)):
            yield value.origin
