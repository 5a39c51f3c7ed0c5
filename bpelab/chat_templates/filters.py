"""Filters and functions of chat templates that replace Jinja's or add to them; all keep provenance.

Chapter: Chat templates. Source: Jinja's `filters.py`, transformers.
"""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from jinja2 import pass_environment
from jinja2.exceptions import TemplateError as JinjaError
from jinja2.filters import make_attrgetter
from markupsafe import Markup

from ..errors import TemplateError
from .formatting import indented
from .provenance import Runs
from .resource_limits import CONTAINERS, MOST_DIGITS, charge
from .tainted_string import TaintedStr, join_tainted, untrusted


class TaintedMarkup(Markup):
    """The result of the filter `safe`: other strings are escaped when they are added to it, as in Jinja."""

    __slots__ = ("runs",)
    runs: Runs

    def __str__(self) -> str:
        return (
            TaintedStr.with_runs(str.__str__(self), self.runs)
            if hasattr(self, "runs")
            else TaintedStr(str.__str__(self))
        )


class TemplateRefusal(JinjaError):
    """The error that a template raises with `raise_exception`."""


def as_tainted(value: Any) -> Any:
    """Return a plain str as a TaintedStr of unknown provenance; any other value unchanged."""
    return TaintedStr(value) if type(value) is str else value


def finish(result: Any, sources: Any) -> Any:
    """Prepare a result for the template: charge for its size, and set its provenance from `sources`."""
    if isinstance(result, str):
        if not hasattr(result, "runs"):
            charge(len(result))
            marked = untrusted(result, sources)
            if not isinstance(result, Markup):
                return marked
            result = TaintedMarkup(result)
            result.runs = marked.runs
    elif isinstance(result, CONTAINERS):
        charge(8 * len(result))
    elif isinstance(result, int) and result.bit_length() > 4 * MOST_DIGITS:
        raise TemplateError(f"a number of more than {MOST_DIGITS:,} digits")
    return result


@pass_environment
def join(environment: Any, value: Iterable[Any], d: str = "", attribute: Any = None) -> TaintedStr:
    """Apply Jinja's `join`, keeping provenance."""
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    return join_tainted(environment.output(d), [environment.output(part) for part in value])


@pass_environment
def first(environment: Any, seq: Iterable[Any]) -> Any:
    """Apply Jinja's `first`, keeping the provenance of a character."""
    if isinstance(seq, str):
        return seq[0] if seq else environment.undefined("No first item, sequence was empty.")
    for item in seq:
        return item
    return environment.undefined("No first item, sequence was empty.")


def indent(s: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> TaintedStr:
    """Apply Jinja's `indent`, keeping provenance."""
    if not isinstance(s, str):
        raise TypeError(f"indent takes a string, not {type(s).__name__}")
    text = TaintedStr.with_runs(str.__str__(s), s.runs) if isinstance(s, TaintedMarkup) else s
    return indented(text, width, first, blank)  # type: ignore[arg-type]


def safe(value: Any) -> Markup:
    """Apply Jinja's `safe`, keeping provenance."""
    text = as_tainted(str(value))
    safe = TaintedMarkup(text)
    safe.runs = text.runs
    return safe


@pass_environment
def raise_exception(environment: Any, message: Any) -> None:
    """Raise TemplateRefusal: the template refuses the conversation."""
    raise TemplateRefusal(environment.output(message))


def strftime_now(format: str) -> str:
    """Return the current time in a strftime format."""
    if len(format) > 200 or re.search(r"%[^A-Za-z%]*\d", format):
        raise TemplateError("strftime_now takes directives without widths, 200 characters at most")
    return datetime.now().strftime(str.__str__(format))
