"""Visible labels of tokens: spaces, line ends, invisible characters and lone bytes are shown as signs.

A label is a list of [kind, text] parts, which Python writes into the still and JavaScript into the figure:
"" is plain text, "s" a space (·) or a tab (→), "n" a line feed (⏎), "u" an invisible character (U+200B), and
"x" a byte that is not a whole character (E2).
"""

from collections.abc import Iterable, Mapping
from html import escape

from ..unicode.tables import category

Part = list[str]

HIDDEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that are invisible although their category is that of a letter, a mark or a symbol."""


def visible(token: bytes) -> list[Part]:
    """Return the label of a token.

    >>> visible(b" low\\n"), visible("\\u200bé".encode()[:4])
    ([['s', '·'], ['', 'low'], ['n', '⏎']], [['u', 'U+200B'], ['x', 'C3']])
    """
    parts: list[Part] = []

    def add(kind: str, text: str) -> None:
        if parts and parts[-1][0] == kind and kind in ("", "s", "n"):
            parts[-1][1] += text
        else:
            parts.append([kind, text])

    rest = token
    while rest:
        try:
            text, broken, rest = rest.decode(), b"", b""
        except UnicodeDecodeError as error:
            text = rest[: error.start].decode()
            broken, rest = rest[error.start : error.end], rest[error.end :]
        for char in text:
            if char in " \t\n":
                add("n" if char == "\n" else "s", {" ": "·", "\t": "→", "\n": "⏎"}[char])
            elif _shows(char, after_text=bool(parts) and parts[-1][0] == ""):
                add("", char)
            else:
                add("u", f"U+{ord(char):04X}")
        for byte in broken:
            add("x", f"{byte:02X}")
    return parts


def _shows(char: str, after_text: bool) -> bool:
    kind = category(char)
    if kind[0] == "M":  # a mark needs a base character
        return after_text and char not in HIDDEN
    return kind[0] not in "CZ" and char not in HIDDEN


def plain_label(token: bytes) -> str:
    """Return the label of a token as one string.

    >>> plain_label("\\u200b a".encode()), plain_label(b"\\xe2\\x98")
    ('[U+200B]·a', '[E2][98]')
    """
    return label_text(visible(token))


def label_text(parts: Iterable[Part]) -> str:
    """Return a label as one string.

    >>> label_text([["s", "·"], ["x", "E2"]])
    '·[E2]'
    """
    return "".join(f"[{text}]" if kind in ("u", "x") else text for kind, text in parts)


def quoted(token: bytes, max_chars: int = 40) -> str:
    """Return the label in quotation marks, for a sentence; the middle of a long one is left out.

    >>> quoted(b" low")
    '“·low”'
    """
    label = plain_label(token)
    return f"“{label}”" if len(label) <= max_chars else f"“{label[: max_chars // 2]}…{label[-max_chars // 4 :]}”"


def labels(tokens: Mapping[int, bytes], ids: Iterable[int]) -> dict[str, list[Part]]:
    """Return id -> label for the ids used; keys are strings, as in JSON."""
    return {str(token_id): visible(tokens[token_id]) for token_id in sorted(set(ids))}


def chips(tokens: Iterable[bytes], max_count: int = 400) -> str:
    """Return tokens as HTML for a still, each in a <code>, with a note if there are more than `max_count`.

    >>> chips([b"lo", b"<w"])
    '<code>lo</code> <code>&lt;w</code>'
    """
    all_tokens = list(tokens)
    rest = f" and {len(all_tokens) - max_count:,} more" if len(all_tokens) > max_count else ""
    return " ".join(f"<code>{escape(plain_label(token))}</code>" for token in all_tokens[:max_count]) + rest


def html_table(head: Iterable[object], rows: Iterable[Iterable[object]], css_class: str | None = "bl-table") -> str:
    """Return a table, whose cells are HTML.

    >>> html_table(["id", "token"], [[256, "<code>lo</code>"]], None)
    '<table><tr><th>id</th><th>token</th></tr><tr><td>256</td><td><code>lo</code></td></tr></table>'
    """

    def line(cells: Iterable[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    attribute = f' class="{css_class}"' if css_class else ""
    return f"<table{attribute}>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> pluralize(1, "byte"), pluralize(2000, "byte")
    ('1 byte', '2,000 bytes')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
