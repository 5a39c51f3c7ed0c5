"""Templates that share, hash, copy and widen what they have, as found by hand and by chance; each is an error or short.

A list that holds another one twice, and that one a third twice, is small in memory and endless when it is walked.
"""

import random

SHARING = {
    "lists": ("[]", "[{0}, {0}]"),
    "tuples": ("()", "({0}, {0})"),
    "dicts": ("{{}}", "{{'a': {0}, 'b': {0}}}"),
    "mixed": ("()", "[{0}, {{'a': ({0},)}}]"),
}


def shared(kind: str, levels: int) -> str:
    """What makes `ns.x` and its equal `ns.y` of as many levels."""
    empty, grow = SHARING[kind]
    names = ("ns.x", "ns.y")
    empty, grown = empty.format(), "".join(f"{{% set {name} = {grow.format(name)} %}}" for name in names)
    return f"{{% set ns = namespace(x={empty}, y={empty}) %}}{{% for i in range({levels}) %}}{grown}{{% endfor %}}"


LISTS, TUPLES = shared("lists", 50), shared("tuples", 50)
KEPT = "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l, VALUE] %}{% endfor %}"
NESTED = "{% set ns = namespace(x=range(99999) | list) %}{% for i in range(190) %}{% set ns.x = [ns.x] %}{% endfor %}"
LONG = "{% set x = 'a' * 1000000 %}"
COLLIDING = "range(0, 99999 * (2 ** 61 - 1), 2 ** 61 - 1)"  # numbers with the same hash
FOUND = {
    "string": LISTS + "{{ ns.x | string }}",
    "trim": LISTS + "{{ ns.x | trim }}",
    "map string": LISTS + "{{ [ns.x] | map('string') | list | length }}",
    "lower": LISTS + "{{ ns.x is lower }}",
    "filter": TUPLES + "{{ ns.x is filter }}",
    "refusal": LISTS + "{{ raise_exception(ns) }}",
    "item of a number": LISTS + "{{ 5[ns.x].foo }}",
    "item of a loop": LISTS + "{% for i in [1] %}{{ loop[ns.x].foo }}{% endfor %}",
    "views subtracted": TUPLES + "{{ {'a': ns.x}.items() - {}.items() }}",
    "generator sorted": LISTS + "{{ [ns.x, ns.y] | map('default') | sort | list | length }}",
    "generator, least": LISTS + "{{ [ns.x, ns.y] | map('default') | min | length }}",
    "generator, unique": TUPLES + "{{ [ns.x] | map('default') | unique | list | length }}",
    "generator searched": shared("lists", 15) + "{{ ns.x in ([[ns.y, 1]] * 9999) | map('first') }}",
    "one hash, unique": f"{{{{ {COLLIDING} | unique | list | length }}}}",
    "one hash, keys": f"{{{{ dict({COLLIDING} | batch(2)) | length }}}}",
    "number centred": "{{ 5 | center(10**9) | length }}",
    "list as a format": "{{ ['%999999999d'] | format(1) | length }}",
    "wide by key": "{{ ('%(x)9999d' * 99999) % {'x': 1} }}",
    "negative indent": "{{ range(9999) | list | tojson(indent=-999999, separators=('a' * 999999, ':')) | length }}",
    "deep indent": NESTED + "{{ ns.x | tojson(indent=16) | length }}",
    "pretty": NESTED + "{{ ns.x | pprint | length }}",
    "slices": LONG + KEPT.replace("VALUE", "x[1:]"),
    "capitals": LONG + KEPT.replace("VALUE", "x.upper()"),
    "literals": KEPT.replace("VALUE", "0" + ", 0" * 30_000),
    "batches": "{{ ([[1]] * 99999) | map('batch', 10000, 'x') | map('list') | list | length }}",
    "numbers": "{% set x = 2 ** 8000 %}" + KEPT.replace("VALUE", "x - i"),
}

ATOMS = ["ns.x", "ns.y", "ns", "[ns.x]", "(ns.x, ns.y)", "{'k': ns.x}", "{'k': ns.x}.items()", "[[ns.x, 1]] * 999"]
ATOMS += ["[{'a': ns.x}, {'a': ns.y}]", "'x' * 99999", "range(9999)", COLLIDING, "7", "'{0}%s%(a)s'", "nothing"]
FILTERS = ["string", "trim", "list", "first", "last", "sort", "unique", "min", "max", "length", "tojson", "upper"]
FILTERS += ["map('default')", "map('string')", "map('list')", "map(attribute='a')", "select", "reject('none')"]
FILTERS += ["selectattr('a')", "groupby('a')", "sort(attribute='a')", "unique(attribute='a')", "join(', ')", "items"]
FILTERS += ["dictsort", "reverse", "batch(3)", "slice(3)", "default(ns.x)", "replace('x', ns.x)", "format(ns.x)"]
FILTERS += ["center(9999)", "truncate(9)", "wordwrap(9)", "indent", "safe", "urlencode", "sum", "sum(attribute='a')"]
FILTERS += [
    "tojson(indent=9)",
    "map('tojson')",
    "select('eq', ns.y)",
    "select('in', [ns.y])",
    "attr('a')",
    "int",
    "abs",
]
ENDS = ["", " == ns.y", " < ns.y", " in [ns.y]", " in ns", " is lower", " is eq ns.y", " is in [ns.y]", " is filter"]
ENDS += [" ~ ns.x", " + [ns.x]", " * 9", " % ns.x", " - ns.y", "[ns.x]", "[0]", "[::-1]", ".items()", ".index(ns.y)"]
ENDS += [".count(ns.y)", ".get(ns.x)", ".join(ns.x)", ".format(ns.x)", ".keys() - {}.keys()", " is sameas ns.y"]
FRAMES = ["{{ VALUE }}", "{% if VALUE %}1{% endif %}", "{% for v in VALUE %}{{ v }}{% endfor %}", "{{ {VALUE: 1} }}"]
FRAMES += ["{{ raise_exception(VALUE) }}", "{{ dict(VALUE) }}", "{{ cycler(VALUE).next() }}", "{{ '%s' % (VALUE,) }}"]
FRAMES += ["{% macro m(v) %}{{ v }}{% endmacro %}{{ m(VALUE) }}", "{% set v = VALUE %}{{ v | length }}"]
FRAMES += [
    "{% for i in [1, 2] %}{{ loop.changed(VALUE) }}{% endfor %}",
    "{{ namespace(VALUE) }}",
    "{{ joiner(VALUE)() }}",
]


def hostile(rng: random.Random) -> str:
    """A template at random."""
    value = rng.choice(ATOMS)
    for _ in range(rng.randrange(4)):
        value = f"({value}) | {rng.choice(FILTERS)}"
    value = f"({value}){rng.choice(ENDS)}"
    return shared(rng.choice(list(SHARING)), rng.choice((3, 12, 16, 50))) + rng.choice(FRAMES).replace("VALUE", value)
