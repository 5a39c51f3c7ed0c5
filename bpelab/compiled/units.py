"""The tokens that a piece begins with: those of its bytes, or of its characters and of what is missing among them.

A table in two stages gives the token of a character. There are four of them in one, for a unit may be written with a
prefix behind the first place of a piece and with a suffix at the last one. What the vocabulary lacks is spelled in
bytes, or unknown, or dropped, and all of that in the order of `units.py`.

Chapter: Compiled. Cost: two look-ups a character.
"""

import numpy as np
from numpy.typing import NDArray

from ..model import BPEModel
from ..units import Units
from .jit import kernel
from .scan import decode
from .tables import NONE, ModelTables

BLOCKS = 1 << 13
"""Blocks of 256 code points, as many as four bytes of any value can name."""


def served(units: Units) -> bool:
    """Whether the kernels know what these units need: no symbols, and nothing but plain characters spelled in bytes."""
    return not units.symbols and not (units.byte_tokens and (units.prefix or units.suffix))


def unit_tables(model: BPEModel, number: dict[int, int]) -> tuple[NDArray[np.uint16], NDArray[np.uint32]]:
    """(block of 256 code points -> row, rows of tokens): plain units, then those with the prefix, the suffix, both."""
    units = model.units or Units(characters=False)
    index = np.zeros(4 * BLOCKS, np.uint16)
    rows = [np.full(256, NONE, np.uint32)]
    for token, token_id in model.alphabet.items():
        for form in range(4):
            prefix, suffix = units.prefix * (form & 1), units.suffix * (form >> 1)
            unit = token[len(prefix) : len(token) - len(suffix)]
            if token != prefix + unit + suffix or not unit or len(units.cut(unit)) != 1:
                continue
            code = ord(unit.decode()) if units.characters else unit[0]
            block = form * BLOCKS + (code >> 8)
            if index[block] == 0:
                index[block] = len(rows)
                rows.append(np.full(256, NONE, np.uint32))
            rows[index[block]][code & 255] = number[token_id]
    return index, np.concatenate(rows)


def stand_in(model: BPEModel) -> list[int]:
    """The ids that missing units become and that are no tokens of the model, as `<unk>` mostly isn't."""
    units = model.units or Units(characters=False)
    ids = [*(units.byte_tokens or {}).values(), *([] if units.unk_id is None else [units.unk_id])]
    return [token_id for token_id in dict.fromkeys(ids) if token_id not in model.tokens]


def with_units(model: BPEModel, tables: ModelTables, number: dict[int, int]) -> ModelTables:
    """The tables with what a model's units become; `number` has the number of each id."""
    units = model.units or Units(characters=False)
    index, rows = unit_tables(model, number)
    for byte, token_id in (units.byte_tokens or {}).items():
        tables.byte_tokens[byte] = number[token_id]
    return tables._replace(
        unit_index=index,
        unit_tokens=rows,
        characters=units.characters,
        unknown=NONE if units.unk_id is None else np.uint32(number[units.unk_id]),
        fuse=units.fuse_unk,
    )


@kernel
def initial_tokens(text, start, end, out, at, tables):
    """The tokens of text[start:end] before any merge, into `out` from `at` on; where they end, whether none is missing.

    There are no more of them than bytes.
    """
    if len(tables.unit_tokens) == 0:
        for place in range(start, end):
            out[at + place - start] = tables.byte_tokens[text[place]]
        return at + end - start, True
    place, waiting, complete = start, False, True
    unknown = tables.unknown
    while place < end:
        code, width = np.int64(text[place]), 1
        if tables.characters and code >= 128:
            code, width = decode(text, place, code)
        stop = place + width
        form = (1 if place > start else 0) + (2 if stop >= end else 0)
        row = np.int64(tables.unit_index[form * BLOCKS + (code >> 8)])
        token = tables.unit_tokens[row * 256 + (code & 255)]
        if token != NONE:
            if waiting:
                out[at] = unknown
                at, waiting = at + 1, False
            out[at] = token
            at += 1
        else:
            complete, spelled = False, True
            for i in range(place, stop):
                spelled = spelled and tables.byte_tokens[text[i]] != NONE
            if spelled:
                for i in range(place, stop):
                    out[at] = tables.byte_tokens[text[i]]
                    at += 1
            elif unknown != NONE:
                if waiting and not tables.fuse:
                    out[at] = unknown
                    at += 1
                waiting = True
        place = stop
    if waiting:
        out[at] = unknown
        at += 1
    return at, complete
