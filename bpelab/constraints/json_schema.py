"""A JSON schema as an expression: some of the texts that are valid, and no others.

Every text is valid, but not every valid text is one: members come in the order of `properties`, and no others if there
are `properties`; there is at most one space after a comma or a colon. What can't be expressed is refused with its
JSON pointer. Of the libraries that translate schemas, outlines-core makes expressions, too. It wasn't taken since it
leaves out what it doesn't know, such as `minimum`, `uniqueItems` and `not`: then texts are not valid, and no error says
so.

References to themselves and values without a schema are nested up to a limit. Cost: linear in the expression, which has
as many positions as the schema has nodes, times what repeats and nests them.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from ..errors import PatternError
from ..regex.ast import Node, choice
from . import json_texts as texts
from .json_merge import ANNOTATIONS, combine, disjoint, same
from .json_types import OF_TYPE, any_of_types
from .language import matches

MAX_NODES = 20_000
"""The most schemas, with those that references lead to, in one expression."""
SERVED = {"$ref", "allOf", "anyOf", "oneOf", "enum", "const", "type", *sum(OF_TYPE.values(), ())}
FREE = "a value without a schema"


class SchemaReader:
    """Makes the expression of a schema; `node` is that of the whole."""

    def __init__(self, schema: Any, max_depth: int) -> None:
        self._root, self._max_depth, self._count = schema, max_depth, 0
        self.node = self._node(schema, "#", ())

    def _node(self, schema: Any, at: str, entered: tuple[str, ...]) -> Node:
        """Return the expression of a schema at a JSON pointer; `entered` are the references that led to it."""
        self._count += 1
        if self._count > MAX_NODES:
            raise PatternError(f"{at}: the schema unfolds to more than {MAX_NODES:,} schemas: lower max_depth")
        if schema is False:
            return texts.NOTHING
        if not isinstance(schema, Mapping) and schema is not True:
            raise PatternError(f"{at}: a schema is an object, true or false, not {schema!r:.80}")
        given = {} if schema is True else {key: each for key, each in schema.items() if key not in ANNOTATIONS}
        if unknown := [key for key in given if key not in SERVED and (key != "$id" or at != "#")]:
            raise PatternError(
                f"{at}/{unknown[0]}: constraints don't serve this keyword, and don't ignore it: remove it"
            )
        given.pop("$id", None)
        if "$ref" in given:
            return self._reference(given.pop("$ref"), given, at, entered)
        if "allOf" in given:
            return self._all(given.pop("allOf"), given, at, entered)
        if "anyOf" in given:
            return self._any(given.pop("anyOf"), given, f"{at}/anyOf", entered)
        if "oneOf" in given:
            return self._one(given.pop("oneOf"), given, f"{at}/oneOf", entered)
        if "const" in given or "enum" in given:
            return self._values(given, at, entered)
        return self._typed(given, at, entered)

    def _reference(self, target: Any, rest: dict[str, Any], at: str, entered: tuple[str, ...]) -> Node:
        found = self._resolved(target, at)
        if entered.count(target) >= self._max_depth:
            return texts.NOTHING
        return self._node(combine(found, rest, at), at, (*entered, target))

    def _resolved(self, target: Any, at: str) -> Any:
        """Return the schema that a reference leads to."""
        if not isinstance(target, str) or not (target == "#" or target.startswith("#/")):
            raise PatternError(f"{at}/$ref: {target!r:.80} isn't a pointer into this schema, such as #/$defs/name")
        found = self._root
        for step in unquote(target).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(name)] if isinstance(found, list) else found[name]
            except (LookupError, TypeError, ValueError):
                raise PatternError(f"{at}/$ref: {target!r:.80} leads nowhere: there is no {name!r:.40}") from None
        return found

    def _all(self, options: list[Any], rest: Any, at: str, entered: tuple[str, ...]) -> Node:
        for option in options:
            rest = combine(rest, option, f"{at}/allOf")
        return self._node(rest, at, entered)

    def _any(self, options: list[Any], rest: dict[str, Any], at: str, entered: tuple[str, ...]) -> Node:
        ats = [f"{at}/{number}" for number in range(len(options))]
        return choice([self._node(combine(rest, each, here), here, entered) for each, here in zip(options, ats)])

    def _one(self, options: list[Any], rest: dict[str, Any], at: str, entered: tuple[str, ...]) -> Node:
        known = [self._resolved(each["$ref"], at) if set(_keys(each)) == {"$ref"} else each for each in options]
        if not all(disjoint(one, other) for number, one in enumerate(known) for other in known[:number]):
            raise PatternError(
                f"{at}: a value may match two of these: give them other types or constants, or take anyOf"
            )
        return self._any(options, rest, at, entered)

    def _values(self, given: dict[str, Any], at: str, entered: tuple[str, ...]) -> Node:
        """Return the expression of those values of a list that the other keywords allow."""
        values = given.pop("enum", None)
        if "const" in given:
            const = given.pop("const")
            values = [const] if values is None or any(same(each, const) for each in values) else []
        if given:
            valid = matches(self._typed(given, at, entered))
            values = [each for each in values if valid(json.dumps(each, ensure_ascii=False))]
        return choice([texts.value(each) for each in values]) if values else texts.NOTHING

    def _typed(self, given: dict[str, Any], at: str, entered: tuple[str, ...]) -> Node:
        """Return the expression of all types that a schema allows, each with the keywords that are about it."""
        return any_of_types(given, at, lambda schema, below: self._below(schema, f"{at}/{below}", entered))

    def _below(self, schema: Any, at: str, entered: tuple[str, ...]) -> Node:
        """Return the expression of a member; one without a schema is nested as a reference is."""
        if schema is True or (isinstance(schema, Mapping) and not _keys(schema)):
            return texts.NOTHING if entered.count(FREE) >= self._max_depth else self._node({}, at, (*entered, FREE))
        return self._node(schema, at, entered)


def _keys(schema: Any) -> list[str]:
    return [key for key in schema if key not in ANNOTATIONS] if isinstance(schema, Mapping) else []
