"""String formatting for templates: `%`, `format`, `tojson`, `indent`, keeping provenance where that's simple.

Chapter: Chat templates. Cost: linear in the output, which is charged first.
"""

import json
import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import TemplateError
from .resource_limits import charge, current
from .tainted_string import TaintedStr, concat, untrusted

MOST_WIDTH = 10_000
_directive = re.compile(r"%(?:\(([^()]*)\))?([#0\- +]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?(.)", re.DOTALL)


def _width(*numbers: str | None) -> None:
    for number in numbers:
        if number and (number == "*" or len(number) > 5 or int(number) > MOST_WIDTH):
            raise TemplateError(f"a format of width {number[:20]}: up to {MOST_WIDTH:,}, written as digits, is allowed")


def percent(pattern: TaintedStr, values: Any) -> TaintedStr:
    """Return `pattern % values`, one directive after the other; `%s` of a string keeps its provenance."""
    budget = current.get()
    weight = budget.measure(values)
    mapping = isinstance(values, Mapping)
    waiting = list(values) if isinstance(values, tuple) else [values]
    parts: list[str] = []
    position = 0
    while (start := pattern.find("%", position)) >= 0:
        budget.tick()
        parts.append(pattern[position:start])
        if (match := _directive.match(pattern, start)) is None:
            raise ValueError("incomplete format")
        position = match.end()
        key, flags, width, precision, kind = match.groups()
        _width(width, precision)
        if kind == "%":
            parts.append(pattern[position - 1 : position])
            continue
        if key is None and not waiting:
            raise TypeError("not enough arguments for format string")
        value = values[key] if key is not None else waiting.pop(0)
        if kind == "s" and isinstance(value, str) and not (flags or width or precision is not None):
            charge(len(value))
            parts.append(str(value))
            continue
        charge(4 * weight + MOST_WIDTH * bool(width or precision))
        directive = re.sub(r"^%\([^()]*\)", "%", match[0])
        parts.append(untrusted(str.__mod__(directive, (value,)), value))
    if waiting and not mapping:
        raise TypeError("not all arguments converted during string formatting")
    return concat([*parts, pattern[position:]])


class Formatter(string.Formatter):
    """`str.format` that charges for what it writes; fields are looked up as in the sandbox, through `look_up`."""

    def __init__(self, look_up: Callable[[Any, str, bool], Any]) -> None:
        self._look_up = look_up

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        from _string import formatter_field_name_split  # type: ignore[import-not-found]

        first, rest = formatter_field_name_split(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, name in rest:
            value = self._look_up(value, name, is_attribute)
        return value, first

    def format_field(self, value: Any, format_spec: str) -> Any:
        for number in re.findall(r"\d+", format_spec):
            _width(number)
        if isinstance(value, str) and not format_spec:
            charge(len(value))
            return str(value)
        charge(4 * current.get().measure(value) + MOST_WIDTH * bool(format_spec))
        return untrusted(str(super().format_field(value, format_spec)), value)

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion is None or (conversion == "s" and isinstance(value, str)):
            return value
        charge(4 * current.get().measure(value))
        return untrusted(str(super().convert_field(value, conversion)), value)

    def format_tainted(self, pattern: TaintedStr, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaintedStr:
        """Return `pattern.format(*args, **kwargs)`; if braces are nested or doubled, the whole result is untrusted."""
        parts: list[str] = []
        position = number = 0
        for literal, name, spec, conversion in self.parse(pattern):
            if not pattern.startswith(literal, position) or "{" in literal + (spec or "") or "}" in literal:
                return untrusted(self.vformat(str.__str__(pattern), args, kwargs), pattern, list(args), dict(kwargs))
            parts.append(pattern[position : position + len(literal)])
            position += len(literal)
            if name is not None:
                position = pattern.index("}", position) + 1
                counted = not name or name[0] in ".["
                value, _ = self.get_field(f"{number}{name}" if counted else name, args, kwargs)
                number += counted
                parts.append(self.format_field(self.convert_field(value, conversion), spec or ""))
        return concat(parts)


def tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> TaintedStr:
    """Return JSON without HTML escapes, as transformers writes it. It's never trusted: its text is the values'."""
    budget = current.get()
    extra = len(indent) if isinstance(indent, str) else max(indent or 0, 0)
    extra += sum(map(len, separators or ()))
    if extra > 100:
        raise TemplateError(f"tojson with an indent or separators of {extra:,} characters")
    weight = budget.measure(value)
    budget.charge(weight)
    if extra > 16:
        budget.charge(weight * extra)
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    parts: list[str] = []
    for part in [encoder.encode(value)] if indent is None else encoder.iterencode(value):  # spaces add up with depth
        budget.charge(len(part))
        parts.append(part)
    return untrusted("".join(parts), value)


def indented(text: TaintedStr, width: int | str = 4, first: bool = False, blank: bool = False) -> TaintedStr:
    """Apply Jinja's `indent`, keeping provenance. What it inserts has unknown provenance; it needn't be trusted."""
    space = TaintedStr(width if isinstance(width, str) else " " * min(width, MOST_WIDTH))
    lines = (text + TaintedStr("\n")).splitlines()
    charge(len(text) + len(space) * len(lines))
    written: list[str] = [lines[0]]
    for line in lines[1:]:
        written += [TaintedStr("\n"), space, line] if line or blank else [TaintedStr("\n"), line]
    return concat([space, *written] if first else written)
