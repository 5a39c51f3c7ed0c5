"""Text that is held back, as a chain of parts that never changes.

What a stream keeps may grow by a character at a time to megabytes, a run of one letter, say. Joining it at every step
would take quadratic time, and a list that is changed could not be taken back after an error. A chain does neither: a
longer one points to the shorter one, which is still there. Cost: a step for a part, and one join at the end.
"""

from typing import NamedTuple


class TextBuffer(NamedTuple):
    """Parts of a text, the last one first.

    >>> joined(add(add(None, "two "), "words"))
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
    """Return the characters held."""
    return chain.length if chain is not None else 0


def joined(chain: Chain) -> str:
    """Return the text as one string."""
    parts = []
    while chain is not None:
        parts.append(chain.part)
        chain = chain.before
    return "".join(reversed(parts))
