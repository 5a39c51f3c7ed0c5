"""Remove tokens from a specification, and renumber the others to close the gaps.

Ids keep their order, and each decreases by the number of removed tokens below it. So unused ids stay unused, and
removing the last tokens added changes no other id. Merges that join or make a removed token are removed too, and ranks
are renumbered likewise.

Chapter: New words for an old model. Cost: linear in tokens and merges.
"""

from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from ..core.spec import TokenizerSpec
from ..errors import VocabularyError
from ..model.bpe import BPEModel
from ..model.initial_symbols import InitialSymbols
from ..model.rank_merges import Merge, Pair, RankMerges
from ..vocab.special_tokens import SpecialTokens


def remove_tokens(spec: TokenizerSpec, removed: Collection[int]) -> tuple[TokenizerSpec, dict[int, int]]:
    """Return the specification without the ids in `removed`, and old id -> new id of all remaining tokens.

    Raises VocabularyError for a token that the post-processor or padding adds to texts.

    >>> spec = TokenizerSpec(BPEModel.from_merges([(b"l", b"o"), (b"e", b"r")]), special_tokens={"<|end|>": 300})
    >>> fewer, ids = remove_tokens(spec, {256})
    >>> fewer.model.tokens[256], fewer.special_tokens.ids, ids[300]
    (b'er', {'<|end|>': 299}, 299)
    """
    model, added = spec.model, spec.special_tokens.tokens
    removed_ids = sorted(removed)

    def new_id(token_id: int) -> int:
        at = bisect_left(removed_ids, token_id)
        if removed_ids[at : at + 1] == [token_id]:
            raise VocabularyError(f"token {token_id} can't go: the post-processor or the padding puts it into texts")
        return token_id - at

    kept = {*model.tokens, *(token.id for token in added)}.difference(removed_ids)
    ids = {token_id: new_id(token_id) for token_id in sorted(kept)}
    tokens = [token._replace(id=ids[token.id]) for token in added if token.id in ids]
    names = {token.content for token in tokens}
    processor, padding = spec.post_processor, spec.padding
    arguments = {
        **spec.arguments(),
        "special_tokens": SpecialTokens(tokens, aliases=True),
        "post_processor": None if processor is None else processor.map_ids(new_id),
        "padding": None if padding is None else replace(padding, pad_id=new_id(padding.pad_id)),
        **{f"{role}_token": name if name in names else None for role, name in spec.roles.items()},
    }
    return TokenizerSpec(_renumbered(model, ids), **arguments), ids


def _renumbered(model: BPEModel, ids: Mapping[int, int]) -> BPEModel:
    if isinstance(model.merges, RankMerges):
        merges: Mapping[Pair, Merge] = model.merges.renumbered(ids)
    else:
        kept = {(*pair, new): rank for pair, (rank, new) in model.merges.items() if ids.keys() >= {*pair, new}}
        free_ranks = sorted({rank for rank, _ in model.merges.values()}.difference(kept.values()))
        merges = MappingProxyType(
            {
                (ids[left], ids[right]): (rank - bisect_left(free_ranks, rank), ids[new])
                for (left, right, new), rank in kept.items()
            }
        )
    return BPEModel(
        MappingProxyType({ids[old]: token for old, token in model.tokens.items() if old in ids}),
        merges,
        MappingProxyType({symbol: ids[old] for symbol, old in model.alphabet.items() if old in ids}),
        model.ignore_merges,
        None if model.initial_symbols is None else _renumbered_symbols(model.initial_symbols, ids),
    )


def _renumbered_symbols(initial_symbols: InitialSymbols, ids: Mapping[int, int]) -> InitialSymbols:
    spelled = initial_symbols.byte_tokens
    return replace(
        initial_symbols,
        byte_tokens=None if spelled is None else {byte: ids[old] for byte, old in spelled.items()},
        unk_id=None if initial_symbols.unk_id is None else ids[initial_symbols.unk_id],
        symbols={symbol: ids[old] for symbol, old in initial_symbols.symbols.items() if old in ids},
    )
