"""Two JSON schemas as one that demands both, as far as their keywords don't depend on each other."""

from collections.abc import Mapping
from typing import Any

from ..errors import PatternError

ANNOTATIONS = {
    "$schema", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "deprecated",
    "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
}  # fmt: skip
"""Keywords that say nothing about which values are valid."""
TOGETHER = [
    {"properties", "additionalProperties"},
    {"items", "prefixItems", "additionalItems"},
    {"pattern", "format", "minLength", "maxLength"},
]
"""Keywords whose meaning depends on the others beside them."""
LEAST = {"minimum", "exclusiveMinimum", "minLength", "minItems"}
MOST = {"maximum", "exclusiveMaximum", "maxLength", "maxItems"}
OF_OTHERS = {"$ref", "anyOf", "oneOf", "allOf"}


def combine(one: Any, other: Any, at: str) -> Any:
    """Return the schema that demands what both do. Raises PatternError, naming the keyword, if that can't be said.

    >>> combine({"type": ["string", "null"]}, {"type": "string", "minLength": 2}, "#")
    {'type': ['string'], 'minLength': 2}
    """
    for schema in (one, other):
        if not isinstance(schema, Mapping) and not isinstance(schema, bool):
            raise PatternError(f"{at}: a schema is an object, true or false, not {schema!r:.80}")
    if one is False or other is False:
        return False
    one, other = ({} if each is True else each for each in (one, other))
    merged = {key: value for key, value in one.items() if key not in ANNOTATIONS}
    for key, value in other.items():
        if key in ANNOTATIONS or (key in merged and same(merged[key], value)):
            continue
        if key in merged and key in OF_OTHERS:
            merged["allOf"] = [*merged.get("allOf", []), *(value if key == "allOf" else [{key: value}])]
        else:
            merged[key] = _both(key, merged[key], value, at) if key in merged else value
            _check_together(key, one, other, at)
    return merged


def _both(key: str, one: Any, other: Any, at: str) -> Any:
    """Return the value of a keyword that demands what two values do."""
    if key == "type":
        return _types(one, other)
    if key == "required":
        return list(dict.fromkeys([*one, *other]))
    if key == "enum":
        return [each for each in one if any(same(each, value) for value in other)]
    if key == "properties":
        shared = {name: {"allOf": [one[name], other[name]]} for name in one if name in other}
        return {**one, **other, **shared}
    if key in LEAST | MOST:
        return max(one, other) if key in LEAST else min(one, other)
    raise PatternError(f"{at}/{key}: two schemas that both apply have different ones: write the one that is meant")


def _check_together(key: str, one: Mapping[str, Any], other: Mapping[str, Any], at: str) -> None:
    """Raise PatternError if a keyword of one schema means something else beside keywords of the other."""
    for group in TOGETHER:
        mine, yours = group & one.keys(), group & other.keys()
        if key in group and mine and yours and mine | yours not in ({"properties"}, {"minLength", "maxLength"}):
            raise PatternError(
                f"{at}/{key}: this depends on {', '.join(sorted(mine))} in another schema: write them together"
            )


def _types(one: Any, other: Any) -> list[str]:
    first, second = ([each] if isinstance(each, str) else list(each) for each in (one, other))
    wide = [{*names, *(["integer"] if "number" in names else [])} for names in (first, second)]
    return [name for name in dict.fromkeys([*first, *second]) if all(name in names for names in wide)]


def disjoint(one: Any, other: Any) -> bool:
    """Return whether it is certain that no value matches both schemas."""
    if one is False or other is False:
        return True
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    constants = [[each["const"]] if "const" in each else each.get("enum") for each in (one, other)]
    if constants[0] is not None and constants[1] is not None:
        return not any(same(each, value) for each in constants[0] for value in constants[1])
    if "type" in one and "type" in other:
        if not _types(one["type"], other["type"]):
            return True
        names = one.get("properties", {}).keys() & other.get("properties", {}).keys()
        both = set(one.get("required", [])) & set(other.get("required", []))
        only = one["type"] == other["type"] == "object"
        return only and any(disjoint(one["properties"][name], other["properties"][name]) for name in names & both)
    return False


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: true isn't 1.

    >>> same([1], [1.0]), same([1], [True])
    (True, False)
    """
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
