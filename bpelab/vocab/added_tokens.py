"""Added tokens: strings beside the model's vocabulary that are matched in a text before any other step.

Each has flags, as in Hugging Face's files. If several match at one position, the longest wins, and the search continues
after it (`added_token_matcher.py`). Chapter: Special tokens.
"""

from __future__ import annotations

from collections import namedtuple

Span = tuple[int, int, int | None]
"""Start, stop, and the id of an added token; None for ordinary text."""


class AddedToken(
    namedtuple(
        "AddedToken",
        "content id special single_word lstrip rstrip normalized",
        defaults=(True, False, False, False, False),
    )
):
    """A string with an id of its own.

    Attributes:
        special: whether it is a control token, which text becomes only if the caller allows it.
        single_word: whether it doesn't match next to a letter, a digit or an underscore.
        lstrip, rstrip: whether it includes the white space on its left, on its right.
        normalized: whether it is normalized and matched in the normalized text, not in the original.
    """

    __slots__ = ()
    content: str
    id: int
    special: bool
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
