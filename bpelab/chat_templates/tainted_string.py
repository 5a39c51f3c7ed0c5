"""Strings that know where each of their characters comes from.

A template mixes its own text with that of messages and trims, joins, slices and replaces in it. `Marked` is a str whose
operations carry along, for each character, an `Origin`. What it doesn't know how to carry is lost, and lost means
untrusted: a mistake here can make a control token ordinary text, never the other way round.

Chapter: Special tokens, chat templates, injection. Cost: as str's operations, and a step for each run of characters
with one origin.
"""

import operator
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple, SupportsIndex

from .budget import pay


class Origin(NamedTuple):
    """Where characters come from.

    Attributes:
        trusted: whether the template's author wrote them: only then can they be a control token's.
        message: the number of the message that they come from, if one can be named.
        field: its key ("content", "tool_calls"), "tools", or another variable's name.
        generated: whether they were written inside a `{% generation %}` block.
    """

    trusted: bool
    message: int | None = None
    field: str = ""
    generated: bool = False


TEMPLATE, UNKNOWN = Origin(True), Origin(False)
PRICE = 16  # what a run takes, in characters
Runs = tuple[tuple[int, Origin], ...]


class Record(dict[str, Any]):
    """A dict out of a message: what is made of it comes from there, even where it holds no text."""

    origin: Origin


class Items(list[Any]):
    """A list out of a message."""

    origin: Origin


