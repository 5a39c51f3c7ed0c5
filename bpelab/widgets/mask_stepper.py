"""How masks cut a text: each class of characters is a row of bits, and rules turn the rows into the starts of pieces.

Chapter: Native code.
"""

from html import escape
from typing import Any

from ..regex.bit_rules import in_ascii, masks_of, rules, starts
from ..regex.dfa import dfa_for
from ..regex.pattern_families import Family, family_of
from ..regex.patterns import PATTERNS
from .base import Figure
from .visible import plain_label, pluralize, quoted, visible

BLOCK = 64
"""Characters in a block: one for each bit of a processor's integer."""


class MaskStepper(Figure):
    """The first 64 characters of `text` as a block: the mask of each class, then each rule for where a piece starts.

    `pattern` is the name of a split pattern that has such rules. Masks and starts come from `bpelab.regex.bit_rules`;
    the C code does the same with 64 bits at a time.

    Raises ValueError if the pattern has no rules.

    >>> figure = MaskStepper("It's 2026.", "cl100k")
    >>> [(row["name"], row["bits"]) for row in figure.data["rows"]][:2]
    [('letters', '1101000000'), ('digits', '0000011110')]
    >>> figure.data["say"]
    "The block has 6 pieces: “It”, “'s”, “·”, “202”, “6”, “.”."
    """

    name = "mask_stepper"
    limit = BLOCK

    def __init__(self, text: str, pattern: str = "cl100k") -> None:
        self._dfa = dfa_for(PATTERNS[pattern].regex)
        family = family_of(self._dfa)
        if family is None:
            raise ValueError(f"the pattern {pattern!r} has no rules for masks; cl100k, o200k and gpt2 have")
        self._family = family
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the characters, a row of bits and a sentence for each step, and the pieces that are certain."""
        covered = in_ascii(text, self._dfa).partition("\x80")[0]  # up to a character whose class has no mask
        rows = _rows(covered, self._family) if covered else []
        pieces = _pieces(text, covered, self._family) if covered else []
        rest = text[sum(map(len, pieces)) :]
        labels = ", ".join(quoted(piece.encode(), 16) for piece in pieces)
        if not rows:
            say = "Nothing here has a mask." if text else "No text, so no masks."
        elif pieces:
            say = f"The block has {pluralize(len(pieces), 'piece')}: {labels}."
        else:
            say = "No piece is certain yet."
        if rows and rest:
            say += f" The next block begins with {quoted(rest.encode(), 16)}, which may go on."
        return {
            "chars": [visible(char.encode()) for char in text],
            "rows": rows,
            "pieces": [visible(piece.encode()) for piece in pieces],
            "begin": f"{pluralize(len(text), 'character')}, and no mask yet." if rows else say,
            "say": say,
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the pieces and the masks."""
        text = "".join(label if len(label := plain_label(char.encode())) == 1 else "?" for char in self.text)
        rows = [("text", escape(text)), *((row["name"], row["bits"].replace("0", "·")) for row in data["rows"])]
        table = "".join(f"<tr><th>{name}</th><td><code>{cells}</code></td></tr>" for name, cells in rows)
        return f"<p>{escape(data['say'])}</p>\n<table>{table}</table>"


def _rows(covered: str, family: Family) -> list[dict[str, Any]]:
    """Return a row for each class and each rule: its name, its bits, a sentence, and whether the bits are starts."""
    masks = masks_of(covered)
    white = masks.space | masks.tab | masks.line
    classes = (
        ("letters", masks.letter, "A bit is set where a letter stands."),
        ("digits", masks.digit, "The same for digits."),
        ("white space", white, "And for spaces, tabs and line breaks."),
        ("all else", masks.known & ~(masks.letter | masks.digit | white), "What is left counts as punctuation."),
    )
    rows = [{"name": name, "bits": _bits(mask, covered), "say": say, "starts": False} for name, mask, say in classes]
    says = _sentences(family)
    before = 0

    def record(rule: str, pieces: int) -> None:
        nonlocal before
        now = pieces & masks.known
        new, gone = (now & ~before).bit_count(), (before & ~now).bit_count()
        change = f"{pluralize(new, 'new start')}{f', and {gone} fewer' if gone else ''}."
        rows.append({"name": f"+ {rule}", "bits": _bits(now, covered), "say": f"{says[rule]} {change}", "starts": True})
        before = now

    rules(masks, family, record=record)
    return rows


def _sentences(family: Family) -> dict[str, str]:
    """Return rule -> the sentence that explains it for a family of patterns."""
    prefix = "a space, a tab or a mark" if family.any_prefix else "a space"
    case = " A capital after a small letter starts one too." if family.cased else ""
    digits = {0: "the first of a run", 1: "every one", 3: "every third of a run"}[family.digits]
    return {
        "punctuation": "A mark starts a piece unless the character before it is a mark or a space.",
        "words": f"A letter starts one unless its word has begun, with a letter before it or with {prefix}.{case}",
        "digits": f"Of the digits {digits} starts one.",
        "white space": "White space starts one where it begins, and its last space belongs to what follows.",
        "contractions": "Contractions such as 's and 'll are cut as they are written in the pattern.",
    }


def _pieces(text: str, covered: str, family: Family) -> list[str]:
    """Return the pieces of a block that nothing after it can change."""
    mask, decided = starts(masks_of(covered), family)
    begins = [i for i in range(len(covered)) if mask >> i & 1]
    if decided == len(text):
        begins.append(decided)
    return [text[a:b] for a, b in zip(begins, begins[1:])]


def _bits(mask: int, covered: str) -> str:
    """Return a mask as a string in reading order: the lowest bit, for the first character, comes first.

    >>> _bits(0b011, "abc")
    '110'
    """
    return f"{mask:0{len(covered)}b}"[::-1]
