"""JSON schemas: every text is valid, and what isn't served is refused by name."""

import json
import random

import jsonschema
import pytest

from bpelab import BPETokenizer, PatternError
from bpelab.constraints import Constraint
from bpelab.constraints.json_merge import combine, disjoint
from bpelab.constraints.json_schema import SchemaReader
from bpelab.constraints.language import matches

from .sampled import sampled

T = BPETokenizer.train("low lower lowest " * 9, 262)


def accepts(schema, **options):
    return matches(SchemaReader(schema, options.get("max_depth", 3)).node)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer", "minimum": -12, "exclusiveMaximum": 105}, "-12 -1 0 7 99 104", "-13 105 007 1.0 -0"),
        ({"type": "integer", "exclusiveMinimum": 8.5}, "9 10 1000", "8 08"),
        ({"type": "number", "minimum": -1, "maximum": 2}, "-1 -0.5 0.25 1.75 2", "-1.5 2.5 3 1e5"),
        ({"type": "number"}, "-1.5e10 0", "01 .5 1."),
        ({"type": "string", "minLength": 2, "maxLength": 3}, '"ab" "\\né😀"', '"a" "abcd" ab'),
        ({"pattern": "^a[bc]+$", "type": "string"}, '"ab" "acbc"', '"xab" "abx"'),
        ({"pattern": 'a"', "type": "string"}, '"a\\"" "xa\\"y"', '"a"" "a"'),
        ({"pattern": "^a|b$", "type": "string"}, '"ax" "xb"', '"xa"'),
        ({"format": "date", "type": "string"}, '"2024-02-28" "1999-12-31"', '"2024-02-30" "2024-13-01" "2024-04-31"'),
        ({"type": "array", "items": {"type": "null"}, "maxItems": 2}, "[] [null] [null,null]", "[null,] [,null]"),
        ({"prefixItems": [{"const": 1}, {"const": 2}], "items": False, "type": "array"}, "[] [1] [1,2]", "[2] [1,2,3]"),
        ({"type": "array", "minItems": 2, "items": {"const": 0}}, "[0,0] [0,0,0]", "[0] [] [0,0"),
        ({"enum": ["a", 1, True, [1, {"b": None}]]}, '"a" 1 true [1,{"b":null}]', '"b" false'),
        ({"enum": ["a", "bcd", 5], "type": "string", "maxLength": 2}, '"a"', '"bcd" 5'),
        ({"anyOf": [{"type": "null"}, {"minimum": 3}], "type": ["null", "integer"]}, "null 3", "2 true"),
        ({"allOf": [{"minimum": 3}, {"maximum": 5}, {"minimum": 4}], "type": "integer"}, "4 5", "3 6"),
        ({"oneOf": [{"type": "null"}, {"type": "boolean"}]}, "null true", "0"),
        (False, "", "0 null"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"const": 7}}}, "7", "8"),
    ],
)
def test_texts(schema, good, bad):
    match = accepts(schema)
    assert all(map(match, good.split()))
    assert not any(map(match, bad.split()))


def test_objects():
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}, "c": {"enum": ["x"]}},
        "required": ["b"],
    }
    match = accepts(schema)
    good = ('{"b":true}', '{"a": 1, "b": false}', '{"b":true,"c":"x"}', '{"a":1,"b":true,"c":"x"}')
    assert all(map(match, good))
    bad = ("{}", '{"a":1}', '{"b":true,}', '{"b":true "c":"x"}', '{"b":true,"a":1}', '{,"b":true}', '{"b":  true}')
    assert not any(map(match, bad))
    assert accepts({"type": "object", "additionalProperties": {"const": 1}})('{"x":1,"y":1}')
    assert not accepts({"type": "object", "additionalProperties": False})('{"x":1}')
    assert accepts({"type": "object", "required": ["k"]})('{"k":[1,{}],"z":null}')


