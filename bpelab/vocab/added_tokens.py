"""Added tokens: strings beside the model's vocabulary, found in a text before anything else is done with it.

Each has flags, as in Hugging Face's files. Where several match at one position the longest wins, and the search goes on
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
        special: whether it is a control token: text speaks as one only where the caller allows it.
        single_word: not found next to a letter, a digit or an underscore.
        lstrip, rstrip: takes the white space on its left, on its right with it.
        normalized: found in the normalized text (and normalized itself) instead of in the text as it was given.
    """

    __slots__ = ()
    content: str
    id: int
    special: bool
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
