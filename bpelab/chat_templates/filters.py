"""Filters and functions of chat templates that are not Jinja's own, and what happens to every value on its way.

Chapter: Special tokens, chat templates, injection. Source: Jinja's `filters.py`, transformers.
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
from .budget import CONTAINERS, MOST_DIGITS, pay
from .formatting import indented
from .provenance import Marked, Runs, derived, joined


class Safe(Markup):
    """What the filter `safe` gives: other strings are escaped when they are added to it, as Jinja does."""

    __slots__ = ("runs",)
    runs: Runs

    def __str__(self) -> str:
        return Marked.with_runs(str.__str__(self), self.runs) if hasattr(self, "runs") else Marked(str.__str__(self))


class Refusal(JinjaError):
    """What a template says with `raise_exception`."""


def known(value: Any) -> Any:
    """A str as one that knows how to keep marks and limits."""
    return Marked(value) if type(value) is str else value


def settled(result: Any, sources: Any) -> Any:
    """A result as the template gets it: its size paid, its origin said."""
    if isinstance(result, str):
        if not hasattr(result, "runs"):
            pay(len(result))
            marked = derived(result, sources)
            if not isinstance(result, Markup):
                return marked
            result = Safe(result)
            result.runs = marked.runs
    elif isinstance(result, CONTAINERS):
        pay(8 * len(result))
    elif isinstance(result, int) and result.bit_length() > 4 * MOST_DIGITS:
        raise TemplateError(f"a number of more than {MOST_DIGITS:,} digits")
    return result


@pass_environment
def join(environment: Any, value: Iterable[Any], d: str = "", attribute: Any = None) -> Marked:
    """Jinja's `join`, marks kept."""
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    return joined(environment.text(d), [environment.text(part) for part in value])


@pass_environment
def first(environment: Any, seq: Iterable[Any]) -> Any:
    """Jinja's `first`, which keeps the mark of a letter."""
    if isinstance(seq, str):
        return seq[0] if seq else environment.undefined("No first item, sequence was empty.")
    for item in seq:
        return item
    return environment.undefined("No first item, sequence was empty.")


def indent(s: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> Marked:
    """Jinja's `indent`, marks kept."""
    if not isinstance(s, str):
        raise TypeError(f"indent takes a string, not {type(s).__name__}")
    return indented(Marked.with_runs(str.__str__(s), s.runs) if isinstance(s, Safe) else s, width, first, blank)  # type: ignore[arg-type]


def safe(value: Any) -> Markup:
    """Jinja's `safe`, marks kept."""
    text = known(str(value))
    safe = Safe(text)
    safe.runs = text.runs
    return safe


@pass_environment
def raise_exception(environment: Any, message: Any) -> None:
    """What templates refuse a conversation with."""
    raise Refusal(environment.text(message))


def strftime_now(format: str) -> str:
    """The time now, in the format of strftime."""
    if len(format) > 200 or re.search(r"%[^A-Za-z%]*\d", format):
        raise TemplateError("strftime_now takes directives without widths, 200 characters at most")
    return datetime.now().strftime(str.__str__(format))
