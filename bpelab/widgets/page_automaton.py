"""An automaton as a page runs it (`js/own_pieces.js`): over the classes of characters that the page has already.

Those are the joint classes of `native/javascript/patterns.json`: characters that no published pattern tells apart are
in one. So a part of a published pattern needs no table of characters, only the class of its own for each joint one.
"""

import json
from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ..errors import PatternError
from ..regex.charsets import Dialect
from ..regex.dfa import dfa_for


@lru_cache(64)
def page_automaton(pattern: str, dialect: Dialect = "rust") -> dict[str, Any] | None:
    """Return the automaton of `pattern`, or None if it can't be built, or tells apart what the page's classes don't."""
    try:
        dfa = dfa_for(pattern, dialect)
    except PatternError:
        return None
    own = b"".join(bytes(dfa.stage2[block << 8 : (block + 1) << 8]) for block in dfa.stage1)
    joint = _joint_classes()
    classes = bytes(own[joint.index(number)] for number in range(max(joint) + 1))
    if joint.translate(classes.ljust(256)) != own or len(set(dfa.entries)) > 1:
        return None
    return {"width": dfa.width, "start": dfa.entries[0], "steps": list(dfa.trans), "classes": list(classes)}


@lru_cache(1)
def _joint_classes() -> bytes:
    """Return the joint class of each code point."""
    content = (files("bpelab.native") / "javascript" / "patterns.json").read_text(encoding="utf-8")
    data = json.loads(content)
    runs = zip(_numbers(data["lengths"]), _numbers(data["classes"]))
    return b"".join(bytes([number]) * length for length, number in runs)


def _numbers(text: str) -> Iterator[int]:
    """Yield numbers in base 128, the lowest digit first."""
    value = shift = 0
    for byte in b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
