"""Derivations: for each token, the two tokens that the last merge joins to make it, if any merge does.

Merging is deterministic, and what happens between the two ends of a token doesn't depend on its context, as long
as no merge crosses an end. So a token always arises from the same two tokens as from its own bytes alone. Hence a token
*needs* these two, the tokens that they derive from, and no others. Removing a token that no other needs leaves the
rest as reachable as before.

Chapter: New words for an old model. Cost: a second for 100,000 tokens; up to five if a list of merges makes tokens in
several ways, as in SentencePiece's vocabularies, because each token's merges are then run.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ..encoders.heap import HeapEncoder
from ..model.bpe import BPEModel
from ..model.trace import MergeStep


class Derivations(NamedTuple):
    """The derivations of a model's tokens.

    Attributes:
        parts: id -> (left id, right id), for each token that merging makes.
        unreachable: the ids of tokens that merging neither makes nor starts from, lowest first.
    """

    parts: Mapping[int, tuple[int, int]]
    unreachable: tuple[int, ...]


def base_ids(model: BPEModel) -> set[int]:
    """Return the ids that need no merge: units, tokens of single bytes, symbols, and the unknown token."""
    units = model.units
    ids = set(model.alphabet.values())
    if units is not None:
        ids.update((units.byte_tokens or {}).values(), units.symbols.values())
        ids.update(() if units.unk_id is None else (units.unk_id,))
    return ids


def derive_tokens(model: BPEModel) -> Derivations:
    """Return the two parts of each token, and the tokens that can't be reached.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    >>> derive_tokens(model)
    Derivations(parts={256: (108, 111), 257: (256, 119)}, unreachable=())
    """
    found, unmade = model.recovered_merges, base_ids(model)
    if found.exact and len(set(found.rank_of.values())) == len(found.rank_of):
        parts = {token: pair for token, pair in found.splits.items() if token not in unmade}
    else:
        heap = HeapEncoder(model)
        made = ((token, _last_pair(heap, token)) for token in model.tokens if token not in unmade)
        parts = {token: pair for token, pair in made if pair is not None}
    return Derivations(parts, tuple(sorted(i for i in model.tokens if i not in parts and i not in unmade)))


def _last_pair(heap: HeapEncoder, token_id: int) -> tuple[int, int] | None:
    """Return the last pair merged when a token's units are encoded, or None if they don't become that token."""
    steps: list[MergeStep] = []

    def record(step: object) -> None:
        if isinstance(step, MergeStep):
            steps.append(step)

    ids = heap.merge(token_units(heap.model, heap.model.tokens[token_id]), record)
    return (steps[-1].left, steps[-1].right) if ids == [token_id] and steps else None


def token_units(model: BPEModel, token: bytes) -> list[int]:
    """Return the ids before a token's first merge: as for a piece, but with the token's own word prefix or suffix.

    >>> from bpelab.model.initial_symbols import InitialSymbols
    >>> units = InitialSymbols(True, suffix=b"</w>")
    >>> tokens = {0: b"a", 1: b"b</w>", 2: b"ab</w>"}
    >>> token_units(BPEModel(tokens, {(0, 1): (0, 2)}, {b"a": 0, b"b</w>": 1}, units=units), b"ab</w>")
    [0, 1]
    """
    units = model.units
    if units is None or not (units.prefix or units.suffix):
        return model.initial_ids(token)
    inside = bool(units.prefix) and token.startswith(units.prefix)
    ends = bool(units.suffix) and token.endswith(units.suffix)
    cut = units.cut(token.removeprefix(units.prefix).removesuffix(units.suffix))
    forms = [(units.prefix if inside or at else b"") + unit for at, unit in enumerate(cut)]
    if ends and forms:
        forms[-1] += units.suffix
    ids = [units.symbols.get(form, model.alphabet.get(form)) for form in forms]
    return [token_id for token_id in ids if token_id is not None] if None not in ids else []
