"""Tokenizer parity: whether the backend's own tokenizer encodes a prompt as bpelab does.

A model that gets different ids from those it was trained on answers worse, without any error. So the first prompt of a
session, as text, also goes through the backend's tokenizer if it has one, and the two lists of ids are compared. The
model only gets bpelab's.

Chapter: Chat on your hardware. Cost: that of encoding the prompt twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import BackendError
from ..formats.listing import printable

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .backends.base import Backend

AROUND = 3
"""The number of tokens shown on either side of a difference."""

Row = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Parity:
    """The comparison of two tokenizers on one prompt.

    Attributes:
        checked: whether the backend has a tokenizer to compare with.
        equal: whether the ids are the same; None if not checked.
        first: the index of the first token that differs, or None.
        ours, theirs: (id, token) of the tokens around it.
        intended: whether they differ because a message spells a control token, which bpelab keeps as ordinary text.
        note: all of that in a sentence.
    """

    checked: bool
    equal: bool | None = None
    first: int | None = None
    ours: Row = ()
    theirs: Row = ()
    intended: bool = False
    note: str = ""


def check_parity(tokenizer: "BPETokenizer", backend: "Backend", text: str, ids: Sequence[int]) -> Parity:
    """Compare `ids`, the prompt `text` encoded by `tokenizer`, with the ids from the backend's own tokenizer."""
    whose = backend.name + ("'" if backend.name.endswith("s") else "'s")
    try:
        other = backend.native_encode(text)
    except BackendError as error:
        return Parity(False, note=f"{whose} own tokenizer failed: {error}")
    if other is None:
        return Parity(False, note=f"{backend.name} has no tokenizer of its own to compare with")
    mine, theirs = list(ids), list(other)
    if mine == theirs:
        return Parity(True, True, note=f"{whose} own tokenizer gives the same {len(mine):,} ids")
    pairs = enumerate(zip(mine, theirs))
    first = next((index for index, (a, b) in pairs if a != b), min(len(mine), len(theirs)))
    around = slice(max(first - AROUND, 0), first + AROUND + 1)
    ours, others = (tuple((token, _shown(tokenizer, token)) for token in row[around]) for row in (mine, theirs))
    what = " and ".join(f"{who} {_named(tokenizer, row, first)}" for who, row in (("bpelab", mine), (whose, theirs)))
    note = f"the tokenizers differ from token {first:,} of the prompt on: {what}"
    # Read as trusted text, with every special token that it spells, does the prompt give their ids?
    intended = tokenizer.encode(text, allowed_special="all", add_special_tokens=False) == theirs
    if intended:
        note += ". A message spells a control token there; bpelab keeps it as ordinary text"
    return Parity(True, False, first, ours, others, intended, note)


def _named(tokenizer: "BPETokenizer", row: list[int], index: int) -> str:
    return f"has {row[index]} {_shown(tokenizer, row[index])!r}" if index < len(row) else "ends"


def _shown(tokenizer: "BPETokenizer", token: int) -> str:
    data = tokenizer.id_to_token(token)
    return "no token of bpelab's tokenizer" if data is None else printable(data)
