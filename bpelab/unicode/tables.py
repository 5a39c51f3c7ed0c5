"""Unicode properties from the project's own table, so that ids don't depend on the running Python's version.

Which characters are letters changes with every Unicode version. The table in `data/unicode.txt` is that of
Unicode 16.0.0, the version of tiktoken's and Hugging Face's engines; `tools/make_unicode_table.py` writes it.

Chapter: Regex pre-tokenization. Cost: the file is read once, on first use (about 5 ms).
"""

from bisect import bisect_right
from collections import defaultdict
from functools import lru_cache

from ..data import FOLDER
from ..errors import PatternError

MAX_CODE_POINT = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]
"""Code points as inclusive (first, last) pairs, in ascending order, with gaps between them."""


def parse_ranges(text: str) -> Ranges:
    """Parse a list of code points in hexadecimal.

    >>> parse_ranges("41-5A AA")
    ((65, 90), (170, 170))
    """
    pairs = (span.partition("-") for span in text.split())
    return tuple((int(first, 16), int(last or first, 16)) for first, _, last in pairs)


@lru_cache(1)
def unicode_table() -> tuple[str, dict[str, dict[str, Ranges]], dict[int, int]]:
    """Read the table: (version, kind -> name -> ranges, simple case folding)."""
    lines = (FOLDER / "unicode.txt").read_text(encoding="utf-8").splitlines()
    version = lines[0].split()[2].rstrip(";")
    properties: dict[str, dict[str, Ranges]] = {"gc": {}, "sc": {}, "bin": {}}
    fold: dict[int, int] = {}
    for line in lines[1:]:
        kind, _, rest = line.partition(" ")
        if kind == "fold":
            fold = {int(a, 16): int(b, 16) for a, _, b in (pair.partition(":") for pair in rest.split())}
        else:
            name, _, spans = rest.partition(" ")
            properties[kind][name] = parse_ranges(spans)
    return version, properties, fold


def unicode_version() -> str:
    """Return the Unicode version of the table.

    >>> unicode_version()
    '16.0.0'
    """
    return unicode_table()[0]


def union(*parts: Ranges) -> Ranges:
    """Return the code points in any of `parts`."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(span for part in parts for span in part):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """Return the code points in none of `ranges`."""
    gaps, start = [], 0
    for first, last in ranges:
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    if start <= MAX_CODE_POINT:
        gaps.append((start, MAX_CODE_POINT))
    return tuple(gaps)


def without(ranges: Ranges, removed: Ranges) -> Ranges:
    """Return the code points of `ranges` that are not in `removed`."""
    return complement(union(complement(ranges), removed))


@lru_cache(None)
def property_ranges(name: str) -> Ranges:
    r"""Return the code points that `\p{name}` matches: a category (`Lu`, `L`), a script (`Han`), or a binary property.

    The names for `\s`, `\d` and `\w` are `White_Space`, `Nd` and `Word`.

    >>> property_ranges("White_Space")[:3]
    ((9, 13), (32, 32), (133, 133))

    Raises PatternError if the table doesn't have the name.
    """
    _, properties, _ = unicode_table()
    categories = properties["gc"]
    name = name.replace("Script=", "").replace("sc=", "").replace(" ", "_")
    if name in categories:
        return categories[name]
    if name == "Cn":
        return complement(union(*categories.values()))
    if name in {"L", "M", "N", "P", "S", "Z", "C"}:
        parts = [ranges for short, ranges in categories.items() if short[0] == name]
        return union(*parts, *([property_ranges("Cn")] if name == "C" else []))
    if name == "Word":
        return union(*(property_ranges(part) for part in ("Alphabetic", "M", "Nd", "Pc", "Join_Control")))
    for kind in ("bin", "sc"):
        if name in properties[kind]:
            return properties[kind][name]
    raise PatternError(f"\\p{{{name}}}: no such category, script or property in the Unicode table of bpelab")


@lru_cache(1)
def folding_classes() -> dict[int, tuple[int, ...]]:
    """Return a dict from code points to those that simple case folding makes equal to them, including themselves."""
    classes: dict[int, set[int]] = defaultdict(set)
    for code_point, folded in unicode_table()[2].items():
        classes[folded] |= {code_point, folded}
    return {member: tuple(sorted(group)) for group in classes.values() for member in group}


@lru_cache(1)
def _category_runs() -> tuple[list[int], list[str]]:
    runs = sorted((first, name) for name, ranges in unicode_table()[1]["gc"].items() for first, _ in ranges)
    runs += [(first, "Cn") for first, _ in property_ranges("Cn")]
    runs.sort()
    return [first for first, _ in runs], [name for _, name in runs]


def category(char: str) -> str:
    """Return the general category of a character, as `unicodedata.category`, in the table's Unicode version.

    >>> category("a"), category("\\U00011380"), category("\\u0378")
    ('Ll', 'Lo', 'Cn')
    """
    starts, names = _category_runs()
    return names[bisect_right(starts, ord(char)) - 1]


def class_body(ranges: Ranges) -> str:
    """Return `ranges` as the body of a regular expression's character class."""

    def escape(code_point: int) -> str:
        return f"\\U{code_point:08x}" if code_point > 0xFFFF else f"\\u{code_point:04x}"

    return "".join(escape(a) if a == b else f"{escape(a)}-{escape(b)}" for a, b in ranges)