def test_references_to_themselves_are_nested_up_to_the_limit():
    schema = {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}},
                "required": ["next"],
            }
        },
    }
    deep = ['{"next":' * depth + "null" + "}" * depth for depth in range(5)]
    assert [accepts(schema, max_depth=3)(text) for text in deep] == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"not": {}}, "#/not: constraints don't serve this keyword"),
        ({"properties": {"a": {"multipleOf": 3}}}, "#/properties/a/multipleOf: constraints don't serve"),
        ({"items": {"uniqueItems": True}}, "#/items/uniqueItems: constraints don't serve"),
        ({"$ref": "https://example.com/x"}, "#/\\$ref: 'https://example.com/x' isn't a pointer into this schema"),
        ({"$ref": "#/$defs/x"}, "leads nowhere: there is no '\\$defs'"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "#/oneOf: a value may match two of these"),
        ({"type": "strnig"}, "#/type: there is no type 'strnig'"),
        ({"type": "string", "format": "email"}, "#/format: 'email' isn't one of date, time"),
        ({"type": "string", "pattern": "a(?=b)c"}, "#/pattern: a string's pattern has no lookaround"),
        ({"type": "string", "pattern": "("}, "#/pattern: "),
        (
            {"type": "string", "pattern": "a", "minLength": 2},
            "#/minLength: constraints serve this or pattern, not both",
        ),
        ({"minimum": "3"}, "#/minimum: this has to be a number up to 10\\^30, not '3'"),
        ({"minItems": -1}, "#/minItems: this has to be a whole number, not -1"),
        ({"items": 3}, "#/items: a schema is an object, true or false, not 3"),
        ({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}, "#/allOf/pattern: two schemas that both apply"),
        (
            {"properties": {"a": {}}, "allOf": [{"additionalProperties": False}]},
            "#/allOf/additionalProperties: this depends on properties in another schema",
        ),
        ({"minLength": 3, "maxLength": 2, "type": "string"}, "no text matches this constraint"),
        ({"maxLength": 50_000, "minLength": 50_000, "type": "string"}, "more than 20,000 positions"),
        ({"anyOf": [{"$ref": "#"}] * 9}, "unfolds to more than 20,000 schemas|no text matches"),
    ],
)
def test_refused(schema, message):
    with pytest.raises(PatternError, match=message):
        Constraint.json_schema(T, schema, max_depth=6)


def test_arguments():
    with pytest.raises(TypeError, match=r"schema is a dict, not str: read JSON with json.loads"):
        Constraint.json_schema(T, "{}")
    with pytest.raises(ValueError, match="max_depth is a whole number from 1 up, not 0"):
        Constraint.json_schema(T, {}, max_depth=0)


def test_two_schemas_as_one():
    assert combine({"type": "integer"}, {"type": ["number", "null"]}, "#") == {"type": ["integer"]}
    assert combine({"required": ["a"]}, {"required": ["b", "a"]}, "#") == {"required": ["a", "b"]}
    assert combine(True, {"title": "x"}, "#") == {}
    assert combine(False, {}, "#") is False
    kinds = [{"type": "object", "properties": {"k": {"const": c}}, "required": ["k"]} for c in "ab"]
    assert disjoint(*kinds)
    assert not disjoint(kinds[0], kinds[0])
    assert not disjoint({"const": 1}, {"const": 1.0})
    assert disjoint({"const": 1}, {"const": True})


@pytest.mark.parametrize("canonical", [True, False])
def test_what_is_sampled_is_valid(canonical):
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 8},
            "kind": {"enum": ["low", "lower"]},
            "sizes": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 50}, "maxItems": 3},
            "free": {},
        },
        "required": ["kind", "sizes", "free"],
    }
    constraint = Constraint.json_schema(T, schema, canonical=canonical, max_depth=1)
    validator = jsonschema.Draft202012Validator(schema)
    for seed in range(12):
        ids = sampled(constraint, random.Random(seed))
        text = T.decode(ids)
        validator.validate(json.loads(text))
        assert T.encode(text) == ids or not canonical
