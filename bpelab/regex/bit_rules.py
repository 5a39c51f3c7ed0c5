r"""Split text a block at a time, by arithmetic on bit masks: what C does with 64 bits, here with Python's integers.

A mask has a bit for each character of a block: bit i says whether character i is of some class. What the character
before decides is then a shift to the left, what the next one decides a shift to the right, and a run is a recurrence
along the bits. A block begins where a piece begins, so nothing is carried from block to block. What the rules can't
decide (white space that leaves the block, a character beyond ASCII of whose class no ASCII character is) is left to the
DFA. For which patterns the rules hold says `pattern_families.py`.

Chapter: Native code. Source: Langdale and Lemire 2019, "Parsing gigabytes of JSON per second", for the masks.
"""

from __future__ import annotations

from collections import namedtuple
from string import ascii_letters, ascii_lowercase, digits
from typing import TYPE_CHECKING

from .pattern_families import AFTER_WORDS, NO_CONTRACTIONS, SMALL_BEFORE_WORDS, Family

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .dfa import DFA


class Masks(namedtuple("Masks", "known letter small digit space tab line quote slash sdmt l vr e")):
    """For each class of characters, the mask of a block. `known` has a bit for all of its characters."""

    __slots__ = ()


MEMBERS = Masks(
    known="".join(map(chr, range(128))), letter=ascii_letters, small=ascii_lowercase, digit=digits, space=" ",
    tab="\t\v\f", line="\n\r", quote="'", slash="/", sdmt="sdmtSDMT", l="lL", vr="vrVR", e="eE",
)  # fmt: skip
"""The ASCII characters of each class."""


def masks_of(text: str) -> Masks:
    """Return the masks of a text in ASCII.

    >>> bin(masks_of("it's").letter), bin(masks_of("it's").quote)
    ('0b1011', '0b100')
    """
    return Masks(*[sum(1 << i for i, char in enumerate(text) if char in members) for members in MEMBERS])


def in_ascii(text: str, dfa: DFA) -> str:
    """Replace each character by an ASCII character of its class; the text ends before the first that has none."""
    classes = dfa.kinds(text)
    stand_ins: dict[int, str] = {}
    for char in map(chr, range(128)):
        stand_ins.setdefault(ord(char.translate(dfa.codes)), char)
    chars = [char if char.isascii() else stand_ins.get(kind) for char, kind in zip(text, classes)]
    known = chars.index(None) if None in chars else len(chars)
    return "".join(char for char in chars[:known] if char)


def starts(masks: Masks, family: Family) -> tuple[int, int]:
    """Return (the mask of the pieces' starts, the offset from which on they are undecided) of a block.

    The block begins where a piece does. Whatever follows it, pieces start at these offsets and, up to the last of them,
    at no other. If the offset is the block's length and the text ends there, so does its last piece.

    >>> from bpelab.regex.pattern_families import FAMILIES
    >>> mask, decided = starts(masks_of("It's 2026,  "), FAMILIES["cl100k"])
    >>> f"{mask:b}"[::-1], decided
    ('10101100111', 11)
    """
    mask, undecided = rules(masks, family)
    size = masks.known.bit_length()
    decided = (undecided & -undecided).bit_length() - 1 if undecided else size
    return mask & ((1 << decided) - 1), decided


def fixpoint(function: Callable[[int], int]) -> int:
    """Return the mask x = function(x). Bit i of the function may depend on lower bits only, or on higher bits only."""
    mask = 0
    while (better := function(mask)) != mask:
        mask = better
    return mask


def rules(masks: Any, family: Family, fixpoint: Callable[[Any], Any] = fixpoint) -> tuple[Any, Any]:
    """Return the masks of the starts of pieces, and of characters at which the rules can't tell whether one starts."""
    letters, spaces, lines = masks.letter, masks.space, masks.line
    blanks = spaces | masks.tab
    white = blanks | lines
    marks = masks.known & ~(letters | masks.digit | white)
    end = masks.known & ~(masks.known >> 1)

    # Punctuation, with the space before it, and with the line breaks after it (`absorbed`).
    absorbed = end & ~end
    if family.after_punctuation:
        through = lines | masks.slash if family.after_punctuation == 2 else lines
        absorbed = fixpoint(lambda run: lines & marks << 1 | through & run << 1)
    punctuation = marks & ~absorbed
    first_marks = punctuation & ~((punctuation | spaces) << 1)
    pieces = first_marks

    # Words, with the character before them.
    prefixes = blanks | first_marks if family.any_prefix else spaces
    pieces |= letters & ~((letters | prefixes) << 1)
    if family.cased:
        pieces |= letters & ~masks.small & masks.small << 1

    # Digits: every third of a run, or every one, or the first.
    first_digits = masks.digit & ~((masks.digit if family.any_prefix else masks.digit | spaces) << 1)
    if family.digits:
        all_digits = masks.digit
        for distance in range(1, family.digits):
            all_digits &= masks.digit << distance
        first_digits = fixpoint(lambda run: first_digits | all_digits & run << family.digits)
    pieces |= first_digits

    # White space: its first character, and its last if that can go before something.
    pieces |= white & ~(white << 1) & ~absorbed
    if family.lines:
        later_lines = fixpoint(lambda run: (lines | white & run) >> 1)
        pieces |= blanks & (~(white >> 1) | absorbed << 1 | lines << 1 & ~later_lines)
    else:
        pieces |= white & ~(white >> 1)
    leaves = fixpoint(lambda run: white & (end | run >> 1))
    undecided = leaves & white << 1

    # Contractions.
    if family.contractions != NO_CONTRACTIONS:
        known = masks.small if family.contractions == SMALL_BEFORE_WORDS else letters
        two = masks.quote & (masks.sdmt & known) >> 1
        three = (
            masks.quote & (masks.l & known & (masks.l & known) >> 1 | masks.vr & known & (masks.e & known) >> 1) >> 1
        )
        if family.contractions == AFTER_WORDS:
            attached = masks.quote & letters << 1
            undecided |= attached & (end | end >> 1)
            two, three = two & attached, three & attached
            taken = fixpoint(lambda taken: (two | three) & ~((taken & two) << 2 | (taken & three) << 3))
            two, three = two & taken, three & taken
            pieces &= ~(taken | taken << 1 | three << 2)
        else:
            two, three = two & first_marks, three & first_marks
            pieces &= ~((two | three) << 1)
            if not family.any_prefix:
                undecided |= (masks.quote & first_marks & letters >> 1 & end >> 1) << 1
        pieces |= letters & (two << 2 | three << 3)
    return pieces, undecided
