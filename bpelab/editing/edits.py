"""Edit a tokenizer: add tokens, take tokens away, merge another vocabulary, add superwords.

Each function takes a tokenizer and returns a new one of the same class, with the same encoder. The work is done on
specifications: `extending.py`, `pruning.py`, `merging.py` and `adding_superwords.py`.

Chapter: New words for an old model; Superwords. Cost: said of each function.
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
"""The class of the tokenizer that is edited, which is that of the result."""


class Pruned(NamedTuple, Generic[Edited]):
    """A tokenizer with fewer tokens.

    Attributes:
        tokenizer: the new tokenizer.
        ids: old id -> new id of every token that is left, special and added ones included.
        removed: the old ids of those that went, in the order in which they did.
    """

    tokenizer: Edited
    ids: Mapping[int, int]
    removed: tuple[int, ...]


class Merged(NamedTuple, Generic[Edited]):
    """A tokenizer with the tokens of another one.

    Attributes:
        tokenizer: the new tokenizer.
        ids: the other's id -> the id here of every ordinary token of the other that is there now.
        added: the ids of the tokens that are new.
        refused: the other's id -> why a token is not there.
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
    """Return a tokenizer with more tokens: training goes on from its merges, on text that it cuts itself.

    Every id, merge and special token is kept. New merges rank after all others, and new ids follow the highest one
    in use, special tokens included; places that are free or reserved stay so. Text in which no new token occurs has
    the ids that it had.

    Args:
        corpus, min_frequency, input_format, field, progress: as for `BPETokenizer.train`.
        new_tokens: how many tokens to add; fewer, with the warning TrainingStopped, if no pair is frequent enough.
        max_words: the most words that a new token may have. By default that of the old tokens, where nothing cuts
            text into words, as in SentencePiece's kind of model and with superwords.

    Of equally frequent pairs that of the lowest ids is merged. A pair is left apart whose token exists, though no
    merge makes it, or begins or ends such a token. Where tokens are made of characters, frequent ones that are
    missing become tokens, too.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, 260, special_tokens=["<|end|>"])
    >>> more = extend(t, "newest newer new " * 9, 2)
    >>> more.tokenize("newest"), more.encode("lowest<|end|>") == t.encode("lowest<|end|>"), more.model.tokens[261]
    ([b'new', b'e', b's', b't'], True, b'new')

    Raises TrainingError for a number below 1, an empty corpus, and a tokenizer that marks what continues a word;
    what `BPETokenizer.train` raises for a corpus.
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
    """Return a tokenizer with fewer tokens, and which id each of them had.

    Only tokens that no other token is made of are taken, one after the other: those that no merge makes, and then
    those that the corpus uses least. Bytes, characters, special and added tokens stay unless `remove` names them.

    Args:
        corpus: the text that says how often each token is used, as for `BPETokenizer.train`; without one, tokens go in
            the opposite order of that in which they were learned.
        keep: the number of tokens in all that are left, special tokens included.
        min_frequency: take only tokens that the corpus uses less often: 1 takes those that it never uses.
        remove: instead, the tokens to take: ids, bytes, or names of special tokens.
        input_format, field, progress: as for `BPETokenizer.train`.

    Ids keep their order; each becomes lower by the number of tokens below it that went. So removing what `extend`
    added returns the tokenizer that was extended.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, 262)
    >>> fewer, ids, removed = prune(t, corpus="low lower", keep=260)
    >>> [t.model.tokens[i] for i in removed], fewer.tokenize("lowest")
    ([b'st', b' lower'], [b'low', b'e', b's', b't'])

    Raises VocabularyError naming a token that another is made of, or without which text has no ids, and for a
    `keep` that can't be reached; what `BPETokenizer.train` raises for a corpus.
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
    """Return a tokenizer with its own tokens and those of another, as far as exact merges allow.

    Every id, merge and special token is kept, and text without a new token keeps its ids. The other's tokens follow
    in the order in which they were learned, each made of the two tokens that the merges so far make of its bytes.
    Where these make more than two, no merge can reach the token, and it is left out, as is what the pre-tokenizer
    cuts. The other's special tokens are not taken: `BPETokenizer.with_special_tokens` adds them.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, 260)
    >>> merged = merge_vocabularies(t, BPETokenizer.train("newest wide " * 9, 264))
    >>> [merged.tokenizer.model.tokens[i] for i in merged.added][-3:], merged.refused
    ([b'new', b' wide', b'est'], {})

    Raises VocabularyError where the tokens of one are bytes and those of the other characters, or marked.
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
    """Return a tokenizer of `vocab_size` tokens in all: its own, with their ids, and superwords beside them.

    The arguments are those of `BPETokenizer.train`. The new tokens' ids follow the highest id that there is, special
    tokens included, and text is cut by the pattern of superwords. With "boundless" nothing competes, since no token
    goes.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("one of the best, some of the rest", 262)
    >>> more = add_superwords(t, "all of the cats, none of the dogs", 263)
    >>> more.tokenize(" of the"), more.encode("best") == t.encode("best")
    ([b' of the'], True)

    Raises TrainingError for a size that leaves no space for a superword, and for a tokenizer whose
    model doesn't begin with the 256 bytes, or that cuts text by anything but one pattern.
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
    """Return the tokenizer of a specification, with the class and the encoder of another tokenizer."""
    pipeline = tokenizer.pipeline
    return type(tokenizer).from_spec(spec, encoder=pipeline.encoder, cache_size=pipeline.cache.capacity)
