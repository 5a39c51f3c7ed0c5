"""Add superwords to a tokenizer that exists: the second stage of training, on the merges of any byte-level model.

Every id, merge and special token is kept; new merges rank after all others. A table of ranks becomes the one list of
merges that has its ids (`model/merge_recovery.py`), since the pieces are longer now than those that it was made for.

Chapter: Superwords. Cost: that of `native_phrases.py`, or of `python_phrases.py` without a compiler.
"""

import warnings

from .._support.validate import whole_number
from ..core.spec import TokenizerSpec
from ..errors import TrainingError
from ..model.bpe import RankMerges
from ..native import extension
from .continuation import append_merges, as_list_of_merges
from .corpus import Corpus, rereadable
from .superword_learner import learn_superwords
from .superwords import Superwords
from .train import Reading, TrainingStopped, check_memory


def add_superwords(
    spec: TokenizerSpec,
    corpus: Corpus,
    vocab_size: int,
    superwords: str | Superwords,
    *,
    min_frequency: int = 2,
    input_format: str | None = None,
    field: str = "text",
    max_memory: int | None = None,
    progress: bool | None = None,
) -> TokenizerSpec:
    """Return a specification with superwords; `bpelab.editing.add_superwords` explains the arguments and the errors."""
    chosen = Superwords.of(superwords)
    model = spec.model
    split = None if spec.pre_tokenizer is None else spec.pre_tokenizer.as_single_split
    if not model.covers_utf8 or (split is None and spec.pre_tokenizer is not None):
        raise TrainingError(
            "superwords are added to tokenizers of bytes that cut text by one pattern, and this one "
            + ("has another pre-tokenizer" if model.covers_utf8 else "is made of characters")
        )
    if isinstance(model.merges, RankMerges) and not model.recovered_merges.exact:
        raise TrainingError("no list of merges has the ids of this table of ranks: a token ranks before its own parts")
    if whole_number("min_frequency", min_frequency) < 1:
        raise TrainingError(f"min_frequency must be at least 1, not {min_frequency}")
    taken = set(model.tokens) | {token.id for token in spec.special_tokens.tokens}
    more = whole_number("vocab_size", vocab_size) - len(taken)
    if more < 1:
        raise TrainingError(f"vocab_size={vocab_size:,}, but the tokenizer has {len(taken):,} tokens already")
    limit = check_memory(max_memory)
    with rereadable(corpus) as again:
        reading = Reading(again, spec.special_tokens, spec.normalizer, input_format, field, progress, limit)
        phrases = reading.phrases(model, split, chosen, extension() is not None)
        found = list(learn_superwords(phrases, more, chosen, min_frequency))
    if len(found) < more:
        warnings.warn(
            f"training stopped at {len(taken) + len(found)} tokens instead of {vocab_size}: no pair of tokens is left "
            f"that occurs at least {min_frequency} times",
            TrainingStopped,
            stacklevel=3,
        )
    arguments = {name: value for name, value in spec.arguments().items() if name != "pre_tokenizer"}
    return TokenizerSpec(
        append_merges(as_list_of_merges(model), found, max(taken) + 1), **{**arguments, "pattern": chosen.pattern}
    )
