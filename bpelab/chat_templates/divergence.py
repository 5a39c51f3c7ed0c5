"""Divergence: where a template's ids for a conversation differ from the conversation's own, and why.

Chapter: The ids that were never yours. Cost: linear in the ids.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .._support.first_difference import first_difference

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

SHOWN = 40
"""The most characters of a text that a reason quotes."""


class Divergence(NamedTuple):
    """The first id that differs.

    Attributes:
        place: its index.
        ids: the conversation's ids from there on.
        template_ids: the template's.
        reason: a sentence that says why.
    """

    place: int
    ids: list[int]
    template_ids: list[int]
    reason: str


def divergence(tokenizer: "Tokenizer", ids: Sequence[int], template_ids: Sequence[int]) -> Divergence | None:
    """Return where `ids` stop being a prefix of `template_ids`; None if they are one.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("lo lo", 257)
    >>> print(divergence(t, [108, 111], t.encode("lo")).reason)
    the same text has other tokens: b'l' here, and b'lo' as the tokenizer encodes it
    """
    place = first_difference(ids, template_ids)
    if place == len(ids):
        return None
    reason = _reason(tokenizer, ids, template_ids, place)
    return Divergence(place, list(ids[place:]), list(template_ids[place:]), reason)


def _reason(tokenizer: "Tokenizer", ids: Sequence[int], template_ids: Sequence[int], place: int) -> str:
    ours, theirs = (tokenizer.decode(numbers, unknown="replace") for numbers in (ids, template_ids))
    if place < len(template_ids) and (ours.startswith(theirs) or theirs.startswith(ours)):
        token, other = (tokenizer.id_to_token(numbers[place]) for numbers in (ids, template_ids))
        return f"the same text has other tokens: {token!r} here, and {other!r} as the tokenizer encodes it"
    before = tokenizer.decode(ids[:place], unknown="replace")[-SHOWN // 2 :]
    here, there = (tokenizer.decode(each[place:], unknown="replace")[:SHOWN] for each in (ids, template_ids))
    same = first_difference(here, there)
    gone, come = here[same:], there[same:]
    head, marker, _ = here.partition("<think")
    if marker and there.startswith(head) and not there.startswith(head + marker):
        cause = "thinking is left out"
    elif gone[:1].isspace() and gone.lstrip()[:1] == come[:1]:
        cause = "white space is removed"
    elif come[:1].isspace() and come.lstrip()[:1] == gone[:1]:
        cause = "white space is added"
    else:
        cause = "other text is written"
    return f"{cause}: after {before!r} the ids have {here!r}, and the template writes {there!r}"
