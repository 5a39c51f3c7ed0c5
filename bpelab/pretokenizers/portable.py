r"""Rewrite a split pattern so that Python's engines read it as tiktoken's and Hugging Face's do.

Python's `re` knows no `\p{L}`, its `\s` has four control characters too many, its `$` matches before a last
newline, and `(?i:s)` follows Python's own Unicode version. Each is replaced by what it means, spelled out from the
project's table; then the standard library alone splits exactly. With `keep_properties` the classes stay as they
are, for the `regex` package, which is faster where its newer table agrees.

Chapter: Regex pre-tokenization. Cost: linear in the pattern; an explicit `\p{L}` is some 10 kB long.
"""

import re

from ..errors import PatternError
from .unicode_tables import Ranges, case_variants, class_body, complement, property_ranges

SHORTHANDS = {"s": "White_Space", "d": "Nd", "w": "Word"}
LITERAL_ESCAPES = frozenset("nrtfva")


class NotPortable(PatternError):
    """The pattern uses a construct that has no equivalent in `re`; the `regex` package may still know it."""


class _Rewriter:
    def __init__(self, pattern: str, keep_properties: bool) -> None:
        self.pattern, self.keep, self.at = pattern, keep_properties, 0
        self.properties: set[str] = set()  # the names met on the way

    def peek(self, length: int = 1) -> str:
        return self.pattern[self.at : self.at + length]

    def take(self, length: int = 1) -> str:
        if self.at + length > len(self.pattern):
            raise PatternError(f"{self.pattern!r} ends in the middle of a construct")
        self.at += length
        return self.pattern[self.at - length : self.at]

    def sequence(self, ignore_case: bool) -> str:
        """Everything up to the end of the pattern or of the open group."""
        out: list[str] = []
        while self.at < len(self.pattern) and self.peek() != ")":
            char = self.take()
            if char == "(":
                out.append(self.group(ignore_case))
            elif char == "[":
                out.append(self.char_class(ignore_case))
            elif char == "\\":
                out.append(self.escape(ignore_case, in_class=False))
            elif char == "$":
                out.append(r"\Z")
            elif char in "^.|?*+{}":
                out.append(char)
            else:
                out.append(self.literal(char, ignore_case))
        return "".join(out)

    def group(self, ignore_case: bool) -> str:
        opening = "("
        if self.peek() == "?":
            for prefix in ("?i:", "?-i:", "?:", "?=", "?!", "?<=", "?<!", "?>"):
                if self.peek(len(prefix)) == prefix:
                    self.take(len(prefix))
                    ignore_case = {"?i:": True, "?-i:": False}.get(prefix, ignore_case)
                    opening = "(" + prefix.replace("-", "").replace("i:", ":")
                    break
            else:
                raise NotPortable(f"({self.peek(4)}… at character {self.at} of {self.pattern!r}")
        body = self.sequence(ignore_case)
        if self.at == len(self.pattern):
            raise PatternError(f"{self.pattern!r}: a group is not closed")
        self.take()
        return f"{opening}{body})"

    def literal(self, char: str, ignore_case: bool) -> str:
        variants = case_variants(char) if ignore_case else char
        return re.escape(char) if len(variants) == 1 else f"[{variants}]"

    def named(self, name: str, negated: bool, in_class: bool, original: str) -> str:
        self.properties.add(name)
        if self.keep:
            return original
        ranges: Ranges = property_ranges(name)
        body = class_body(complement(ranges) if negated and in_class else ranges)
        return body if in_class else f"[{'^' if negated else ''}{body}]"

    def escape(self, ignore_case: bool, in_class: bool) -> str:
        char = self.take()
        if char in "pP":
            name = self.take()
            if name == "{":
                end = self.pattern.find("}", self.at)
                if end < 0:
                    raise PatternError(f"{self.pattern!r}: \\p{{ is not closed")
                name = self.take(end - self.at)
                self.take()
            negated = (char == "P") != name.startswith("^")
            if ignore_case and name.lstrip("^")[:2] in ("Lu", "Ll", "Lt"):
                raise NotPortable(f"\\p{{{name}}} inside (?i:…) in {self.pattern!r}")
            return self.named(name.lstrip("^"), negated, in_class, f"\\{char}{{{name}}}")
        if char.lower() in SHORTHANDS:
            return self.named(SHORTHANDS[char.lower()], char.isupper(), in_class, "\\" + char)
        if char == "z" and not in_class:
            return r"\Z"
        if char in LITERAL_ESCAPES:
            return "\\" + char
        if char in "xu":
            digits = {"x": 2, "u": 4}[char]
            if self.peek() == "{":
                raise NotPortable(f"\\{char}{{…}} in {self.pattern!r}")
            return "\\" + char + self.take(digits)
        if char.isalnum():
            raise NotPortable(f"\\{char} in {self.pattern!r}")
        return re.escape(char) if in_class else self.literal(char, ignore_case)

    def char_class(self, ignore_case: bool) -> str:
        out = ["["]
        if self.peek() == "^":
            out.append(self.take())
        first = True
        while (char := self.take()) != "]" or first:
            first = False
            if char == "[" or (char == "&" and self.peek() == "&"):
                raise NotPortable(f"a class inside a class in {self.pattern!r}")
            if char == "\\":
                out.append(self.escape(ignore_case, in_class=True))
            elif char == "-":
                if ignore_case and self.peek() != "]" and len(out) > 1:
                    raise NotPortable(f"a range inside (?i:…) in {self.pattern!r}")
                out.append(char)
            else:
                out.append("".join(map(re.escape, case_variants(char) if ignore_case else char)))
        return "".join(out) + "]"


def portable(pattern: str, keep_properties: bool = False) -> tuple[str, set[str]]:
    r"""`pattern` for Python's engines, and the names of the Unicode properties that it uses.

    >>> portable(r"'(?i:s)|\S+$")[0][:14]
    "'(?:[Ssſ])|[^\\"

    Raises PatternError where the pattern is malformed, and its subclass NotPortable for what `re` can't say.
    """
    rewriter = _Rewriter(pattern, keep_properties)
    text = rewriter.sequence(False)
    if rewriter.at != len(pattern):
        raise PatternError(f"{pattern!r}: unbalanced parenthesis at character {rewriter.at}")
    return text, rewriter.properties
