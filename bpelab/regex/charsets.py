r"""Character sets of a regular expression (a letter, `\s`, `\p{L}` or `[[:alpha:]]`) and their spellings.

A set has its code points and two spellings: exact (every code point spelled out) and fast (with `\p{L}` unchanged, for
the `regex` package). Engines disagree on details: in Oniguruma `\w` contains ², but `[\w]` doesn't. Their behaviour was
measured, code point by code point. Cost: each property is looked up once per process.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from ..errors import PatternError
from ..unicode.tables import Ranges, class_body, complement, folding_classes, property_ranges, union

Dialect = Literal["rust", "oniguruma"]
"""The syntax of a pattern: that of tiktoken's fancy-regex, or that of Hugging Face's Oniguruma."""

EVERYTHING: Ranges = ((0, 0x10FFFF),)
NEWLINE: Ranges = ((0x0A, 0x0A),)
HEX: Ranges = ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66))
SUPERSCRIPTS: Ranges = ((0xB2, 0xB3), (0xB9, 0xB9), (0xBC, 0xBE))
"""² ³ ¹ ¼ ½ ¾, which are in Oniguruma's `\\w` but not in its `[\\w]`."""
SEPARATORS: Ranges = ((0x2028, 0x2029),)
LONG_NAMES = {
    "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt", "casedletter": "LC",
    "modifierletter": "Lm", "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc",
    "enclosingmark": "Me", "combiningmark": "M", "number": "N", "decimalnumber": "Nd", "letternumber": "Nl",
    "othernumber": "No", "punctuation": "P", "connectorpunctuation": "Pc", "dashpunctuation": "Pd",
    "openpunctuation": "Ps", "closepunctuation": "Pe", "initialpunctuation": "Pi", "finalpunctuation": "Pf",
    "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc", "modifiersymbol": "Sk",
    "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs", "lineseparator": "Zl", "paragraphseparator": "Zp",
    "other": "C", "control": "Cc", "format": "Cf", "surrogate": "Cs", "privateuse": "Co", "unassigned": "Cn",
    "alpha": "Alphabetic", "space": "White_Space", "digit": "Nd", "cntrl": "Cc", "punct": "P",
    "lc": "LC", "whitespace": "White_Space", "alphabetic": "Alphabetic",
}  # fmt: skip


def _hexadecimal(spans: str) -> Ranges:
    ends = (span.split("-") for span in spans.split())
    return tuple((int(pair[0], 16), int(pair[-1], 16)) for pair in ends)


OTHER_UPPERCASE = _hexadecimal("2160-216F 24B6-24CF 1F130-1F149 1F150-1F169 1F170-1F189")
OTHER_LOWERCASE = _hexadecimal(
    "AA BA 2B0-2B8 2C0-2C1 2E0-2E4 345 37A 10FC 1D2C-1D6A 1D78 1D9B-1DBF 2071 207F 2090-209C 2170-217F 24D0-24E9 "
    "2C7C-2C7D A69C-A69D A770 A7F2-A7F4 A7F8-A7F9 AB5C-AB5F AB69 10780 10783-10785 10787-107B0 107B2-107BA 1E030-1E06D"
)
"""Upper and lower case characters that are not Lu or Ll (`PropList.txt`, Unicode 16.0.0)."""
ASCII_POSIX: dict[str, Ranges] = {
    "alpha": ((65, 90), (97, 122)), "digit": ((48, 57),), "alnum": ((48, 57), (65, 90), (97, 122)),
    "upper": ((65, 90),), "lower": ((97, 122),), "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)), "cntrl": ((0, 31), (127, 127)), "graph": ((33, 126),), "print": ((32, 126),),
    "xdigit": HEX, "blank": ((9, 9), (32, 32)), "ascii": ((0, 127),), "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
}  # fmt: skip


class Property(NamedTuple):
    """A set that has a spelling in `regex`, with its code points from the project's own table."""

    source: str
    ranges: Ranges


@dataclass(frozen=True)
class CharSet:
    """A set of characters. `parts` is the exact spelling: text to copy, ranges to write out."""

    ranges: Ranges
    fast: str
    parts: tuple[str | Ranges, ...]
    negated: bool = False
    bare: bool = False  # `parts` is a single text that needs no brackets
    properties: frozenset[Property] = frozenset()

    @property
    def exact(self) -> str:
        """The set with every code point spelled out, for `re`."""
        body = "".join(part if isinstance(part, str) else class_body(part) for part in self.parts)
        return body if self.bare else f"[{'^' if self.negated else ''}{body}]"


def intersection(one: Ranges, other: Ranges) -> Ranges:
    """Return the code points in both ranges."""
    return complement(union(complement(one), complement(other)))


def from_ranges(ranges: Ranges) -> CharSet:
    """Return the set of these code points, with only the exact spelling."""
    text = f"[{class_body(ranges)}]" if ranges else r"[^\x00-\U0010ffff]"
    return CharSet(ranges, text, (text,), bare=True)


def escaped(code_point: int) -> str:
    """Escape a character for use in a pattern, inside or outside a class."""
    return f"\\x{code_point:02x}" if code_point < 32 else re.escape(chr(code_point))


def literal(code_point: int, ignore_case: bool) -> CharSet:
    """Return the set of one character, plus, with `ignore_case`, those that simple case folding makes equal to it."""
    variants = folding_classes().get(code_point, (code_point,)) if ignore_case else (code_point,)
    text = "".join(map(escaped, variants))
    text = text if len(variants) == 1 else f"[{text}]"
    return CharSet(tuple((v, v) for v in variants), text, (text,), bare=True)


