"""Convert a model to the arrays from which C builds its tables: tokens in order of rank, merges, and units.

Chapter: Native code. Cost: 0.1 s for 100,000 tokens.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from ..boundaries.from_vocabulary import VocabularyBoundaries
from ..encoders.superwords import SUPERWORD
from ..model.bpe import BPEModel, RankMerges
from ..model.initial_symbols import InitialSymbols
from . import ID_LIMIT

if TYPE_CHECKING:
    from ._core import Encoder
    from .plan import Level

MAX_TOKENS, MAX_MERGES, MAX_BYTES = 1 << 21, 1 << 22, 1 << 26
"""Limits of the tables; MAX_BYTES is the sum over all tokens, which is 2^21 for o200k."""
NONE = 0xFFFFFFFF
BLOCKS = 1 << 13
"""The number of blocks of 256 code points; see vocabulary.h."""
NO_BOUNDARIES, AT_UNSEEN_PAIRS, AT_SPACES, AT_KNOWN_SPACES = range(4)
"""Boundary rules; see adjacency.h."""


def build_encoder(
    model: BPEModel, core: type[Encoder], levels: tuple[Level, ...], numbered: bool = False
) -> Encoder | None:
    """Build the encoder of a model, or return None if C doesn't support its units or it is too large.

    With `numbered`, the encoder returns the ranks of ids instead: 0 for the lowest id, and so on.
    """
    units = None if model.covers_utf8 else model.units
    if units is not None and (units.symbols or (units.byte_tokens and (units.prefix or units.suffix))):
        return None
    extra = [] if units is None else _extra_ids(model, units)
    if len(model.tokens) + len(extra) > MAX_TOKENS or max([*model.tokens, *extra]) >= ID_LIMIT:
        return None
    by_rank = units is None and isinstance(model.merges, RankMerges) and model.merges.plain
    order = [token_id for token_id in _rank_order(model, by_rank) if model.tokens[token_id]]  # no text becomes b""
    merges = None if by_rank else _merges(model, order)
    if not by_rank and merges is None:
        return None
    contents = [model.tokens[token_id] for token_id in order]
    if sum(map(len, contents)) > MAX_BYTES:
        return None
    index = {token_id: i for i, token_id in enumerate(order + extra)}
    if units is None:  # a missing byte is one that no text has, so any token will do
        byte_ids: Mapping[int, int] = {byte: model.alphabet.get(bytes([byte]), order[0]) for byte in range(256)}
    else:
        byte_ids = units.byte_tokens or {}
    made = partial(
        core,
        byte_tokens=array("I", [index[byte_ids[n]] if n in byte_ids else NONE for n in range(256)]),
        alphabet_size=len(model.alphabet),
        ignore_merges=model.ignore_merges,
        units=None if units is None else _units(model, units, index),
    )
    tables: dict[str, Any] = {
        "content": b"".join(contents),
        "offsets": array("i", accumulate(map(len, contents), initial=0)),
    }
    if numbered:
        number = {token_id: i for i, token_id in enumerate(sorted(order + extra))}
        ids = array("I", [number[token_id] for token_id in order + extra])
    else:
        ids = array("I", order + extra)
    try:
        if len(levels) == 1 and units is None:
            with suppress(ValueError):  # the first tokens can't be a separate stage: a part ranks after its whole
                words = _words(made, contents, merges)
                return made(**tables, ids=ids, merges=merges, levels=levels, words=words)
        return made(**tables, ids=ids, merges=merges, levels=levels)
    except MemoryError:  # also raised if tokens are so long and similar that building would take too long
        return None


def _words(
    made: Callable[..., Encoder], contents: list[bytes], merges: tuple[array[int], array[int], bool] | None
) -> Encoder | None:
    """Return the encoder of the tokens before the first superword; None without superwords, or with few such tokens.

    Any token would do as the first superword: it only decides which merges belong to the first stage.
    """
    first = next((i for i, token in enumerate(contents) if SUPERWORD.search(token)), 0)
    if first < len(contents) // 8:
        return None
    if merges is not None:
        pairs, results, one_each = merges
        number = next((rank for rank, token in enumerate(results) if token >= first), len(results))
        kept = array("i", chain.from_iterable(t for t in zip(*[iter(pairs)] * 3) if t[2] < number))
        merges = kept, results[:number], one_each
    content = b"".join(contents[:first])
    offsets = array("i", accumulate(map(len, contents[:first]), initial=0))
    return made(content=content, offsets=offsets, ids=array("I", range(first)), merges=merges, levels=())


def _rank_order(model: BPEModel, by_rank: bool) -> list[int]:
    """Return the ids in order of index: the alphabet, then by rank, then tokens that no merge creates."""
    alphabet = sorted(model.alphabet.values())
    if by_rank:
        initial = set(alphabet)
        return alphabet + [token_id for token_id in sorted(model.tokens) if token_id not in initial]
    merged = [new for _, new in sorted(set(model.merges.values()))]
    return list(dict.fromkeys([*alphabet, *merged, *model.tokens]))


def _merges(model: BPEModel, order: list[int]) -> tuple[array[int], array[int], bool] | None:
    """Return the merges by rank: (left, right, merge) triples, each merge's token, whether each token has one merge.

    Return None if there are too many, or if two tokens share a rank.
    """
    index = {token_id: i for i, token_id in enumerate(order)}
    listed = sorted(
        (rank, index[left], index[right], index[new]) for (left, right), (rank, new) in model.merges.items()
    )
    if len(listed) > MAX_MERGES:
        return None
    pairs, results, previous = array("i"), array("I"), None
    for rank, left, right, new in listed:
        if rank != previous:
            results.append(new)
        elif results[-1] != new:
            return None
        previous = rank
        pairs.extend((left, right, len(results) - 1))
    concatenated = model.units is None or not (model.units.prefix or model.units.suffix)  # a token is its two parts
    return pairs, results, concatenated and len(set(results)) == len(results)


def _extra_ids(model: BPEModel, units: InitialSymbols) -> list[int]:
    """Return the ids that stand for missing units but aren't tokens of the model; `<unk>` usually isn't."""
    ids = [*(units.byte_tokens or {}).values(), *([] if units.unk_id is None else [units.unk_id])]
    return [token_id for token_id in dict.fromkeys(ids) if token_id not in model.tokens]


def _units(model: BPEModel, units: InitialSymbols, index: dict[int, int]) -> tuple[Any, ...]:
    """Return the `units` argument of `Encoder`.

    The table has a part for each form of a unit: plain, with the prefix, with the suffix, with both.
    """
    rows, tokens = array("H", bytes(8 * BLOCKS)), array("I", [NONE]) * 256
    for form in range(4):
        prefix, suffix = units.prefix * (form & 1), units.suffix * (form >> 1)
        same = form & (bool(prefix) | bool(suffix) << 1)  # the simplest form equal to this one
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
            tokens[rows[block] * 256 + (code & 255)] = index[token_id]
    unk = NONE if units.unk_id is None else index[units.unk_id]
    return rows, tokens, units.characters, unk, units.fuse_unk, _boundary_rule(model, units)


def _boundary_rule(model: BPEModel, units: InitialSymbols) -> int:
    """Return the rule for where the tokens alone allow a text to be split.

    In general that is between any two characters that are adjacent in no token. It is nowhere if the model looks up
    whole pieces, or marks its units with a prefix or suffix. It is at most before `▁` if the model lacks the token of a
    byte, so that a run of unknown characters may become one token, or if it merges the tokens of bytes.
    """
    if not units.characters or units.prefix or units.suffix or model.ignore_merges:
        return NO_BOUNDARIES
    byte_tokens = set((units.byte_tokens or {}).values())
    if len(units.byte_tokens or {}) == 256 and byte_tokens.isdisjoint(part for pair in model.merges for part in pair):
        return AT_UNSEEN_PAIRS
    implied = VocabularyBoundaries.of(model)
    return NO_BOUNDARIES if implied is None else AT_SPACES if implied.cut_after[1] else AT_KNOWN_SPACES
