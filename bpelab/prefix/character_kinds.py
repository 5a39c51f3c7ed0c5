"""The kinds of characters that an automaton tells apart, also when only the first bytes of a character are known."""

from array import array

from ..errors import ModelError

MAX_KINDS = 256
SURROGATES = range(0xD8, 0xE0)
"""Blocks of 256 code points that occur in no valid text."""
FIRST_OF_LENGTH = {2: 0x80, 3: 0x800, 4: 0x10000}
"""The first code point that UTF-8 writes with this many bytes."""
UNLIKE_OTHERS = {bytes([byte]) for byte in (0xE0, 0xED, 0xF0, 0xF4)}
"""First bytes of characters after which not all continuation bytes are valid."""


class CharacterKinds:
    """A two-stage table of the kinds, as a DFA has it (`regex/dfa.py`)."""

    def __init__(self, stage1: "array[int]", stage2: bytes) -> None:
        self.stage1, self.stage2 = stage1, stage2
        self._alike: dict[tuple[int, bytes], bytes] = {}
        self._kinds: dict[tuple[int, int], frozenset[int]] = {}

    def kind(self, code_point: int) -> int:
        """Return the kind of a character."""
        return self.stage2[self.stage1[code_point >> 8] << 8 | code_point & 255]

    def kinds(self, first: int, last: int) -> frozenset[int]:
        """Return the kinds of the characters from code point `first` to `last`.

        Both are in the same block of 256 characters, or the first and the last one of a block.
        """
        if (first, last) not in self._kinds:
            blocks = {self.stage1[at] for at in range(first >> 8, (last >> 8) + 1) if at not in SURROGATES}
            rows = (self.stage2[at << 8 | first & 255 : (at << 8 | last & 255) + 1] for at in blocks)
            self._kinds[first, last] = frozenset().union(*rows)
        return self._kinds[first, last]

    def alike(self, first_bytes: bytes) -> bytes:
        """Return the first bytes of a character, or others that were asked for earlier and have the same future."""
        if first_bytes in UNLIKE_OTHERS:
            return first_bytes
        first, last = code_points(first_bytes)
        if last - first < 256:
            key = self.stage2[(at := self.stage1[first >> 8] << 8 | first & 255) : at + last - first + 1]
        else:
            key = self.stage1[first >> 8 : (last >> 8) + 1].tobytes()
        return self._alike.setdefault((last - first, key), first_bytes)


def told_apart_by_both(one: CharacterKinds, other: CharacterKinds) -> tuple[CharacterKinds, list[tuple[int, int]]]:
    """Return the kinds that two automata tell apart together, and for each the kind that it is to either.

    Raises ModelError for more than 256.
    """
    blocks: dict[tuple[int, int], int] = {}
    stage1 = array("i", [blocks.setdefault(pair, len(blocks)) for pair in zip(one.stage1, other.stage1)])
    numbers: dict[tuple[int, int], int] = {}
    rows = [
        numbers.setdefault(pair, len(numbers))
        for first, second in blocks
        for pair in zip(one.stage2[first << 8 : first + 1 << 8], other.stage2[second << 8 : second + 1 << 8])
    ]
    if len(numbers) > MAX_KINDS:
        raise ModelError(f"this needs at most {MAX_KINDS} kinds of characters, and the added tokens make them more")
    return CharacterKinds(stage1, bytes(rows)), list(numbers)


def code_points(first_bytes: bytes) -> tuple[int, int]:
    """Return the first and the last code point, surrogates included, whose UTF-8 begins with these bytes.

    >>> [f"{code_point:X}" for data in (b"\\xc3", b"\\xe0", b"\\xf0\\x9f\\x98") for code_point in code_points(data)]
    ['C0', 'FF', '800', 'FFF', '1F600', '1F63F']
    """
    size = 2 if first_bytes[0] < 0xE0 else 3 if first_bytes[0] < 0xF0 else 4
    number = first_bytes[0] & 0x7F >> size
    for byte in first_bytes[1:]:
        number = number << 6 | byte & 0x3F
    rest = 6 * (size - len(first_bytes))
    return max(number << rest, FIRST_OF_LENGTH[size]), min((number + 1 << rest) - 1, 0x10FFFF)
