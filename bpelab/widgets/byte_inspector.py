"""A text's code points, their bytes in three encodings, and its normal forms. Chapter: Text is bytes."""

import unicodedata
from html import escape
from typing import Any

from ..normalizers import FORMS
from ..unicode.tables import category
from .base import Figure
from .visible import html_table, plain_label, pluralize, visible

CATEGORIES = {
    "Lu": "letter, uppercase", "Ll": "letter, lowercase", "Lt": "letter, titlecase", "Lm": "letter, modifier",
    "Lo": "letter, other", "Mn": "mark, takes no room", "Mc": "mark, takes room", "Me": "mark, enclosing",
    "Nd": "number, digit", "Nl": "number, letter", "No": "number, other", "Pc": "punctuation, connector",
    "Pd": "punctuation, dash", "Ps": "punctuation, open", "Pe": "punctuation, close", "Pi": "punctuation, first quote",
    "Pf": "punctuation, last quote", "Po": "punctuation, other", "Sm": "symbol, mathematical", "Sc": "symbol, currency",
    "Sk": "symbol, modifier", "So": "symbol, other", "Zs": "separator, space", "Zl": "separator, line",
    "Zp": "separator, paragraph", "Cc": "control", "Cf": "format", "Cs": "surrogate", "Co": "private use",
    "Cn": "not assigned",
}  # fmt: skip
CONTROLS = {0: "null", 8: "backspace", 9: "tab", 10: "line feed", 13: "carriage return", 27: "escape", 127: "delete"}
LEAD_BITS = {1: "0", 2: "110", 3: "1110", 4: "11110"}
"""The bits that mark the first byte of a character in UTF-8, by the character's size in bytes."""


class ByteInspector(Figure):
    """The code points of `text`: names, categories, bytes in UTF-8, UTF-16 and UTF-32, and the four normal forms.

    Categories come from the project's own table, and names from Python's, which may be older. Shows 100 characters.

    >>> inspector = ByteInspector("é")
    >>> inspector.data["characters"][0]["bits"]
    [['110', '00011'], ['10', '101001']]
    >>> [(form["name"], form["bytes"], form["same"]) for form in inspector.data["forms"]]
    [('NFC', 2, True), ('NFD', 3, False), ('NFKC', 2, True), ('NFKD', 3, False)]
    """

    name = "byte_inspector"
    limit = 100

    def __init__(self, text: str) -> None:
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return a row for each code point, and one for each normal form."""
        characters = [_row(char) for char in text]
        forms = []
        for name in FORMS:
            form = unicodedata.normalize(name, text)
            shown, size = form[: self.limit], len(form.encode())
            entry = {"name": name, "label": visible(shown.encode()), "characters": len(form), "bytes": size}
            forms.append({**entry, "same": form == text, "cut": len(form) > len(shown)})
        sizes = [len(text.encode()), len(text.encode("utf-16-le")), len(text.encode("utf-32-le"))]
        say = f"{pluralize(len(text), 'code point')}: {pluralize(sizes[0], 'byte')} in UTF-8, "
        say += f"{sizes[1]:,} in UTF-16, {sizes[2]:,} in UTF-32."
        return {"characters": characters, "forms": forms, "say": say if text else "No text, so no code points."}

    def still(self, data: dict[str, Any]) -> str:
        """Return the two tables."""
        cells = []
        for char, row in zip(self.text, data["characters"]):
            coded = [" ".join(row["utf8"]), " ".join(row["utf16"])]
            cells.append([plain_label(char.encode()), row["code"], row["name"], row["category"], *coded])
        head = ["", "code point", "name", "category", "UTF-8", "UTF-16"]
        forms = [
            [form["name"], "same" if form["same"] else "differs", f"{form['characters']:,}", f"{form['bytes']:,}"]
            for form in data["forms"]
        ]
        first = html_table(head, (map(escape, row) for row in cells), None) if cells else ""
        names = ("normal form", "text", "code points", "bytes in UTF-8")
        second = html_table(names, (map(escape, row) for row in forms), None)
        return f"<p>{escape(data['say'])}</p>\n{first}\n{second}"


def _row(char: str) -> dict[str, Any]:
    code, short = ord(char), category(char)
    data = char.encode()
    lead = LEAD_BITS[len(data)]
    marks = [lead, *["10"] * (len(data) - 1)]
    units = char.encode("utf-16-be").hex().upper()
    return {
        "label": visible(data),
        "code": f"U+{code:04X}",
        "name": unicodedata.name(char, CONTROLS.get(code, "no name")).lower(),
        "category": f"{short}, {CATEGORIES[short]}",
        "utf8": [f"{byte:02X}" for byte in data],
        "bits": [[mark, f"{byte:08b}"[len(mark) :]] for mark, byte in zip(marks, data)],
        "utf16": [units[offset : offset + 4] for offset in range(0, len(units), 4)],
        "utf32": f"{code:08X}",
    }
