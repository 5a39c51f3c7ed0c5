"""Prune a vocabulary: remove tokens that no other token is made of (leaves), the least frequent first.

A token that another is made of can't be removed first: no merge would make the other one any more. So only *leaves* are
removed, and a token becomes a leaf when all tokens made of it are gone. The remaining tokens are exactly as reachable
as before, since their merges don't involve the removed ones.

The leaf that a corpus uses least is removed first; among equally frequent leaves, the one learned last. So without a
corpus, the result is as if training had stopped earlier. A removed leaf's count is added to the counts of its two
parts, which replace it. That is an estimate, since a part may merge with its other neighbour instead. Tokens that no
merge makes are removed before all others, since text hardly reaches them.

Chapter: New words for an old model. Cost: encoding the corpus, then O(n log n) for n tokens.
Source: Purason et al. 2025, arXiv 2512.03989, and `leaf_pruner.py` in github.com/taidopurason/tokenizer-extension,
which breaks ties by heap order, keeps tokens that no merge makes, and for a token made in several ways uses the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import islice, takewhile
from typing import Generic, NamedTuple, TypeVar

from .._support.textio import utf8
from .._support.validate import whole_number
from ..core.derivations import Derivations, derive_tokens
from ..core.spec import TokenizerSpec
from ..core.tokenizer import Tokenizer, with_spec
from ..errors import VocabularyError
from ..formats.listing import printable
from ..model.bpe import BPEModel
from ..trainers.counting.by_tokenizer import count_by_tokenizer, pre_token_encoder
from ..trainers.counting.corpus import Corpus
from .renumber import remove_tokens

Edited = TypeVar("Edited", bound=Tokenizer)


class Pruned(NamedTuple, Generic[Edited]):
    """A tokenizer with fewer tokens.

    Attributes:
        tokenizer: the new tokenizer.
        ids: old id -> new id of every remaining token, special and added tokens included.
        removed: the old ids of the removed tokens, in the order of removal.
    """

    tokenizer: Edited
    ids: Mapping[int, int]
    removed: tuple[int, ...]


def prune(
    tokenizer: Edited,
    *,
    corpus: Corpus | None = None,
    uses: Mapping[int, int] | None = None,
    keep: int | None = None,
    min_frequency: int | None = None,
    remove: Iterable[bytes | str | int] | None = None,
    input_format: str | None = None,
    field: str = "text",
    progress: bool | None = None,
) -> Pruned[Edited]:
    """Return a tokenizer with fewer tokens, and the map from old to new ids.

    Only tokens that no other token is made of are removed, one by one: first those that no merge makes, then those that
    the corpus uses least. Bytes, characters, special and added tokens stay unless `remove` names them.

    Args:
        corpus: the text in which token uses are counted, as for `BPETokenizer.train`; without one, tokens are removed
            in the reverse order of learning.
        uses: instead of a corpus, how often each id is used, as `count_uses` returns it.
        keep: the total number of tokens to keep, special tokens included.
        min_frequency: remove only tokens that the corpus uses less often than this: 1 removes those it never uses.
        remove: instead, the tokens to remove: ids, bytes, or names of special tokens.
        input_format, field, progress: as for `BPETokenizer.train`.

    Ids keep their order; each decreases by the number of removed tokens below it. So removing what `extend` added gives
    back the original tokenizer.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, 262)
    >>> fewer, ids, removed = prune(t, corpus="low lower", keep=260)
    >>> [t.model.tokens[i] for i in removed], fewer.tokenize("lowest")
    ([b'st', b' lower'], [b'low', b'e', b's', b't'])

    Raises VocabularyError for a named token that another is made of or that some text needs, and for a `keep` that
    can't be reached; otherwise, for the corpus, the errors of `BPETokenizer.train`.
    Cost: encoding the corpus, and seconds for 100,000 tokens.
    """
    spec = tokenizer.spec
    if remove is not None and any(given is not None for given in (keep, min_frequency, corpus, uses)):
        raise VocabularyError("remove names the tokens to take: leave out corpus, uses, keep and min_frequency")
    if remove is None and keep is None and min_frequency is None:
        raise VocabularyError("say what to take: keep, min_frequency (with a corpus), or remove")
    if corpus is not None and uses is not None:
        raise VocabularyError("uses takes the place of a corpus: leave one of them out")
    if min_frequency is not None and corpus is None and uses is None:
        raise VocabularyError("min_frequency is how often a corpus uses a token, and corpus is missing")
    size = len({*spec.model.tokens, *(token.id for token in spec.special_tokens.tokens)})
    most = size if keep is None else size - whole_number("keep", keep)
    if most < 0:
        raise VocabularyError(f"keep={keep:,}, but the tokenizer has {size:,} tokens")
    below = None if min_frequency is None else whole_number("min_frequency", min_frequency)
    if below is not None and below < 1:
        raise VocabularyError(f"min_frequency must be at least 1, not {below}")
    if corpus is not None:
        uses = count_uses(spec, corpus, input_format=input_format, field=field, progress=progress)
    derived = derive_tokens(spec.model)
    if remove is not None:
        removed = list(named_leaves(spec, derived, remove))
    else:
        leaves = leaves_by_use(spec, derived, uses or {})
        rare = takewhile(lambda leaf: below is None or leaf[1] < below, leaves)
        removed = [token_id for token_id, _ in islice(rare, most)]
    if keep is not None and below is None and len(removed) < most:
        raise VocabularyError(
            f"keep={keep:,} is too small: {size - len(removed):,} tokens are initial symbols, special or added tokens"
        )
    pruned, ids = remove_tokens(spec, set(removed))
    return Pruned(with_spec(tokenizer, pruned), ids, tuple(removed))


def count_uses(
    spec: TokenizerSpec,
    corpus: Corpus,
    *,
    input_format: str | None = None,
    field: str = "text",
    progress: bool | None = None,
) -> Counter[int]:
    """Return how often each id occurs in the encoded corpus; added tokens aren't counted.

    >>> spec = TokenizerSpec(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), pattern="gpt2")
    >>> sorted(count_uses(spec, "low lo low").items())
    [(32, 2), (256, 1), (257, 2)]
    """
    counts = count_by_tokenizer(spec, corpus, input_format=input_format, field=field, progress=progress)
    uses = Counter[int]()
    for ids, count in zip(pre_token_encoder(spec)(counts), counts.values()):
        for token_id in ids:
            uses[token_id] += count
    return uses


def leaves_by_use(spec: TokenizerSpec, derived: Derivations, uses: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield tokens in an order in which they can be removed, with their counts, inherited counts included.

    Initial symbols, special tokens and added tokens never go.
    """
    rank = {token_id: at for at, token_id in enumerate(learned_order(spec.model, derived))}
    counts, needed, added = Counter(uses), Counter[int](), {token.id for token in spec.special_tokens.tokens}
    for left, right in derived.parts.values():
        needed.update((left, right))

    def entry(token_id: int) -> tuple[int, int, int]:
        return counts[token_id], -rank[token_id], token_id

    for token_id in reversed(derived.unreachable):
        if token_id not in added:
            yield token_id, counts[token_id]
    heap = [entry(token_id) for token_id in derived.parts if not needed[token_id] and token_id not in added]
    heapify(heap)
    while heap:
        count, _, token_id = heappop(heap)
        yield token_id, count
        for part in derived.parts[token_id]:
            counts[part] += count
            needed[part] -= 1
            if not needed[part] and part in derived.parts and part not in added:
                heappush(heap, entry(part))


