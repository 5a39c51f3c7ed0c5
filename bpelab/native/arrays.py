"""From a model to the arrays that C makes its tables of: numbers by rank, merges, and what units become.

Chapter: Compiled. Cost: 0.1 s for 100,000 tokens.
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..model import BPEModel, RankMerges
from ..pretokenizers.implied import ImpliedCuts
from ..units import Units
from . import LARGEST_ID

if TYPE_CHECKING:
    from ._core import Encoder
    from .plan import Level

MOST_TOKENS, MOST_MERGES, MOST_BYTES = 1 << 21, 1 << 22, 1 << 26
"""What tables hold; MOST_BYTES is of all tokens together, of which o200k has 2^21."""
NONE = 0xFFFFFFFF
BLOCKS = 1 << 13
"""Blocks of 256 code points; see vocabulary.h."""
NO_CUTS, AT_PAIRS, AT_SPACES, AT_KNOWN_SPACES = range(4)
"""See neighbours.h."""


def made(model: BPEModel, core: type[Encoder], levels: tuple[Level, ...]) -> Encoder | None:
    """The encoder of a model; None for one whose units C doesn't know, or that is too large."""
    units = None if model.bytewise else model.units
    if units is not None and (units.symbols or (units.byte_tokens and (units.prefix or units.suffix))):
        return None
    others = [] if units is None else _no_tokens(model, units)
    if len(model.tokens) + len(others) > MOST_TOKENS or max([*model.tokens, *others]) >= LARGEST_ID:
        return None
    by_rank = units is None and isinstance(model.merges, RankMerges) and model.merges.plain
    order = _order(model, by_rank)
    merges = None if by_rank else _merges(model, order)
    if not by_rank and merges is None:
        return None
    contents = [model.tokens[token_id] for token_id in order]
    if sum(map(len, contents)) > MOST_BYTES:
        return None
    number = {token_id: place for place, token_id in enumerate(order + others)}
    bytes_there = dict(enumerate(model.byte_ids)) if units is None else units.byte_tokens or {}
    try:
        return core(
            content=b"".join(contents),
            starts=array("i", accumulate(map(len, contents), initial=0)),
            ids=array("I", order + others),
            byte_tokens=array("I", [number[bytes_there[n]] if n in bytes_there else NONE for n in range(256)]),
            letters=len(model.alphabet),
            merges=merges,
            whole=model.take_whole,
            levels=levels,
            units=None if units is None else _units(model, units, number),
        )
    except MemoryError:  # or tokens that are so long and so alike that tables would take too long
        return None


def _order(model: BPEModel, by_rank: bool) -> list[int]:
    """The ids in the order of their numbers: the alphabet, then by rank, then what no merge makes."""
    alphabet = sorted(model.alphabet.values())
    if by_rank:
        letters = set(alphabet)
        return alphabet + [token_id for token_id in sorted(model.tokens) if token_id not in letters]
    made = [new for _, new in sorted(set(model.merges.values()))]
    return list(dict.fromkeys([*alphabet, *made, *model.tokens]))


def _merges(model: BPEModel, order: list[int]) -> tuple[array[int], array[int], bool] | None:
    """Listed merges: triples of left, right and merge, by rank; the token of each; whether each token has one merge.

    None where there are too many, or one rank for two tokens.
    """
    number = {token_id: place for place, token_id in enumerate(order)}
    listed = sorted(
        (rank, number[left], number[right], number[new]) for (left, right), (rank, new) in model.merges.items()
    )
    if len(listed) > MOST_MERGES:
        return None
    pairs, made, before = array("i"), array("I"), None
    for rank, left, right, new in listed:
        if rank != before:
            made.append(new)
        elif made[-1] != new:
            return None
        before = rank
        pairs.extend((left, right, len(made) - 1))
    joined = model.units is None or not (model.units.prefix or model.units.suffix)  # a token is its parts, side by side
    return pairs, made, joined and len(set(made)) == len(made)


def _no_tokens(model: BPEModel, units: Units) -> list[int]:
    """The ids that missing units become and that are no tokens of the model, as `<unk>` mostly isn't."""
    ids = [*(units.byte_tokens or {}).values(), *([] if units.unk_id is None else [units.unk_id])]
    return [token_id for token_id in dict.fromkeys(ids) if token_id not in model.tokens]


def _units(model: BPEModel, units: Units, number: dict[int, int]) -> tuple[Any, ...]:
    """The token of each unit: as it is, with the prefix, with the suffix, with both; and how those that miss are dealt
    with."""
    rows, tokens = array("H", bytes(8 * BLOCKS)), array("I", [NONE]) * 256
    for form in range(4):
        prefix, suffix = units.prefix * (form & 1), units.suffix * (form >> 1)
        same = form & (bool(prefix) | bool(suffix) << 1)  # the form that this one is
        if same != form:
            rows[form * BLOCKS : (form + 1) * BLOCKS] = rows[same * BLOCKS : (same + 1) * BLOCKS]
            continue
        for token, token_id in model.alphabet.items():
            unit = token[len(prefix) : len(token) - len(suffix)]
            if token != prefix + unit + suffix or units.cut(unit) != [unit]:
                continue
            code = ord(unit.decode()) if units.characters else unit[0]
            block = form * BLOCKS + (code >> 8)
            if not rows[block]:
                rows[block] = len(tokens) // 256
                tokens.extend([NONE] * 256)
            tokens[rows[block] * 256 + (code & 255)] = number[token_id]
    unknown = NONE if units.unk_id is None else number[units.unk_id]
    return rows, tokens, units.characters, unknown, units.fuse_unk, _cuts(model, units)


def _cuts(model: BPEModel, units: Units) -> int:
    """Where a text may be cut as the tokens alone say.

    Between any two characters that no token has side by side, but for models that look up whole pieces or mark their
    units, that have no token for some byte, so that unknown characters in a row become one, and that merge the tokens
    of bytes.
    """
    if not units.characters or units.prefix or units.suffix or model.take_whole:
        return NO_CUTS
    spelled = set((units.byte_tokens or {}).values())
    if len(units.byte_tokens or {}) == 256 and spelled.isdisjoint(part for pair in model.merges for part in pair):
        return AT_PAIRS
    implied = ImpliedCuts.of(model)
    return NO_CUTS if implied is None else AT_SPACES if implied.behind[1] else AT_KNOWN_SPACES
