r"""Write a split pattern of tiktoken's dialect in Oniguruma's, which Hugging Face's engine reads.

Most patterns mean the same in both and stay as they are. In Oniguruma `$` is the end of a line, `{1,3}+` repeats a
repetition, `\w` and `\b` know other characters than in Rust, and `[[:alpha:]]` isn't ASCII alone. A pattern that holds
one of these is written anew from its syntax tree.

Chapter: Regex pre-tokenization. Cost: linear in the pattern.
"""

import re

from ..errors import ConversionError, PatternError
from ..unicode.tables import Ranges, complement
from .ast import Anchor, Node, Repeat
from .charsets import CharSet, intersection
from .dfa import NotRegular, dfa_for
from .equivalence import PatternDifference, compare_patterns
from .parser import parse
from .translate import PatternWriter

SURROGATES: Ranges = ((0xD800, 0xDFFF),)
JOINERS = r"\u200c\u200d"
r"""The characters of Rust's `\w` that Oniguruma's `[\w]` lacks."""
PLACES = {
    "text_start": r"\A",
    "text_end": r"\z",
    "text_end_or_last_newline": r"(?=\n?\z)",
    "line_start": r"(?:\A|(?<=\n))",
    "line_end": r"(?=\n|\z)",
}


def oniguruma_spelling(pattern: str) -> str:
    r"""Return a pattern that cuts every text in Oniguruma as `pattern` does in tiktoken's engine.

    >>> oniguruma_spelling(r"\p{L}+|\s+(?!\S)"), oniguruma_spelling(r"\w{1,3}+|\s+$")
    ('\\p{L}+|\\s+(?!\\S)', '(?>[\\w\\u200c\\u200d]{1,3})|\\s+\\z')

    Raises ConversionError if there is none, and PatternError if the pattern is malformed.
    """
    tree = parse(pattern, "rust")
    try:
        unchanged = parse(pattern, "oniguruma") == tree
    except PatternError:
        unchanged = False
    spelling = pattern if unchanged else _OnigurumaWriter(tree).write(tree)
    if r"\G" in re.findall(r"\\.", spelling, re.DOTALL):
        raise ConversionError(f"the pattern {pattern!r} holds \\G, which means something else in Hugging Face's engine")
    if (difference := _empty_matches_cut(pattern, spelling)) is not None:
        raise ConversionError(
            f"the pattern {pattern!r} can match nothing, where Hugging Face's engine cuts and tiktoken's doesn't: "
            f"{difference}"
        )
    return spelling


def _empty_matches_cut(pattern: str, spelling: str) -> PatternDifference | None:
    """Return a text that the pattern's empty matches cut in Hugging Face's engine, or None."""
    try:
        dfa = dfa_for(pattern, "rust")
        starts = [dfa.trans[entry * dfa.width : (entry + 1) * dfa.width] for entry in set(dfa.entries)]
        matches_empty = any(step & 1 for start in starts for step in start)
        return compare_patterns(pattern, spelling, "rust", "oniguruma") if matches_empty else None
    except NotRegular:
        return None


class _OnigurumaWriter(PatternWriter):
    """Writes a tree in Oniguruma's syntax."""

    def __init__(self, root: Node) -> None:
        super().__init__(root, keep_properties=True, standard=False)

    def write(self, node: Node) -> str:
        return _set(node) if isinstance(node, CharSet) else super().write(node)

    def repeated(self, node: Repeat) -> str:
        counted = (node.low, node.high) not in {(0, None), (1, None), (0, 1)}
        if counted and node.mode == "possessive":
            return f"(?>{super().repeated(Repeat(node.body, node.low, node.high))})"
        if node.low == node.high:  # as lazy as it is greedy, and in Oniguruma `{2}?` is optional
            return super().repeated(Repeat(node.body, node.low, node.high))
        return super().repeated(node)

    def anchor(self, node: Anchor) -> str:
        return PLACES[node.where] if node.word is None else super().anchor(node)


def _set(chars: CharSet) -> str:
    r"""Return the set in its own spelling, or with the joiners in its `\w`, or with every code point spelled out."""
    words = {r"\w": rf"[\w{JOINERS}]", r"\W": rf"[^\w{JOINERS}]"}
    for text in (chars.fast, words.get(chars.fast, chars.fast.replace(r"\w", rf"\w{JOINERS}"))):
        try:
            node = parse(text, "oniguruma")
        except PatternError:
            continue
        if isinstance(node, CharSet) and node.ranges == chars.ranges:
            return text
    return _spelled_out(chars.ranges)


def _spelled_out(ranges: Ranges) -> str:
    others = intersection(complement(ranges), complement(SURROGATES))
    members = intersection(ranges, complement(SURROGATES))
    if not others or not members:
        return r"[\s\S]" if members else r"[^\s\S]"
    negated = len(others) < len(members)
    body = "".join(
        _escaped(first) if first == last else f"{_escaped(first)}-{_escaped(last)}"
        for first, last in (others if negated else members)
    )
    return f"[^{body}]" if negated else f"[{body}]"


def _escaped(code_point: int) -> str:
    return f"\\u{code_point:04x}" if code_point <= 0xFFFF else f"\\x{{{code_point:x}}}"
