"""Held-back text as a chain of parts, an immutable linked list.

The text that a stream holds back, such as a run of one letter, may grow a character at a time to megabytes. Joining it
at every step would take quadratic time, and a mutated list couldn't be restored after an error. A chain avoids both: a
longer one points to the shorter one, which still exists. Cost: constant per part, and one join at the end.
"""

from typing import NamedTuple


class TextBuffer(NamedTuple):
    """A linked list of a text's parts, the last part first.

    >>> join(add(add(None, "two "), "words"))
    'two words'
    """

    before: "Chain"
    part: str
    length: int


Chain = TextBuffer | None
"""None is the empty text."""


def add(chain: Chain, part: str) -> Chain:
    """Return the text of `chain` with `part` after it."""
    return TextBuffer(chain, part, length(chain) + len(part)) if part else chain


def length(chain: Chain) -> int:
    """Return the number of characters."""
    return chain.length if chain is not None else 0


def join(chain: Chain) -> str:
    """Return the text as one string."""
    parts = []
    while chain is not None:
        parts.append(chain.part)
        chain = chain.before
    return "".join(reversed(parts))
