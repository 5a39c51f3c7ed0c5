"""Derivations: for each token, the two tokens that the last merge joins to make it, if any merge does.

Merging is deterministic, and what happens between the two ends of a token doesn't depend on its context, as long
as no merge crosses an end. So a token always arises from the same two tokens as from its own bytes alone. Hence a token
*needs* these two, the tokens that they derive from, and no others. Removing a token that no other needs leaves the
rest as reachable as before.

Chapter: New words for an old model. Cost: a second for 100,000 tokens, less in C; up to five if a token ranks before
its own parts, or several tokens share a rank, as in SentencePiece's vocabularies, because each token's merges are then
run.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import accumulate, chain
from typing import NamedTuple

from ..encoders.heap import HeapEncoder
from ..model.bpe import BPEModel
from ..model.lazy_model import are_distinct
from ..model.trace import MergeStep
from ..native import last_merges, recovered_merges


class Derivations(NamedTuple):
    """The derivations of a model's tokens.

    Attributes:
        parts: id -> (left id, right id), for each token that merging makes.
        unreachable: the ids of tokens that merging neither makes nor starts from, lowest first.
    """

    parts: Mapping[int, tuple[int, int]]
    unreachable: tuple[int, ...]


def base_ids(model: BPEModel) -> set[int]:
    """Return the ids that need no merge: initial symbols, tokens of single bytes, and the unknown token."""
    initial_symbols = model.initial_symbols
    ids = set(model.alphabet.values())
    if initial_symbols is not None:
        ids.update((initial_symbols.byte_tokens or {}).values(), initial_symbols.symbols.values())
        ids.update(() if initial_symbols.unk_id is None else (initial_symbols.unk_id,))
    return ids


def derive_tokens(model: BPEModel) -> Derivations:
    """Return the two parts of each token, and the tokens that can't be reached.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    >>> derive_tokens(model)
    Derivations(parts={256: (108, 111), 257: (256, 119)}, unreachable=())
    """
    found, unmade = recovered_merges(model), base_ids(model)
    if found.exact and len(set(found.rank_of.values())) == len(found.rank_of):
        parts = {token: pair for token, pair in found.splits.items() if token not in unmade}
    else:
        parts = _merge_each(model, [token for token in model.tokens if token not in unmade])
    return Derivations(parts, tuple(sorted(i for i in model.tokens if i not in parts and i not in unmade)))


def _merge_each(model: BPEModel, token_ids: list[int]) -> dict[int, tuple[int, int]]:
    """Return the two parts of each token that merging makes, by merging each: in C if all ranks are distinct."""
    columns = None if model.columns is None else model.columns.merges
    if columns is not None and are_distinct(columns[0]):
        made = last_merges(columns, token_ids, *_symbols_of(model, [model.tokens[token_id] for token_id in token_ids]))
        if made is not None:
            return made
    heap = HeapEncoder(model)
    pairs = ((token_id, _last_pair(heap, token_id)) for token_id in token_ids)
    return {token_id: pair for token_id, pair in pairs if pair is not None}


def _symbols_of(model: BPEModel, tokens: list[bytes]) -> tuple[array[int], array[int]]:
    """Return the ids before any merge of all tokens, end to end, and where each token's end."""
    try:
        if model.is_byte_level:
            return array("I", map(model.byte_ids.__getitem__, b"".join(tokens))), array(
                "I", accumulate(map(len, tokens))
            )
        if model.char_ids is not None:
            texts = [token.decode() for token in tokens]
            symbols = array("I", map(model.char_ids.__getitem__, "".join(texts)))
            return symbols, array("I", accumulate(map(len, texts)))
    except (KeyError, UnicodeDecodeError):  # a symbol that isn't in the alphabet
        pass
    rows = [token_initial_symbols(model, token) for token in tokens]
    return array("I", chain.from_iterable(rows)), array("I", accumulate(map(len, rows)))


def _last_pair(heap: HeapEncoder, token_id: int) -> tuple[int, int] | None:
    """Return the last pair merged when a token's symbols are encoded, or None if they don't become that token."""
    steps: list[MergeStep] = []

    def record(step: object) -> None:
        if isinstance(step, MergeStep):
            steps.append(step)

    ids = heap.merge(token_initial_symbols(heap.model, heap.model.tokens[token_id]), record)
    return (steps[-1].left, steps[-1].right) if ids == [token_id] and steps else None


def token_initial_symbols(model: BPEModel, token: bytes) -> list[int]:
    """Return the ids before a token's first merge: as for a piece, but with the token's own word prefix or suffix.

    >>> from bpelab.model.initial_symbols import InitialSymbols
    >>> symbols = InitialSymbols(True, suffix=b"</w>")
    >>> tokens = {0: b"a", 1: b"b</w>", 2: b"ab</w>"}
    >>> token_initial_symbols(
    ...     BPEModel(tokens, {(0, 1): (0, 2)}, {b"a": 0, b"b</w>": 1}, initial_symbols=symbols), b"ab</w>"
    ... )
    [0, 1]
    """
    initial_symbols = model.initial_symbols
    if initial_symbols is None or not (initial_symbols.prefix or initial_symbols.suffix):
        return model.initial_ids(token)
    inside = bool(initial_symbols.prefix) and token.startswith(initial_symbols.prefix)
    ends = bool(initial_symbols.suffix) and token.endswith(initial_symbols.suffix)
    cut = initial_symbols.cut(token.removeprefix(initial_symbols.prefix).removesuffix(initial_symbols.suffix))
    forms = [(initial_symbols.prefix if inside or at else b"") + symbol for at, symbol in enumerate(cut)]
    if ends and forms:
        forms[-1] += initial_symbols.suffix
    ids = [initial_symbols.symbols.get(form, model.alphabet.get(form)) for form in forms]
    return [token_id for token_id in ids if token_id is not None] if None not in ids else []