def learned_order(model: BPEModel, derived: Derivations) -> list[int]:
    """Return the tokens made by merges, in the order of learning."""
    find = model.merges.get
    ranks = {token_id: found[0] for token_id, pair in derived.parts.items() if (found := find(pair)) is not None}
    return sorted(ranks, key=lambda token_id: (ranks[token_id], token_id))


def named_leaves(spec: TokenizerSpec, derived: Derivations, remove: Iterable[bytes | str | int]) -> Iterator[int]:
    """Yield the ids of the named tokens, leaves first. Raises VocabularyError for one that can't be removed."""
    removed = {_id_of(spec, token) for token in _listed(remove)}
    for token_id in sorted(removed):
        _check_may_go(spec, token_id)
    for token_id, pair in derived.parts.items():
        if token_id not in removed and (lost := next((part for part in pair if part in removed), None)) is not None:
            raise VocabularyError(
                f"{_shown(spec, lost)} can't go: {_shown(spec, token_id)} is made of it; remove that one as well"
            )
    parts = {token_id: derived.parts[token_id] for token_id in removed if token_id in derived.parts}
    added = {token.id for token in spec.special_tokens.tokens}
    others = sorted(removed - (parts.keys() - added), reverse=True)
    yield from others
    yield from (token_id for token_id, _ in leaves_by_use(spec, Derivations(parts, ()), {}))


def _listed(remove: Iterable[bytes | str | int]) -> list[bytes | str | int]:
    if isinstance(remove, (bytes, str)) or not isinstance(remove, Iterable):
        raise TypeError(f"remove is a list of tokens or ids, not {remove!r}")
    return list(remove)


def _id_of(spec: TokenizerSpec, token: bytes | str | int) -> int:
    """Return the id of a token given by its id, bytes or text, or of a special token given by its name."""
    added = {entry.content: entry.id for entry in spec.special_tokens.tokens}
    if isinstance(token, str) and token in added:
        return added[token]
    if isinstance(token, (bytes, str)):
        found = spec.model.ids.get(utf8(token) if isinstance(token, str) else token)
    else:
        token_id = whole_number("remove", token)
        found = token_id if token_id in spec.model.tokens or token_id in added.values() else None
    if found is None:
        raise VocabularyError(f"remove names {token!r}, and there is no such token")
    return found


def _check_may_go(spec: TokenizerSpec, token_id: int) -> None:
    """Raise VocabularyError for a token without which some text can't be encoded, or is encoded differently."""
    model, initial_symbols = spec.model, spec.model.initial_symbols
    if initial_symbols is None or not initial_symbols.characters:
        if token_id in model.alphabet.values():
            raise VocabularyError(f"{_shown(spec, token_id)} can't go: text with this byte could not be encoded")
    elif token_id in (initial_symbols.byte_tokens or {}).values():
        raise VocabularyError(f"{_shown(spec, token_id)} can't go: it spells characters that have no token")
    if initial_symbols is not None and (
        token_id == initial_symbols.unk_id or token_id in initial_symbols.symbols.values()
    ):
        raise VocabularyError(f"{_shown(spec, token_id)} can't go: what it is for would become something else")


def _shown(spec: TokenizerSpec, token_id: int) -> str:
    name = spec.special_tokens.contents.get(token_id)
    return f"token {token_id}, {name if name is not None else printable(spec.model.tokens[token_id])!r},"
