"""The expressions of a schema's types: each has keywords of its own, which say nothing about values of other types."""

from collections.abc import Callable, Mapping
from math import ceil, floor
from typing import Any

from ..errors import PatternError
from ..regex.ast import Node, Repeat, choice, sequence
from . import json_texts as texts

OF_TYPE = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "array": ("items", "prefixItems", "additionalItems", "minItems", "maxItems"),
    "object": ("properties", "required", "additionalProperties"),
}
TYPES = ("null", "boolean", "integer", *OF_TYPE)
DATE = "[1-9][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
FORMATS = {
    "date": f"^{DATE}$",
    "time": f"^{TIME}$",
    "date-time": f"^{DATE}T{TIME}$",
    "uuid": "^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
}
MAX_NUMBER = 10**30
"""The largest number that may be a limit."""

Schema = Mapping[str, Any]
Below = Callable[[Any, str], Node]
"""The expression of a schema inside this one, at a pointer relative to it."""


def any_of_types(schema: Schema, at: str, below: Below) -> Node:
    """Return the expression of all values that a schema without references and combinations allows."""
    named = schema.get("type", list(TYPES))
    names = dict.fromkeys([named] if isinstance(named, str) else named)
    if unknown := [name for name in names if name not in TYPES]:
        raise PatternError(f"{at}/type: there is no type {unknown[0]!r:.40}")
    if "number" in names:
        names.pop("integer", None)
    read: dict[str, Callable[[], Node]] = {
        "null": lambda: texts.of("null"),
        "boolean": lambda: texts.of("true|false"),
        "integer": lambda: texts.integers(*limits(schema, at)),
        "number": lambda: texts.numbers(*limits(schema, at)),
        "string": lambda: string(schema, at),
        "array": lambda: array(schema, at, below),
        "object": lambda: object_(schema, below),
    }
    return choice([read[name]() for name in names]) if names else texts.NOTHING


def string(schema: Schema, at: str) -> Node:
    """Return the expression of a schema's strings."""
    given = [keyword for keyword in OF_TYPE["string"] if keyword in schema]
    if "pattern" not in given and "format" not in given:
        low, high = size(schema, "minLength", at) or 0, size(schema, "maxLength", at)
        return texts.string(repeated(texts.any_character(), low, high))
    keyword = given[-1]
    if len(given) > 1:
        raise PatternError(f"{at}/{given[0]}: constraints serve this or {keyword}, not both: remove one")
    if keyword == "format" and schema["format"] not in FORMATS:
        raise PatternError(f"{at}/format: {schema['format']!r:.40} isn't one of {', '.join(FORMATS)}: remove it")
    pattern = FORMATS[schema["format"]] if keyword == "format" else schema["pattern"]
    try:
        return texts.string(texts.searched(texts.of(pattern)))
    except (PatternError, TypeError) as error:
        raise PatternError(f"{at}/{keyword}: {error}") from error


def array(schema: Schema, at: str, below: Below) -> Node:
    """Return the expression of a schema's arrays."""
    low, high = size(schema, "minItems", at) or 0, size(schema, "maxItems", at)
    items, first = schema.get("items", True), schema.get("prefixItems", [])
    if isinstance(items, list):  # in the drafts until 2019
        first, items = items, schema.get("additionalItems", True)
    count = len(first) if high is None else min(len(first), high)
    most = None if high is None else high - count
    rest = sequence([below(items, "items"), texts.END["]"]]) if most != 0 else texts.NOTHING
    node = repeated(rest, max(low - count, 0), most)
    for number in reversed(range(count)):
        node = sequence([below(first[number], f"prefixItems/{number}"), texts.END["]"], node])
        node = node if number < low else Repeat(node, 0, 1)
    return texts.bracketed("[]", [node])


def object_(schema: Schema, below: Below) -> Node:
    """Return the expression of a schema's objects: without other members if it has `properties`."""
    named, required, other = (
        schema.get("properties", {}),
        schema.get("required", []),
        schema.get("additionalProperties", True),
    )
    found = {name: below(each, f"properties/{name}") for name, each in named.items()}
    found |= {name: below(other, "additionalProperties") for name in required if name not in found}
    parts = [sequence([texts.member(name, node), texts.END["}"]]) for name, node in found.items()]
    parts = [part if name in required else Repeat(part, 0, 1) for name, part in zip(found, parts)]
    if not named and other is not False:
        name = texts.string(Repeat(texts.any_character(), 0, None))
        member = sequence([name, texts.of(": ?"), below(other, "additionalProperties"), texts.END["}"]])
        parts.append(Repeat(member, 0, None))
    return texts.bracketed("{}", parts)


def limits(schema: Schema, at: str) -> tuple[int | None, int | None]:
    """Return the least and the largest integer that a schema allows; None for no limit."""
    for keyword in OF_TYPE["number"]:
        given = schema.get(keyword, 0)
        if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= MAX_NUMBER:
            raise PatternError(f"{at}/{keyword}: this has to be a number up to 10^30, not {given!r:.40}")
    low = [ceil(schema["minimum"])] if "minimum" in schema else []
    low += [floor(schema["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in schema else []
    high = [floor(schema["maximum"])] if "maximum" in schema else []
    high += [ceil(schema["exclusiveMaximum"]) - 1] if "exclusiveMaximum" in schema else []
    return max(low, default=None), min(high, default=None)


def size(schema: Schema, keyword: str, at: str) -> int | None:
    """Return a keyword's number of characters or members; None if it isn't given."""
    given = schema.get(keyword)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or given < 0 or given != int(given):
        raise PatternError(f"{at}/{keyword}: this has to be a whole number, not {given!r:.40}")
    return int(given)


def repeated(node: Node, low: int, high: int | None) -> Node:
    """Return a repetition; nothing if it would have to be at least more often than at most."""
    return texts.NOTHING if high is not None and high < low else Repeat(node, low, high)
