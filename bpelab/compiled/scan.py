"""The pre-tokenizer's loop: one table lookup a character, and the ends of pieces written without a branch.

The table is that of `pretokenizers/regex_dfa.py`, rewritten so that one number says all that a character does: the next
row, whether a match ends before it, and whether it begins the next piece at once, which is the usual case and costs
nothing extra. ASCII is classified by its byte; other characters by two lookups. Cost: 4 to 5 ns a byte. Chapter:
Compiled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..pretokenizers.dfa import DFA
from .intrinsics import run_of_letters
from .jit import U64, inlined, kernel

MATCH, COMMIT, STOP, RUN = 1, 2, 4, 8
CHUNK = 1024
"""Pieces that are found before they are encoded."""
PATIENCE = 20
"""Characters that may be read in vain for each that there is: beyond it the scan is left to the one that remembers."""


class ScanTable(NamedTuple):
    """A DFA as the kernels want it.

    `steps[row + class]` is 16 times the next row, plus MATCH if a match ends before the character, COMMIT if one does
    and the next has begun with it, STOP if the search is over, RUN if small letters leave the next row as it is: then
    as many as follow are passed at once. `fold` is 32 if capitals do the same there, or else 0. `edge` is the class of
    the end of the text.
    """

    steps: NDArray[np.int32]
    byte_class: NDArray[np.uint8]
    stage1: NDArray[np.uint16]
    stage2: NDArray[np.uint8]
    start: int
    edge: int
    fold: int

    @staticmethod
    def empty() -> "ScanTable":
        """A table that is never used: what an engine has that is given pieces only."""
        bytes_there, nothing = np.empty(0, np.uint8), np.empty(0, np.uint16)
        return ScanTable(np.empty(0, np.int32), bytes_there, nothing, bytes_there, 0, 0, 0)

    @staticmethod
    def of(dfa: DFA) -> "ScanTable | None":
        """The table, or None for a pattern that looks behind or matches the empty string."""
        width, start = dfa.width, dfa.entries[0]
        old = np.frombuffer(dfa.trans, np.int32).reshape(-1, width)
        if len(set(dfa.entries)) > 1 or (old[start] & 1).any():
            return None
        row = 1 << (width - 1).bit_length()
        following, matched = old >> 1, old & 1
        begun = following[start]  # the state after a character that begins a piece
        commits = (following == 0) & (matched == 1) & (begun > 0)
        new = np.where(commits, begun * (row * 16) + COMMIT, following * (row * 16) + matched)
        new[(following == 0) & ~commits] |= STOP
        edge = width - 1
        new[:, edge] = np.where(matched[:, edge] == 1, MATCH, STOP)
        steps = np.zeros((len(old), row), np.int32)
        steps[:, :width] = new
        stage1, stage2 = dfa.stages
        classes = np.frombuffer(stage2, np.uint8).copy()
        ascii_block = classes[stage1[0] * 256 : stage1[0] * 256 + 128]
        byte_class = np.concatenate([ascii_block, np.zeros(128, np.uint8)])
        here = np.arange(len(old))[:, None] * (row * 16) + MATCH
        small, capitals = ((steps[:, byte_class[first : first + 26]] == here).all(1) for first in b"aA")
        steps[small[steps // (row * 16)]] |= RUN
        fold = 32 if capitals[small].all() else 0
        return ScanTable(
            steps.ravel(), byte_class, np.frombuffer(stage1, np.uint16).copy(), classes, start * row, edge, fold
        )


@inlined
def decode(text, at, byte):
    """(code point, bytes) of the character at `at`, whose first byte is over 127."""
    if byte < 0xE0:
        return ((byte & 31) << 6) | (np.int64(text[at + 1]) & 63), 2
    if byte < 0xF0:
        return ((byte & 15) << 12) | ((np.int64(text[at + 1]) & 63) << 6) | (np.int64(text[at + 2]) & 63), 3
    return (
        ((byte & 7) << 18)
        | ((np.int64(text[at + 1]) & 63) << 12)
        | ((np.int64(text[at + 2]) & 63) << 6)
        | (np.int64(text[at + 3]) & 63)
    ), 4


@inlined
def kind(text, at, table):
    """(class, bytes) of the character at `at`."""
    byte = text[U64(at)]
    if byte < 128:
        return np.int64(table.byte_class[byte]), 1
    code, width = decode(text, at, np.int64(byte))
    return np.int64(table.stage2[U64((np.int64(table.stage1[U64(code >> 8)]) << 8) | (code & 255))]), width


@kernel
def match_at(text, at, end, table):
    """(the end of the match that begins at `at`, or -1; where the search for it ended)."""
    row, last = np.int64(table.start), np.int64(-1)
    while at < end:
        cls, width = kind(text, at, table)
        step = np.int64(table.steps[U64(row + cls)])
        if step & (MATCH | COMMIT):
            last = at
        if step & (COMMIT | STOP):
            return last, at
        row, at = step >> 4, at + width
    return (at if np.int64(table.steps[row + table.edge]) & MATCH else last), at


@kernel
def scan(text, begin, end, final, table, ends):
    """The ends of the pieces of text[begin:end] into `ends`, CHUNK or a few more of them at most; how many.

    The text ends at `end` for the pattern too if `final` is 1; if it is 0, pieces that what follows may change are left
    out. What the pattern leaves out is a piece too. Negative if too much was read in vain: nothing in `ends` counts.
    """
    count, at, row, last = np.int64(0), np.int64(begin), np.int64(table.start), np.int64(begin)
    patience = np.int64(PATIENCE) * (end - begin) + 10_000
    while True:
        while at < end and count < CHUNK:
            cls, width = kind(text, at, table)
            step = np.int64(table.steps[U64(row + cls)])
            if step & (MATCH | COMMIT):
                last = at
            ends[U64(count)] = at
            count += (step >> 1) & 1
            if step & STOP:
                break
            row, at = step >> 4, at + width
            if step & RUN:
                run = run_of_letters(text, at, table.fold)
                last = at + run - 1 if run else last
                at += run
                while run == 16 and at < end:
                    run = run_of_letters(text, at, table.fold)
                    at += run
                    last = at - 1
                at, last = min(at, end), min(last, end - 1)
        if count >= CHUNK:
            return count
        settled = ends[count - 1] if count else np.int64(begin)
        if at == end:
            if settled == end or final == 0:
                return count
            if np.int64(table.steps[row + table.edge]) & MATCH:
                ends[count] = end
                return count + 1
        patience -= at - max(last, settled)
        if last <= settled:  # nothing matches where the last piece ended: a gap, up to where something does
            at, last, read = settled, np.int64(-1), np.int64(-1)
            while at < end and last <= at:
                _, width = kind(text, at, table)
                at, last = at + width, np.int64(-1)
                if at < end and patience >= 0:
                    last, read = match_at(text, at, end, table)
                    patience -= read - max(last, at)
            if final == 0 and end in (at, read):
                return count
            ends[count] = at
            count += 1
            if last <= at:
                return count if patience >= 0 else np.int64(-1)
        if patience < 0:
            return np.int64(-1)
        ends[count] = last
        count += 1
        at, row = last, np.int64(table.start)
