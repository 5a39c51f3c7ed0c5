"""Where words end: the pattern is written so that runs of what is no letter are fast; it means what is said of it."""

import re

from bpelab.boundaries.named_patterns import iter_boundaries
from bpelab.unicode.tables import class_body, property_ranges, union


def test_boundaries_of_words_are_those_of_the_plain_pattern():
    """At both ends of every range of letters and marks, and beside them."""
    letters, marks = map(property_ranges, "LM")
    goes_on = union(letters, marks, ((ord("'"), ord("'")),))
    plain = re.compile(f"[{class_body(letters)}](?=[^{class_body(goes_on)}])")
    near = {code + by for part in (*letters, *marks) for code in part for by in (-1, 0, 1)} | {0, ord("'"), 0x10FFFF}
    text = "".join(f"{char} {char}a" for char in map(chr, sorted(near)) if not "\ud800" <= char <= "\udfff")
    assert list(iter_boundaries(text, 0)) == [match.end() for match in plain.finditer(text)]