class Marked(str):
    """A str with the origins of its characters, as (length, origin) of runs.

    >>> text = Marked.of("<|user|>", TEMPLATE) + Marked.of("hi", Origin(False, 0, "content")).strip()
    >>> [(length, origin.trusted) for length, origin in text.runs], text[6:9].runs[-1]
    ([(8, True), (2, False)], (1, Origin(trusted=False, message=0, field='content', generated=False)))
    >>> type(str.swapcase(text))
    <class 'str'>
    """

    __slots__ = ("_stops", "runs")
    runs: Runs
    _stops: list[int]

    @staticmethod
    def of(text: str, origin: Origin) -> "Marked":
        """`text` with one origin for all of it."""
        return Marked.with_runs(text, ((len(text), origin),) if text else ())

    @staticmethod
    def with_runs(text: str, runs: Runs) -> "Marked":
        """`text` whose runs, which are as long as it, are known."""
        marked = Marked(text)
        marked.runs = runs
        return marked

    def __new__(cls, text: str = "") -> "Marked":
        marked = str.__new__(cls, text)
        marked.runs = ((len(marked), UNKNOWN),) if marked else ()
        return marked

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Marked.with_runs, (str.__str__(self), self.runs)

    def _cut(self, start: int, stop: int) -> "Marked":
        if start == 0 and stop >= len(self):
            return self
        pay(max(stop - start, 0))
        if len(self.runs) == 1:
            return Marked.of(str.__getitem__(self, slice(start, stop)), self.runs[0][1])
        if not hasattr(self, "_stops"):
            self._stops = list(accumulate(length for length, _ in self.runs))
        runs, position = [], start
        for number in range(bisect_right(self._stops, start), len(self.runs)):
            if position >= stop:
                break
            here = min(stop, self._stops[number])
            runs.append((here - position, self.runs[number][1]))
            position = here
        return Marked.with_runs(str.__getitem__(self, slice(start, stop)), tuple(runs))

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1 and start < stop:
                return self._cut(start, stop)
            pay(len(range(start, stop, step)))
            return derived(str.__getitem__(self, key), self)
        index = operator.index(key)
        str.__getitem__(self, index)  # raises for what is outside
        index += len(self) * (index < 0)
        return self._cut(index, index + 1)

    def __add__(self, other: str) -> str:
        return concat((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> str:
        return concat((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> "Marked":
        number = max(operator.index(times), 0)
        pay(len(self) * number)
        if len(self.runs) == 1:
            return Marked.of(str.__mul__(self, number), self.runs[0][1])
        pay(PRICE * len(self.runs) * number)
        return Marked.with_runs(str.__mul__(self, number), self.runs * number)

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> str:
        from .formatting import percent

        return percent(self, values)

    def format(self, *args: Any, **kwargs: Any) -> str:
        """Not what templates call: the environment has a formatter that looks at no attributes."""
        raise TypeError("the environment formats")

    format_map = format

    def lstrip(self, chars: str | None = None, /) -> "Marked":
        return self._cut(len(self) - len(str.lstrip(self, chars)), len(self))

    def rstrip(self, chars: str | None = None, /) -> "Marked":
        return self._cut(0, len(str.rstrip(self, chars)))

    def strip(self, chars: str | None = None, /) -> "Marked":
        return self.rstrip(chars).lstrip(chars)

    def removeprefix(self, prefix: str, /) -> "Marked":
        return self._cut(len(self) - len(str.removeprefix(self, prefix)), len(self))

    def removesuffix(self, suffix: str, /) -> "Marked":
        return self._cut(0, len(str.removesuffix(self, suffix)))

    def _located(self, parts: Iterable[str]) -> list["Marked"]:
        """Parts of this string that stand in it in this order, with something or nothing between them."""
        found, position = [], 0
        for part in parts:
            position = self.index(part, position)
            found.append(self._cut(position, position + len(part)))
            position += len(part)
        return found

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        parts = str.split(self, sep, maxsplit)
        pay(len(parts) * 8)
        return list(self._located(parts) if sep is None else self._spaced(parts, len(sep)))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        parts = str.rsplit(self, sep, maxsplit)
        pay(len(parts) * 8)
        return list(self._located(parts) if sep is None else self._spaced(parts, len(sep)))

    def _spaced(self, parts: Iterable[str], gap: int) -> Iterator["Marked"]:
        position = 0
        for part in parts:
            yield self._cut(position, position + len(part))
            position += len(part) + gap

    def splitlines(self, keepends: bool = False) -> list[str]:
        lines = list(self._spaced(str.splitlines(self, True), 0))
        pay(len(lines) * 8)
        return [line if keepends else line._cut(0, len(str.splitlines(line)[0])) for line in lines]

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        before, found, after = self._spaced(str.partition(self, sep), 0)
        return before, found, after

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:
        before, found, after = self._spaced(str.rpartition(self, sep), 0)
        return before, found, after

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        if not old:
            pay(len(self) + (len(self) + 1) * len(new))
            return derived(str.replace(self, old, new, count), self, new)
        parts = str.split(self, old, count)
        pay(len(self) + len(parts) * max(len(new), 8))
        return joined(new, list(self._spaced(parts, len(old))))

    def join(self, parts: Iterable[str], /) -> str:
        return joined(self, list(parts))

    def _padded(self, name: str, width: SupportsIndex, *fill: str) -> str:
        pay(max(width.__index__(), 0))
        return derived(getattr(str, name)(self, width, *fill), self)

    def center(self, width: SupportsIndex, *fill: str) -> str:
        return self._padded("center", width, *fill)

    def ljust(self, width: SupportsIndex, *fill: str) -> str:
        return self._padded("ljust", width, *fill)

    def rjust(self, width: SupportsIndex, *fill: str) -> str:
        return self._padded("rjust", width, *fill)

    def zfill(self, width: SupportsIndex, /) -> str:
        return self._padded("zfill", width)

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        pay(len(self) + str.count(self, "\t") * max(tabsize.__index__(), 0))
        return derived(str.expandtabs(self, tabsize), self)

    def _recased(self, text: str) -> str:
        """Cases change one character for one, or all is said to come from somewhere in here."""
        pay(len(text))
        return Marked.with_runs(text, self.runs) if len(text) == len(self) else derived(text, self)

    def upper(self) -> str:
        return self._recased(str.upper(self))

    def lower(self) -> str:
        return self._recased(str.lower(self))

    def title(self) -> str:
        return self._recased(str.title(self))

    def capitalize(self) -> str:
        return self._recased(str.capitalize(self))


def runs_of(text: str) -> Runs:
    """The runs of any string; what has none is unknown."""
    runs: Runs | None = getattr(text, "runs", None)
    if runs is None:
        return ((len(text), UNKNOWN),) if text else ()
    return runs


def concat(parts: Iterable[str]) -> Marked:
    """The parts one after the other, marks kept."""
    parts = parts if isinstance(parts, (list, tuple)) else list(parts)
    pay(sum(map(len, parts)))
    runs: list[tuple[int, Origin]] = []
    for part in parts:
        for length, origin in runs_of(part):
            if runs and runs[-1][1] == origin:
                runs[-1] = (runs[-1][0] + length, origin)
            else:
                runs.append((length, origin))
    pay(PRICE * len(runs))
    return Marked.with_runs("".join(parts), tuple(runs))


def joined(separator: str, parts: list[str]) -> Marked:
    """`separator.join(parts)`, marks kept."""
    pay(len(separator) * len(parts))
    return concat([part for piece in parts for part in (separator, piece)][1:]) if separator else concat(parts)


def origins(values: Iterable[Any]) -> Iterator[Origin]:
    """The origins of all strings in lists and dicts; what stands in several places is looked at once."""
    waiting = list(values)
    seen: dict[int, Any] = {}  # an object that is kept can't give its id to another
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, str):
            yield from (origin for _, origin in runs_of(value))
        elif isinstance(value, (list, tuple)):
            waiting += value
        elif isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        if isinstance(value, (Record, Items)):
            yield value.origin


def derived(text: str, *sources: Any) -> Marked:
    """`text`, made out of `sources` in a way that isn't followed: untrusted, and its message's if only one is in them.

    >>> derived('"hi"', Marked.of("hi", Origin(False, 3, "content"))).runs
    ((4, Origin(trusted=False, message=3, field='content', generated=False)),)
    """
    found = {origin._replace(generated=False) for origin in origins(sources) if not origin.trusted}
    if len({origin.message for origin in found}) != 1:
        return Marked.of(str.__str__(text), UNKNOWN)
    fields = {origin.field for origin in found}
    return Marked.of(str.__str__(text), Origin(False, found.pop().message, fields.pop() if len(fields) == 1 else ""))
