"""Convert a model to the arrays from which C builds its tables: tokens in order of rank, merges, and initial symbols.

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
from ..model.bpe import BPEModel
from ..model.initial_symbols import InitialSymbols
from ..model.lazy_model import are_distinct, merge_columns_of
from ..model.rank_merges import RankMerges
from . import ID_LIMIT

if TYPE_CHECKING:
    from ..model.lazy_model import MergeColumns, Numbers
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
    """Build the encoder of a model, or return None if C doesn't support its initial symbols or it is too large.

    With `numbered`, the encoder returns the ranks of ids instead: 0 for the lowest id, and so on.
    """
    initial_symbols = None if model.covers_utf8 else model.initial_symbols
    if initial_symbols is not None and (
        initial_symbols.symbols or (initial_symbols.byte_tokens and (initial_symbols.prefix or initial_symbols.suffix))
    ):
        return None
    extra = [] if initial_symbols is None else _extra_ids(model, initial_symbols)
    if len(model.tokens) + len(extra) > MAX_TOKENS or max([*model.tokens, *extra]) >= ID_LIMIT:
        return None
    by_rank = initial_symbols is None and isinstance(model.merges, RankMerges) and model.merges.plain
    listed = None if by_rank else merge_columns_of(model)
    order = [token_id for token_id in _rank_order(model, listed) if model.tokens[token_id]]  # no text becomes b""
    merges = None if listed is None else _merges(model, listed, order)
    if not by_rank and merges is None:
        return None
    contents = [model.tokens[token_id] for token_id in order]
    if sum(map(len, contents)) > MAX_BYTES:
        return None
    index = {token_id: i for i, token_id in enumerate(order + extra)}
    if initial_symbols is None:  # a missing byte is one that no text has, so any token will do
        byte_ids: Mapping[int, int] = {byte: model.alphabet.get(bytes([byte]), order[0]) for byte in range(256)}
    else:
        byte_ids = initial_symbols.byte_tokens or {}
    make_encoder = partial(
        core,
        byte_tokens=array("I", [index[byte_ids[n]] if n in byte_ids else NONE for n in range(256)]),
        alphabet_size=len(model.alphabet),
        ignore_merges=model.ignore_merges,
        initial_symbols=None
        if initial_symbols is None or listed is None
        else _initial_symbols(model, initial_symbols, index, listed),
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
        if len(levels) == 1 and initial_symbols is None:
            with suppress(ValueError):  # the first tokens can't be a separate stage: a part ranks after its whole
                words = _words(make_encoder, contents, merges)
                return make_encoder(**tables, ids=ids, merges=merges, levels=levels, words=words)
        return make_encoder(**tables, ids=ids, merges=merges, levels=levels)
    except MemoryError:  # also raised if tokens are so long and similar that building would take too long
        return None


def _words(
    make_encoder: Callable[..., Encoder], contents: list[bytes], merges: tuple[array[int], array[int], bool] | None
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
    return make_encoder(content=content, offsets=offsets, ids=array("I", range(first)), merges=merges, levels=())


def _rank_order(model: BPEModel, listed: MergeColumns | None) -> list[int]:
    """Return the ids in order of index: the alphabet, then by rank, then tokens that no merge creates."""
    merged = () if listed is None else listed[3]
    rest = model.tokens if merged else sorted(model.tokens)
    return list(dict.fromkeys([*sorted(model.alphabet.values()), *merged, *rest]))


def _merges(model: BPEModel, listed: MergeColumns, order: list[int]) -> tuple[array[int], array[int], bool] | None:
    """Return the merges by rank: (left, right, merge) triples, each merge's token, whether each token has one merge.

    Return None if there are too many, if two tokens share a rank, or if one merges with the empty token.
    """
    if len(listed[0]) > MAX_MERGES:
        return None
    ranks = listed[0]
    try:
        left, right, new = (_positions(order, column) for column in listed[1:])
    except KeyError:  # the empty token isn't in the order
        return None
    # Each pair's merge, and each merge's token.
    number, results = array("i", range(len(ranks))), array("I", new.tobytes())
    if not are_distinct(ranks):  # several pairs are one merge
        number, results = array("i"), array("I")
        for rank, token, before in zip(ranks, new, chain([-1], ranks)):
            if rank != before:
                results.append(token)
            elif results[-1] != token:
                return None
            number.append(len(results) - 1)
    pairs = array("i", bytes(3 * left.itemsize * len(left)))
    pairs[0::3], pairs[1::3], pairs[2::3] = left, right, number
    concatenated = model.initial_symbols is None or not (
        model.initial_symbols.prefix or model.initial_symbols.suffix
    )  # a token is its two parts
    return pairs, results, concatenated and len(set(results)) == len(results)


def _positions(order: list[int], ids: Numbers) -> array[int]:
    """Return where each of `ids` is in `order`."""
    from ._core import positions

    if max(order, default=0) < 4 * len(order):
        return array("i", positions(array("I", order), ids))
    index = dict(zip(order, range(len(order))))  # a row for each id would take far more memory
    return array("i", map(index.__getitem__, ids))


def _extra_ids(model: BPEModel, initial_symbols: InitialSymbols) -> list[int]:
    """Return the ids that stand for missing symbols but aren't tokens of the model; `<unk>` usually isn't."""
    ids = [
        *(initial_symbols.byte_tokens or {}).values(),
        *([] if initial_symbols.unk_id is None else [initial_symbols.unk_id]),
    ]
    return [token_id for token_id in dict.fromkeys(ids) if token_id not in model.tokens]


def _initial_symbols(
    model: BPEModel, initial_symbols: InitialSymbols, index: dict[int, int], listed: MergeColumns
) -> tuple[Any, ...]:
    """Return the `initial_symbols` argument of `Encoder`.

    The table has a part for each form of a symbol: plain, with the prefix, with the suffix, with both.
    """
    rows, tokens = array("H", bytes(8 * BLOCKS)), array("I", [NONE]) * 256
    for form in range(4):
        prefix = initial_symbols.prefix if form & 1 else b""
        suffix = initial_symbols.suffix if form & 2 else b""
        same = form & (bool(prefix) | bool(suffix) << 1)  # the simplest form equal to this one
        if same != form:
            rows[form * BLOCKS : (form + 1) * BLOCKS] = rows[same * BLOCKS : (same + 1) * BLOCKS]
            continue
        for token, token_id in model.alphabet.items():
            symbol = token[len(prefix) : len(token) - len(suffix)]
            if token != prefix + symbol + suffix or initial_symbols.cut(symbol) != [symbol]:
                continue
            code = ord(symbol.decode()) if initial_symbols.characters else symbol[0]
            block = form * BLOCKS + (code >> 8)
            if not rows[block]:
                rows[block] = len(tokens) // 256
                tokens.extend([NONE] * 256)
            tokens[rows[block] * 256 + (code & 255)] = index[token_id]
    unk = NONE if initial_symbols.unk_id is None else index[initial_symbols.unk_id]
    return (
        rows,
        tokens,
        initial_symbols.characters,
        unk,
        initial_symbols.fuse_unk,
        _boundary_rule(model, initial_symbols, listed),
    )


def _boundary_rule(model: BPEModel, initial_symbols: InitialSymbols, listed: MergeColumns) -> int:
    """Return the rule for where the tokens alone allow a text to be split.

    In general that is between any two characters that are adjacent in no token. It is nowhere if the model looks up
    whole pieces, or marks its symbols with a prefix or suffix. It is at most before `▁` if the model lacks the token of
    a byte, so that a run of unknown characters may become one token, or if it merges the tokens of bytes.
    """
    if not initial_symbols.characters or initial_symbols.prefix or initial_symbols.suffix or model.ignore_merges:
        return NO_BOUNDARIES
    byte_tokens = set((initial_symbols.byte_tokens or {}).values())
    if len(initial_symbols.byte_tokens or {}) == 256 and all(map(byte_tokens.isdisjoint, listed[1:3])):
        return AT_UNSEEN_PAIRS
    implied = VocabularyBoundaries.of(model)
    return NO_BOUNDARIES if implied is None else AT_SPACES if implied.cut_after[1] else AT_KNOWN_SPACES
