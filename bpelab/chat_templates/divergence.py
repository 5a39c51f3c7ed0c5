"""Divergence: where a template writes other ids for a conversation than the conversation has, and why.

Chapter: Chat templates. Cost: linear in the ids.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

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


def divergence(tokenizer: "Tokenizer", ids: Sequence[int], text: str, template_ids: Sequence[int]) -> Divergence | None:
    """Return where `ids` stop being the beginning of `template_ids`, the ids of `text`; None if they are it.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("lo lo", 257)
    >>> print(divergence(t, [108, 111], "lo", t.encode("lo")).reason)
    the same text has other tokens: b'l' here, and b'lo' as the tokenizer encodes it
    """
    index = next((i for i, pair in enumerate(zip(ids, template_ids)) if pair[0] != pair[1]), None)
    if index is None:
        if len(ids) <= len(template_ids):
            return None
        index = len(template_ids)
    reason = _reason(tokenizer, ids, text, template_ids, index)
    return Divergence(index, list(ids[index:]), list(template_ids[index:]), reason)


def _reason(tokenizer: "Tokenizer", ids: Sequence[int], text: str, template_ids: Sequence[int], index: int) -> str:
    ours, theirs = tokenizer.decode(list(ids)), tokenizer.decode(list(template_ids))
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs)))
    if at == len(ours) or at == len(theirs):
        token, other = (tokenizer.model.tokens.get(n, b"") for n in (ids[index], [*template_ids, -1][index]))
        return f"the same text has other tokens: {token!r} here, and {other!r} as the tokenizer encodes it"
    here, there = ours[at : at + SHOWN], theirs[at : at + SHOWN]
    if "<think" in here or ("</think" in here and "</think" not in there):
        cause = "thinking is taken out of an answer"
    elif here.lstrip()[:1] == there[:1] or here[:1].isspace():
        cause = "white space is removed"
    elif here == there[-len(here) :] or there[:1].isspace():
        cause = "white space is added"
    else:
        cause = "other text is written"
    return f"{cause}: after {ours[max(at - 20, 0) : at]!r} the ids have {here!r}, and the template writes {there!r}"
