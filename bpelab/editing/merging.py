"""Merge another vocabulary into one, as far as exact merges allow.

Concatenating two lists of merges doesn't give a vocabulary. If the first list has split a word its own way, the
second's merges never see their parts, and their tokens are dead weight. So each of the other's tokens is tried in turn,
in the order of learning: into how many tokens do our merges, with those added so far, encode its bytes? One: we have
it. Two: merging these two makes it, wherever its bytes occur and no merge crosses their ends. Three or more: no merge
of two tokens can make it yet. Such tokens are retried as long as others are added, since one of those may be the
missing part.

The two tokens may differ from those in the other vocabulary: its split is useless if our merges split differently.
Nothing is renumbered, and text without a new token keeps its ids, for the reasons given in `extending.py`, whose
conditions on new tokens apply here too.

Chapter: New words for an old model. Cost: merging each token's bytes a few times; seconds for 100,000 tokens.
Source: the tokens that concatenated lists leave unreachable are counted by Purason et al. 2025, arXiv 2512.03989, where
appending them is the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count
from typing import Generic, NamedTuple, TypeVar

from ..boundaries.from_vocabulary import SPACE
from ..core.derivations import derive_tokens
from ..core.pipeline import Pipeline
from ..core.spec import TokenizerSpec
from ..core.tokenizer import Tokenizer, with_spec
from ..encoders.heap import HeapEncoder
from ..errors import VocabularyError
from ..formats.listing import printable
from ..model.bpe import BPEModel
from ..model.initial_symbols import token_initial_symbols
from ..trainers.learned_merge import LearnedMerge
from ..unicode.byte_alphabet import from_alphabet
from .append_merges import append_merges
from .extending import NewTokens, missing_characters
from .pruning import learned_order
from .token_constraints import TokenConstraints

CONTEXTS = (("", ""), ("\n", ""), ("x", ""), ("1", ""), (".", ""), ("¤", ""), ("", "x"), ("", "re"))
"""Contexts put around a token to see whether the pre-tokenizer keeps it whole: patterns look at neighbours.
Some of o200k_base's tokens come only after a rare sign, as `\\n//` does, or before more letters, as in ` I're`."""

Edited = TypeVar("Edited", bound=Tokenizer)


class Merged(NamedTuple, Generic[Edited]):
    """A tokenizer merged with another one's vocabulary.

    Attributes:
        tokenizer: the new tokenizer.
        ids: the other's id -> the id here, for every ordinary token of the other that is here now.
        added: the ids of the new tokens.
        refused: the other's id -> why the token couldn't be added.
    """

    tokenizer: Edited
    ids: Mapping[int, int]
    added: tuple[int, ...]
    refused: Mapping[int, str]


def merge_vocabularies(tokenizer: Edited, other: Tokenizer) -> Merged[Edited]:
    """Return a tokenizer with another's tokens added, as far as exact merges allow.

    Every id, merge and special token is kept, and text without a new token keeps its ids. The other's tokens follow in
    the order in which they were learned. Each is made by merging the two tokens into which the merges so far encode its
    bytes. If there are more than two, no merge can reach the token, and it is left out, as is a token that the
    pre-tokenizer cuts. The other's special tokens aren't copied: `BPETokenizer.with_special_tokens` adds them.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, 260)
    >>> merged = merge_vocabularies(t, BPETokenizer.train("newest wide " * 9, 264))
    >>> [merged.tokenizer.model.tokens[i] for i in merged.added][-3:], merged.refused
    ([b'new', b' wide', b'est'], {})

    Raises VocabularyError if one's tokens are bytes and the other's are characters, or carry word marks.
    Cost: seconds for 100,000 tokens.
    """
    spec, other_spec = tokenizer.spec, other.spec
    model, theirs = spec.model, other_spec.model.tokens
    _check_alike(spec, other_spec)
    limits = NewTokens(spec, derive_tokens(model), TokenConstraints())
    alike = (spec.normalizer, spec.pre_tokenizer) == (other_spec.normalizer, other_spec.pre_tokenizer)
    pipeline, letters = Pipeline(spec, "auto", 0), not spec.is_byte_level and _in_byte_alphabet(spec)
    refused: dict[int, str] = {}
    learned = learned_order(other_spec.model, derive_tokens(other_spec.model))
    made = set(learned)
    new_symbols = _new_symbols(spec, other_spec)
    waiting: list[int] = []
    for token_id in (*sorted(theirs.keys() - made), *learned):
        token = theirs[token_id]
        if token in model.ids or token in new_symbols:
            continue
        if token_id not in made:
            refused[token_id] = "no merge makes it there"
        elif not limits.allows(token):
            refused[token_id] = "an added token, or a token here that no merge makes, begins or ends with it"
        elif not alike and not _stays_whole(pipeline, token, letters):
            refused[token_id] = "the pre-tokenizer here cuts it"
        else:
            waiting.append(token_id)
    growing = _GrowingModel(model, new_symbols)
    while True:
        reasons = {token_id: why for token_id in waiting if (why := growing.add(theirs[token_id])) is not None}
        if len(reasons) == len(waiting):
            break
        waiting = list(reasons)
    next_id = 1 + max(chain(model.tokens, (token.id for token in spec.special_tokens.tokens)))
    merged = append_merges(model, growing.learned_merges, next_id, new_symbols)
    return Merged(
        with_spec(tokenizer, TokenizerSpec(merged, **spec.arguments())),
        {token_id: merged.ids[token] for token_id, token in sorted(theirs.items()) if token in merged.ids},
        tuple(range(next_id, next_id + len(growing.learned_merges))),
        dict(sorted((refused | reasons).items())),
    )


class _GrowingModel:
    """Our merges with those added so far, to encode the bytes of the other's tokens."""

    def __init__(self, model: BPEModel, new_symbols: frozenset[bytes]) -> None:
        merges = model.merges
        self._tokens, self._ids, self._alphabet = dict(model.tokens), dict(model.ids), dict(model.alphabet)
        self._table = {pair: merge for pair in merges if (merge := merges.get(pair)) is not None}
        self._ranks = count(1 + max((rank for rank, _ in self._table.values()), default=-1))
        self._free = count(1 + max(self._tokens))
        self._model = BPEModel(
            self._tokens, self._table, self._alphabet, False, model.initial_symbols, validated_ids=self._ids
        )
        self._heap, self.learned_merges = HeapEncoder(self._model), list[LearnedMerge]()
        for symbol in sorted(new_symbols):
            self._alphabet[symbol] = self._number(symbol)
            self.learned_merges.append(LearnedMerge(symbol[:1], symbol[1:], 0))

    def _number(self, token: bytes) -> int:
        new = self._ids[token] = next(self._free)
        self._tokens[new] = token
        return new

    def add(self, token: bytes) -> str | None:
        """Add a token, or return the reason why it can't be added."""
        ids = self._heap.merge(token_initial_symbols(self._model, token))
        parts = [self._tokens.get(token_id, b"?") for token_id in ids]
        if b"".join(parts) != token:
            return "it has initial symbols that are not among those here"
        if len(ids) != 2:
            return f"the merges here make {' + '.join(repr(printable(part)) for part in parts)} of it"
        self._table[ids[0], ids[1]] = next(self._ranks), self._number(token)
        self.learned_merges.append(LearnedMerge(parts[0], parts[1], 0))
        return None


def _check_alike(spec: TokenizerSpec, other: TokenizerSpec) -> None:
    """Raise VocabularyError unless both have the same kind of initial symbols."""
    if spec.is_byte_level != other.is_byte_level:
        here, there = ("bytes", "characters") if spec.is_byte_level else ("characters", "bytes")
        raise VocabularyError(f"the tokens here are made of {here}, and the other's of {there}: no merge fits both")
    ours, theirs = spec.model.initial_symbols, other.model.initial_symbols
    marks = [("", "") if symbols is None else (symbols.prefix, symbols.suffix) for symbols in (ours, theirs)]
    if marks[0] != marks[1] or any(prefix for prefix, _ in marks):
        raise VocabularyError(
            "the tokens carry marks of what continues or ends a word, which differ or can't be joined"
        )
    if not spec.is_byte_level and _in_byte_alphabet(spec) != _in_byte_alphabet(other):
        raise VocabularyError("the tokens of one are written in GPT-2's byte alphabet, and those of the other are not")


def _in_byte_alphabet(spec: TokenizerSpec) -> bool:
    return spec.pre_tokenizer is not None and (spec.pre_tokenizer.byte_level or spec.pre_tokenizer.emits_byte_alphabet)


def _new_symbols(spec: TokenizerSpec, other: TokenizerSpec) -> frozenset[bytes]:
    """Return the characters that are initial symbols in the other and are spelled only in bytes here."""
    theirs = (symbol.decode() for symbol in other.model.alphabet) if not spec.is_byte_level else ()
    return frozenset(char.encode() for char in missing_characters(spec, (text for text in theirs if len(text) == 1)))


def _stays_whole(pipeline: Pipeline, token: bytes, letters: bool) -> bool:
    """Return whether some text has the token in one piece; True for a token that isn't text, such as half a character.

    `letters` says whether tokens are written in GPT-2's byte alphabet.
    """
    try:
        text = from_alphabet(token.decode()).decode() if letters else token.decode()
    except ValueError:
        return True
    texts = [before + each + after for each in {text, text.replace(SPACE, " ")} for before, after in CONTEXTS]
    return any(token in pipeline.to_bytes(piece) for each in texts for piece in pipeline.pre_tokenize(each, 0))
