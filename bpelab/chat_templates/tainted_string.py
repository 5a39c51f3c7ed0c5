"""Tainted strings: strings that know the provenance of each of their characters.

A template mixes its own text with the messages' text, and trims, joins, slices and replaces it. `TaintedStr` is a str
whose operations carry each character's `Provenance` along. If an operation can't, the provenance is lost, and lost
means untrusted: a mistake here can turn a control token into ordinary text, never the other way round.

Chapter: Chat templates. Cost: that of str's operations, plus a step for each run of characters with one origin.
"""

import operator
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, SupportsIndex

from .provenance import UNKNOWN, Provenance, Runs, provenance_spans, provenances
from .resource_limits import charge

PRICE = 16  # the charge for a run, in characters


class TaintedStr(str):
    """A str that knows the origin of its characters, as runs of (length, origin).

    >>> from bpelab.chat_templates.provenance import TEMPLATE
    >>> text = TaintedStr.of("<|user|>", TEMPLATE) + TaintedStr.of("hi", Provenance(False, 0, "content")).strip()
    >>> [(length, origin.trusted) for length, origin in text.runs], text[6:9].runs[-1]
    ([(8, True), (2, False)], (1, Provenance(trusted=False, message=0, field='content', generated=False)))
    >>> type(str.swapcase(text))
    <class 'str'>
    """

    __slots__ = ("_stops", "runs")
    runs: Runs
    _stops: list[int]

    @staticmethod
    def of(text: str, origin: Provenance) -> "TaintedStr":
        """Return `text` with one origin for all of it."""
        return TaintedStr.with_runs(text, ((len(text), origin),) if text else ())

    @staticmethod
    def with_runs(text: str, runs: Runs) -> "TaintedStr":
        """Return `text` with `runs`, whose lengths add up to its own."""
        marked = TaintedStr(text)
        marked.runs = runs
        return marked

    def __new__(cls, text: str = "") -> "TaintedStr":
        marked = str.__new__(cls, text)
        marked.runs = ((len(marked), UNKNOWN),) if marked else ()
        return marked

    def __str__(self) -> str:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TaintedStr.with_runs, (str.__str__(self), self.runs)

    def _slice(self, start: int, stop: int) -> "TaintedStr":
        if start == 0 and stop >= len(self):
            return self
        charge(max(stop - start, 0))
        if len(self.runs) == 1:
            return TaintedStr.of(str.__getitem__(self, slice(start, stop)), self.runs[0][1])
        if not hasattr(self, "_stops"):
            self._stops = list(accumulate(length for length, _ in self.runs))
        runs, position = [], start
        for number in range(bisect_right(self._stops, start), len(self.runs)):
            if position >= stop:
                break
            here = min(stop, self._stops[number])
            runs.append((here - position, self.runs[number][1]))
            position = here
        return TaintedStr.with_runs(str.__getitem__(self, slice(start, stop)), tuple(runs))

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1 and start < stop:
                return self._slice(start, stop)
            charge(len(range(start, stop, step)))
            return untrusted(str.__getitem__(self, key), self)
        index = operator.index(key)
        str.__getitem__(self, index)  # raises IndexError if out of range
        index += len(self) * (index < 0)
        return self._slice(index, index + 1)

    def __add__(self, other: str) -> str:
        return concat((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> str:
        return concat((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> "TaintedStr":
        number = max(operator.index(times), 0)
        charge(len(self) * number)
        if len(self.runs) == 1:
            return TaintedStr.of(str.__mul__(self, number), self.runs[0][1])
        charge(PRICE * len(self.runs) * number)
        return TaintedStr.with_runs(str.__mul__(self, number), self.runs * number)

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> str:
        from .formatting import percent

        return percent(self, values)

    def format(self, *args: Any, **kwargs: Any) -> str:
        """Raise TypeError: templates use the environment's sandboxed formatter instead."""
        raise TypeError("the environment formats")

    format_map = format

    def lstrip(self, chars: str | None = None, /) -> "TaintedStr":
        return self._slice(len(self) - len(str.lstrip(self, chars)), len(self))

    def rstrip(self, chars: str | None = None, /) -> "TaintedStr":
        return self._slice(0, len(str.rstrip(self, chars)))

    def strip(self, chars: str | None = None, /) -> "TaintedStr":
        return self.rstrip(chars).lstrip(chars)

    def removeprefix(self, prefix: str, /) -> "TaintedStr":
        return self._slice(len(self) - len(str.removeprefix(self, prefix)), len(self))

    def removesuffix(self, suffix: str, /) -> "TaintedStr":
        return self._slice(0, len(str.removesuffix(self, suffix)))

    def _located(self, parts: Iterable[str]) -> list["TaintedStr"]:
        """Return `parts`, which occur in this string in this order, as slices of it."""
        found, position = [], 0
        for part in parts:
            position = self.index(part, position)
            found.append(self._slice(position, position + len(part)))
            position += len(part)
        return found

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        return self._split(str.split(self, sep, maxsplit), sep)

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        return self._split(str.rsplit(self, sep, maxsplit), sep)

    def _split(self, parts: list[str], sep: str | None) -> list[str]:
        charge(len(parts) * 8)
        return list(self._located(parts) if sep is None else self._spaced(parts, len(sep)))

    def _spaced(self, parts: Iterable[str], gap: int) -> Iterator["TaintedStr"]:
        position = 0
        for part in parts:
            yield self._slice(position, position + len(part))
            position += len(part) + gap

    def splitlines(self, keepends: bool = False) -> list[str]:
        lines = list(self._spaced(str.splitlines(self, True), 0))
        charge(len(lines) * 8)
        return [line if keepends else line._slice(0, len(str.splitlines(line)[0])) for line in lines]  # noqa: SLF001 - of its own class

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        before, found, after = self._spaced(str.partition(self, sep), 0)
        return before, found, after

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:
        before, found, after = self._spaced(str.rpartition(self, sep), 0)
        return before, found, after

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        if not old:
            charge(len(self) + (len(self) + 1) * len(new))
            return untrusted(str.replace(self, old, new, count), self, new)
        parts = str.split(self, old, count)
        charge(len(self) + len(parts) * max(len(new), 8))
        return join_tainted(new, list(self._spaced(parts, len(old))))

    def join(self, parts: Iterable[str], /) -> str:
        return join_tainted(self, list(parts))

    def _padded(self, name: str, width: SupportsIndex, *fill: str) -> str:
        charge(max(width.__index__(), 0))
        return untrusted(getattr(str, name)(self, width, *fill), self)

    def center(self, width: SupportsIndex, *fill: str) -> str:
        return self._padded("center", width, *fill)

    def ljust(self, width: SupportsIndex, *fill: str) -> str:
        return self._padded("ljust", width, *fill)

    def rjust(self, width: SupportsIndex, *fill: str) -> str:
        return self._padded("rjust", width, *fill)

    def zfill(self, width: SupportsIndex, /) -> str:
        return self._padded("zfill", width)

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        charge(len(self) + str.count(self, "\t") * max(tabsize.__index__(), 0))
        return untrusted(str.expandtabs(self, tabsize), self)

    def _recased(self, text: str) -> str:
        """Return `text`, this string in another case; if its length differs, all of it is untrusted."""
        charge(len(text))
        return TaintedStr.with_runs(text, self.runs) if len(text) == len(self) else untrusted(text, self)

    def upper(self) -> str:
        return self._recased(str.upper(self))

    def lower(self) -> str:
        return self._recased(str.lower(self))

    def title(self) -> str:
        return self._recased(str.title(self))

    def capitalize(self) -> str:
        return self._recased(str.capitalize(self))


def concat(parts: Iterable[str]) -> TaintedStr:
    """Concatenate the parts, keeping provenance."""
    parts = parts if isinstance(parts, (list, tuple)) else list(parts)
    charge(sum(map(len, parts)))
    runs: list[tuple[int, Provenance]] = []
    for part in parts:
        for length, origin in provenance_spans(part):
            if runs and runs[-1][1] == origin:
                runs[-1] = (runs[-1][0] + length, origin)
            else:
                runs.append((length, origin))
    charge(PRICE * len(runs))
    return TaintedStr.with_runs("".join(parts), tuple(runs))


def join_tainted(separator: str, parts: list[str]) -> TaintedStr:
    """Return `separator.join(parts)`, keeping provenance."""
    charge(len(separator) * len(parts))
    return concat([part for piece in parts for part in (separator, piece)][1:]) if separator else concat(parts)


def untrusted(text: str, *sources: Any) -> TaintedStr:
    """Return `text`, the result of an operation on `sources` that loses provenance, as untrusted.

    It keeps the message if all untrusted characters in the sources come from one, and then also the field.

    >>> untrusted('"hi"', TaintedStr.of("hi", Provenance(False, 3, "content"))).runs
    ((4, Provenance(trusted=False, message=3, field='content', generated=False)),)
    """
    found = {origin._replace(generated=False) for origin in provenances(sources) if not origin.trusted}
    if len({origin.message for origin in found}) != 1:
        return TaintedStr.of(str.__str__(text), UNKNOWN)
    fields = {origin.field for origin in found}
    return TaintedStr.of(
        str.__str__(text), Provenance(False, found.pop().message, fields.pop() if len(fields) == 1 else "")
    )
