"""Edit a tokenizer: add tokens, remove tokens, merge another vocabulary, add superwords.

Each function takes a tokenizer and returns a new one of the same class, with the same encoder. The work is done on
specifications: `extending.py`, `pruning.py`, `merging.py` and `adding_superwords.py`.

Chapter: New words for an old model; Superwords. Cost: see each function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ..core.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.spec import TokenizerSpec
    from ..trainers.counting.corpus import Corpus
    from ..trainers.superwords import Superwords

Edited = TypeVar("Edited", bound=Tokenizer)
"""The class of the edited tokenizer, and of the result."""


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


def extend(
    tokenizer: Edited,
    corpus: Corpus,
    new_tokens: int = 8000,
    *,
    min_frequency: int = 2,
    max_words: int | None = None,
    input_format: str | None = None,
    field: str = "text",
    progress: bool | None = None,
) -> Edited:
    """Return a tokenizer with more tokens: continue training from its merges, on text cut by its own pre-tokenizer.

    Every id, merge and special token is kept. New merges rank after all others, and new ids follow the highest one
    in use, special tokens included; free and reserved ids stay so. Text in which no new token occurs keeps its ids.

    Args:
        corpus, min_frequency, input_format, field, progress: as for `BPETokenizer.train`.
        new_tokens: how many tokens to add; fewer, with the warning TrainingStopped, if no pair is frequent enough.
        max_words: the most words that a new token may have. By default, if nothing cuts text into words (models like
            SentencePiece's, superwords), the most that an old token has.

    Among equally frequent pairs, the one with the lowest ids is merged. A pair is skipped if its token exists already
    (made by no merge), or starts or ends such a token. If tokens are made of characters, frequent characters that are
    missing become tokens too.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, 260, special_tokens=["<|end|>"])
    >>> more = extend(t, "newest newer new " * 9, 2)
    >>> more.tokenize("newest"), more.encode("lowest<|end|>") == t.encode("lowest<|end|>"), more.model.tokens[261]
    ([b'new', b'e', b's', b't'], True, b'new')

    Raises TrainingError for a number below 1, an empty corpus, and a tokenizer with a prefix for word continuations;
    otherwise, for the corpus, the errors of `BPETokenizer.train`.
    Cost: for 10 MB and 8,000 tokens 5 to 9 s; see `editing/extending.py`, which names the source.
    """
    from .extending import extend as extend_spec

    spec = extend_spec(
        tokenizer.spec,
        corpus,
        new_tokens,
        min_frequency=min_frequency,
        max_words=max_words,
        input_format=input_format,
        field=field,
        progress=progress,
    )
    return _like(tokenizer, spec)


def prune(
    tokenizer: Edited,
    *,
    corpus: Corpus | None = None,
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
    Cost: encoding the corpus, and seconds for 100,000 tokens; see `editing/pruning.py`, which names the source.
    """
    from .pruning import prune as prune_spec

    spec, ids, removed = prune_spec(
        tokenizer.spec,
        corpus=corpus,
        keep=keep,
        min_frequency=min_frequency,
        remove=remove,
        input_format=input_format,
        field=field,
        progress=progress,
    )
    return Pruned(_like(tokenizer, spec), ids, removed)


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
    Cost: seconds for 100,000 tokens; see `editing/merging.py`.
    """
    from .merging import merge_vocabularies as merge_specs

    spec, ids, added, refused = merge_specs(tokenizer.spec, other.spec)
    return Merged(_like(tokenizer, spec), ids, added, refused)


def add_superwords(
    tokenizer: Edited,
    corpus: Corpus,
    vocab_size: int,
    *,
    superwords: str | Superwords = "superbpe",
    min_frequency: int = 2,
    input_format: str | None = None,
    field: str = "text",
    max_memory: int | None = None,
    progress: bool | None = None,
) -> Edited:
    """Return a tokenizer of `vocab_size` tokens in all: the old ones, with their ids, plus superwords.

    The arguments are those of `BPETokenizer.train`. The new tokens' ids follow the highest existing id, special tokens
    included, and text is cut by the superword pattern. With "boundless", superwords don't compete with words, since no
    token is removed.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("one of the best, some of the rest", 262)
    >>> more = add_superwords(t, "all of the cats, none of the dogs", 263)
    >>> more.tokenize(" of the"), more.encode("best") == t.encode("best")
    ([b' of the'], True)

    Raises TrainingError if the size leaves no room for a superword, if the model doesn't start with the 256 bytes, and
    if text isn't cut by exactly one pattern.
    """
    from .adding_superwords import add_superwords as add_to_spec

    spec = add_to_spec(
        tokenizer.spec,
        corpus,
        vocab_size,
        superwords,
        min_frequency=min_frequency,
        input_format=input_format,
        field=field,
        max_memory=max_memory,
        progress=progress,
    )
    return _like(tokenizer, spec)


def _like(tokenizer: Edited, spec: TokenizerSpec) -> Edited:
    """Return a specification's tokenizer, with another tokenizer's class and encoder."""
    pipeline = tokenizer.pipeline
    return type(tokenizer).from_spec(spec, encoder=pipeline.encoder, cache_size=pipeline.cache.capacity)