def from_property(unicode_property: Property, negated: bool) -> CharSet:
    """Return the set of a property outside a class."""
    ranges = complement(unicode_property.ranges) if negated else unicode_property.ranges
    return CharSet(
        ranges,
        spelled(unicode_property, negated),
        (unicode_property.ranges,),
        negated,
        properties=frozenset([unicode_property]),
    )


def spelled(unicode_property: Property, negated: bool, in_class: bool = False) -> str:
    r"""Spell a property for the `regex` package: `\p{L}` or, negated, `\P{L}`; in a class without brackets."""
    if unicode_property.source.startswith("["):
        if in_class:
            return class_body(complement(unicode_property.ranges) if negated else unicode_property.ranges)
        return "[^" + unicode_property.source[1:] if negated else unicode_property.source
    return (
        unicode_property.source[0] + unicode_property.source[1].swapcase() + unicode_property.source[2:]
        if negated
        else unicode_property.source
    )


@lru_cache(64)
def folded(ranges: Ranges) -> Ranges:
    """Return `ranges` closed under simple case folding. Cost: 2 ms."""
    starts, extra = list(ranges), set[int]()
    at = 0
    for code_point, group in sorted(folding_classes().items()):
        while at < len(starts) and starts[at][1] < code_point:
            at += 1
        if at < len(starts) and starts[at][0] <= code_point:
            extra.update(group)
    return union(ranges, tuple((code_point, code_point) for code_point in extra))


@lru_cache(256)
def find_property(name: str, dialect: Dialect, in_class: bool = False) -> Property:
    r"""Return the property `\p{name}`. `in_class` says whether it is inside brackets.

    Raises PatternError if the table doesn't have the name.
    """
    simple = re.sub(r"[\s_-]", "", name).lower()
    if "=" in name and dialect == "rust":
        simple = simple.partition("=")[2]
    special = _special_property(simple, dialect, in_class)
    if special is not None:
        return Property(f"[{class_body(special)}]", special) if simple != "word" else Property(r"\w", special)
    canonical = LONG_NAMES.get(simple)
    plain = name.partition("=")[2] if "=" in name and dialect == "rust" else name
    candidates = [canonical] if canonical else [plain, plain.strip().replace(" ", "_").title()]
    candidates += [simple.capitalize()] if len(simple) <= 2 else []
    for candidate in candidates:
        try:
            ranges = property_ranges(candidate)
        except PatternError:
            continue
        return Property({"White_Space": r"\s", "Nd": r"\d"}.get(candidate, rf"\p{{{candidate}}}"), ranges)
    raise PatternError(f"\\p{{{name}}}: no such category, script or property in the Unicode table of bpelab")


def _special_property(simple: str, dialect: Dialect, in_class: bool) -> Ranges | None:
    if simple == "any":
        return EVERYTHING
    if simple in {"ascii", "xdigit", "ahex", "asciihexdigit"}:
        return HEX if simple[1] != "s" or simple.endswith("t") else ASCII_POSIX["ascii"]
    if simple in {"alnum", "upper", "lower", "uppercase", "lowercase", "blank", "lc", "assigned"}:
        return _unions()[simple]
    if simple == "word":
        return _word(dialect, in_class)
    if simple in {"graph", "print"} and dialect == "oniguruma":
        return _unions()[simple]
    return None


@lru_cache(1)
def _unions() -> dict[str, Ranges]:
    p = property_ranges
    upper, lower = union(p("Lu"), OTHER_UPPERCASE), union(p("Ll"), OTHER_LOWERCASE)
    return {
        "alnum": union(p("Alphabetic"), p("Nd")), "upper": upper, "lower": lower, "uppercase": upper,
        "lowercase": lower, "blank": union(p("Zs"), ((9, 9),)), "lc": union(p("Lu"), p("Ll"), p("Lt")),
        "assigned": complement(p("Cn")), "graph": complement(union(p("Cc"), p("Cn"), p("White_Space"), p("Cs"))),
        "print": complement(union(p("Cc"), p("Cn"), p("Cs"))), "punct": union(p("P"), p("S")),
    }  # fmt: skip


def _word(dialect: Dialect, in_class: bool) -> Ranges:
    if dialect == "rust":
        return property_ranges("Word")
    word = union(*map(property_ranges, ("Alphabetic", "M", "Nd", "Pc")))
    return word if in_class else union(word, SUPERSCRIPTS)


def shorthand(letter: str, dialect: Dialect, in_class: bool) -> Property:
    r"""Return `\s`, `\d`, `\w` or `\h` (a hexadecimal digit), given its letter in lower case."""
    if letter == "w":
        return Property(r"\w", _word(dialect, in_class))
    if letter == "h":
        return Property(r"[0-9A-Fa-f]", HEX)
    return Property("\\" + letter, property_ranges({"s": "White_Space", "d": "Nd"}[letter]))


def posix(name: str, dialect: Dialect) -> Property | None:
    """Return `[:name:]`, only ASCII in Rust, all of Unicode in Oniguruma; None for an unknown name."""
    if name not in ASCII_POSIX:
        return None
    if dialect == "oniguruma" and name not in {"ascii", "xdigit", "print", "punct"}:
        return find_property(name, dialect, True)
    ranges = ASCII_POSIX[name]
    if dialect == "oniguruma" and name == "print":
        ranges = intersection(_unions()["print"], complement(SEPARATORS))
    elif dialect == "oniguruma" and name == "punct":
        ranges = _unions()["punct"]
    return Property(f"[{class_body(ranges)}]", ranges)
