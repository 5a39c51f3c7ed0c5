r"""Translate a split pattern so that Python's engines match as tiktoken's and Hugging Face's engines do.

Python's `re` has no `\p{L}`, its `\s` has four control characters too many, its `$` also matches before a final
newline, and `(?i:s)` follows Python's own Unicode version. Each is replaced by its meaning, spelled out from the
project's table, so that the standard library alone splits exactly. With `keep_properties` the classes stay unchanged,
for the `regex` package, which is faster where its newer table agrees, and knows more constructs.

Chapter: Regex pre-tokenization. Cost: linear in the pattern; an explicit `\p{L}` is about 10 kB long.
"""

from ..errors import PatternError
from .ast import Alternation, Anchor, Atomic, Backreference, Group, Lookaround, Node, Repeat, Sequence, children
from .charsets import CharSet, Dialect, Property
from .parser import parse


class NotPortable(PatternError):
    """The pattern uses a construct without an equivalent in `re`; the `regex` package may still support it."""


PLACES = {
    "text_start": r"\A",
    "text_end": r"\Z",
    "text_end_or_last_newline": r"(?=\n?\Z)",
    "line_end": r"(?=\n|\Z)",
}


def has_backreference(node: Node) -> bool:
    """Return whether there is a backreference, so that groups have to capture."""
    return isinstance(node, Backreference) or any(has_backreference(child) for child in children(node))


class PatternWriter:
    """Writes a tree as a pattern, and records the properties that it uses."""

    def __init__(self, root: Node, keep_properties: bool, standard: bool) -> None:
        self.standard = standard
        self.keep, self.properties, self.numbers = keep_properties, set[Property](), dict[str, int]()
        self.captures = has_backreference(root)
        self.number(root)

    def number(self, node: Node) -> None:
        """Record the numbers of named groups."""
        if isinstance(node, Group) and node.name:
            self.numbers[node.name] = node.number
        for child in children(node):
            self.number(child)

    def write(self, node: Node) -> str:
        if isinstance(node, CharSet):
            self.properties |= node.properties
            return node.fast if self.keep else node.exact
        if isinstance(node, Sequence):
            return "".join(f"(?:{self.write(p)})" if isinstance(p, Alternation) else self.write(p) for p in node.parts)
        if isinstance(node, Alternation):
            return "|".join(self.write(option) for option in node.options)
        if isinstance(node, Repeat):
            return self.repeated(node)
        if isinstance(node, Atomic):
            return f"(?>{self.write(node.body)})"
        if isinstance(node, Group):
            return f"({'' if self.captures else '?:'}{self.write(node.body)})"
        if isinstance(node, Lookaround):
            return f"(?{'<' if node.behind else ''}{'!' if node.negative else '='}{self.write(node.body)})"
        if isinstance(node, Anchor):
            return self.anchor(node)
        if isinstance(node, Backreference):
            number = node.target if isinstance(node.target, int) else self.numbers[node.target]
            return f"(?:\\{number})"
        if self.standard:
            raise NotPortable(f"Python's re doesn't support {node.text}")
        return node.text

    def repeated(self, node: Repeat) -> str:
        body = self.write(node.body)
        if not isinstance(node.body, CharSet | Group | Atomic):
            body = f"(?:{body})"
        low, high = node.low, node.high
        count = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
        if count is None:
            count = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
        return body + count + {"greedy": "", "lazy": "?", "possessive": "+"}[node.mode]

    def anchor(self, node: Anchor) -> str:
        if node.where == "line_start":
            return r"(?:\A|(?<=\n)(?!\Z))" if node.strict else r"(?:\A|(?<=\n))"
        if node.word is None:
            return PLACES[node.where]
        word = self.write(node.word)
        if node.where == "word":
            return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
        return f"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"


def write(node: Node, keep_properties: bool, standard: bool = False) -> tuple[str, frozenset[Property]]:
    """Write a tree as a pattern for `regex`, or for the `standard` library's `re`; also return the properties it uses.

    Raises NotPortable for a construct that the engine doesn't have.
    """
    writer = PatternWriter(node, keep_properties, standard)
    text = writer.write(node)
    return text, frozenset(writer.properties)


def portable(pattern: str, keep_properties: bool = False, dialect: Dialect = "rust") -> tuple[str, set[str]]:
    r"""Translate `pattern` for Python's engines; also return the Unicode properties it uses, in `regex`'s spelling.

    >>> portable(r"'(?i:s)|\S+$")[0][:14]
    "'[Ssſ]|[^\\u000"
    >>> portable(r"\p{Lu}\S+$", keep_properties=True)[0]
    '\\p{Lu}\\S+\\Z'

    Raises PatternError if the pattern is malformed, and its subclass NotPortable for what `re` can't express.
    """
    text, properties = write(parse(pattern, dialect), keep_properties, not keep_properties)
    return text, {found.source for found in properties}
