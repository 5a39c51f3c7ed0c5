r"""Split text a block at a time, by arithmetic on bit masks: what C does with 64 bits, here with Python's integers.

A mask has a bit for each character of a block: bit i says whether character i is in some class. Looking at the previous
character is then a left shift, looking at the next one a right shift, and a run is a recurrence along the bits. A block
starts where a piece starts, so there is no carry between blocks. The DFA decides what the rules can't: white space that
reaches the end of the block, and non-ASCII characters whose class has no ASCII member. `pattern_families.py` lists the
patterns for which the rules hold; `tests/regex/bit_proof.py` proves it, for blocks of any length.

Cost: that of Python; it defines the C version and isn't meant to be fast. Chapter: Native code. Source of the masks:
Langdale and Lemire 2019, "Parsing gigabytes of JSON per second".
"""

from __future__ import annotations

from collections import namedtuple
from string import ascii_letters, ascii_lowercase
from typing import TYPE_CHECKING

from .pattern_families import AFTER_WORDS, NO_CONTRACTIONS, SMALL_BEFORE_WORDS, Family

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .dfa import DFA


class Masks(namedtuple("Masks", "known letter small digit space tab line quote slash sdmt l vr e")):
    """The masks of a block, one for each character class. `known` has a bit for each character in any class."""

    __slots__ = ()


MEMBERS = Masks(
    known="".join(map(chr, range(128))), letter=ascii_letters, small=ascii_lowercase, digit="0123456789", space=" ",
    tab="\t\v\f", line="\n\r", quote="'", slash="/", sdmt="sdmtSDMT", l="lL", vr="vrVR", e="eE",
)  # fmt: skip
"""The ASCII characters of each class."""


def masks_of(text: str) -> Masks:
    """Return the masks of an ASCII text.

    >>> bin(masks_of("it's").letter), bin(masks_of("it's").quote)
    ('0b1011', '0b100')
    """
    return Masks(*[sum(1 << i for i, char in enumerate(text) if char in members) for members in MEMBERS])


def in_ascii(text: str, dfa: DFA) -> str:
    r"""Replace each non-ASCII character by an ASCII character of the same class, or by "\x80" if there is none.

    >>> from bpelab.regex.patterns import PATTERNS
    >>> from bpelab.regex.dfa import dfa_for
    >>> in_ascii("naïve 日本\u3000½", dfa_for(PATTERNS["o200k"].regex))
    'naave \x80\x80\t0'
    """
    stand_ins: dict[int, str] = {}
    for char in map(chr, range(128)):
        stand_ins.setdefault(dfa.codes[ord(char)], char)
    return "".join(char if char.isascii() else stand_ins.get(kind, "\x80") for char, kind in zip(text, dfa.kinds(text)))


def spans(text: str, dfa: DFA, family: Family, size: int = 64) -> Iterator[tuple[int, int]]:
    """Iterate over the (start, end) of the pieces, as `DFA.spans` does, in blocks of up to `size` characters."""
    known, classes, begin = in_ascii(text, dfa), dfa.kinds(text) + bytes([dfa.width - 1]), 0
    while begin < len(text):
        block = known[begin : begin + size].partition("\x80")[0]
        mask, decided = starts(masks_of(block), family)
        ends = [begin + at for at in range(1, decided) if mask >> at & 1]
        if begin + decided == len(text):
            ends.append(len(text))
        for end in ends or [begin + next(dfa.spans_of(classes[begin:]))[1]]:
            yield begin, end
            begin = end


def starts(masks: Masks, family: Family) -> tuple[int, int]:
    """Return (the mask of a block's piece starts, the offset from which they are undecided).

    The block starts where a piece does. Whatever follows the block, pieces start at these offsets and, up to the last
    of them, nowhere else. If everything is decided and the text ends with the block, its last piece ends there too.

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
    """Return the mask x with x = function(x). Bit i of `function` may depend on lower bits only, or on higher only."""
    mask = 0
    while (better := function(mask)) != mask:
        mask = better
    return mask


def rules(
    masks: Any,
    family: Family,
    fixpoint: Callable[[Any], Any] = fixpoint,
    record: Callable[[str, Any], object] = lambda rule, starts: None,
) -> tuple[Any, Any]:
    """Return the masks of piece starts, and of the characters where the rules can't tell whether a piece starts.

    Every bit is computed the same way, so the proof runs this on streams of bits, with its own `fixpoint`. `record` is
    called after each rule, with its name and the starts so far; figures are drawn only from these.
    """
    letters, digits, spaces, lines = masks.letter, masks.digit, masks.space, masks.line
    blanks = spaces | masks.tab
    white = blanks | lines
    marks = ~(letters | digits | white)
    end = masks.known & ~(masks.known >> 1)

    # Punctuation, with the space before it, and with the line breaks after it.
    absorbed = lines & ~lines  # nothing
    if family.after_punctuation:
        through = lines | masks.slash if family.after_punctuation == 2 else lines
        absorbed = fixpoint(lambda run: lines & marks << 1 | through & run << 1)
    punctuation = marks & ~absorbed
    first_marks = punctuation & ~((punctuation | spaces) << 1)
    pieces = first_marks
    record("punctuation", pieces)

    # Words, with the character before them.
    prefixes = blanks | first_marks if family.any_prefix else spaces
    pieces |= letters & ~((letters | prefixes) << 1)
    if family.cased:
        pieces |= ~masks.small & masks.small << 1
    record("words", pieces)

    # Digits: the first of a run, unless a space before it belongs to it; then, say, every third.
    first_digits = digits & ~((digits if family.any_prefix else digits | spaces) << 1)
    if family.digits:
        all_digits = digits
        for distance in range(1, family.digits):
            all_digits &= digits << distance
        pieces |= fixpoint(lambda run: first_digits | all_digits & run << family.digits)
    else:
        pieces |= first_digits
    record("digits", pieces)

    # White space: its first character, and its last before something else.
    pieces |= white & ~(white << 1) & ~absorbed
    if family.lines:
        more_lines = fixpoint(lambda run: (lines | white & run) >> 1)
        pieces |= blanks & (~(white >> 1) | absorbed << 1 | lines << 1 & ~more_lines)
    else:
        pieces |= white & ~(white >> 1)
    record("white space", pieces)
    leaves = fixpoint(lambda run: white & (end | run >> 1))
    undecided = leaves & white << 1

    # Contractions.
    if family.contractions != NO_CONTRACTIONS:
        known = masks.small if family.contractions == SMALL_BEFORE_WORDS else letters
        pairs = masks.l & (masks.l & known) >> 1 | masks.vr & (masks.e & known) >> 1
        two, three = (masks.sdmt & known) >> 1, (pairs & known) >> 1
        if family.contractions == AFTER_WORDS:
            attached = masks.quote & letters << 1
            undecided |= attached & (end | end >> 1)
            two, three = two & attached, three & attached
            taken = fixpoint(lambda taken: (two | three) & ~((taken & two) << 2 | (taken & three) << 3))
            two, three = two & taken, three & taken
            pieces &= ~(taken | three << 2)  # no piece starts at the middle letter: the apostrophe can precede it
        else:
            apart = masks.quote & first_marks
            if not family.any_prefix:
                undecided |= (apart & (letters & end) >> 1) << 1
            two, three = two & apart, three & apart
            pieces &= ~((two | three) << 1)
        pieces |= two << 2 | three << 3
        record("contractions", pieces)
    return pieces, undecided
