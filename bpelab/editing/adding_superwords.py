"""Add superwords to an existing tokenizer: the second training stage, on top of any byte-level model's merges.

Every id, merge and special token is kept; new merges rank after all others. A rank table becomes the equivalent list of
merges (`model/merge_recovery.py`), since the pieces are now longer than those it was made for.

Chapter: Superwords. Cost: as for `trainers/superwords/native_phrases.py`, or without a compiler `python_phrases.py`
there.
"""

from typing import TypeVar

from .._support.validate import whole_number
from ..core.spec import TokenizerSpec
from ..core.tokenizer import Tokenizer, with_spec
from ..errors import TrainingError
from ..native import extension
from ..trainers.counting.corpus import Corpus, rereadable
from ..trainers.counting.local import LocalCorpus, check_memory
from ..trainers.superwords.learner import learn_superwords
from ..trainers.superwords.phrases import phrases_of
from ..trainers.superwords.settings import Superwords
from ..trainers.train import at_least_one, warn_stopped
from .append_merges import append_merges, as_list_of_merges

Edited = TypeVar("Edited", bound=Tokenizer)


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
    chosen = Superwords.of(superwords)
    spec, model = tokenizer.spec, tokenizer.spec.model
    split = None if spec.pre_tokenizer is None else spec.pre_tokenizer.as_single_split
    if not model.covers_utf8 or (split is None and spec.pre_tokenizer is not None):
        raise TrainingError(
            "superwords are added to tokenizers of bytes that cut text by one pattern, and this one "
            + ("has another pre-tokenizer" if model.covers_utf8 else "is made of characters")
        )
    at_least_one("min_frequency", min_frequency)
    taken = set(model.tokens) | {token.id for token in spec.special_tokens.tokens}
    more = whole_number("vocab_size", vocab_size) - len(taken)
    if more < 1:
        raise TrainingError(f"vocab_size={vocab_size:,}, but the tokenizer has {len(taken):,} tokens already")
    limit = check_memory(max_memory)
    with rereadable(corpus) as again:
        special, normalize = spec.special_tokens, spec.normalizer
        counted = LocalCorpus(again, split, special, normalize, input_format, field, progress, limit)
        phrases = phrases_of(counted, model, chosen, extension() is not None)
        learned = list(learn_superwords(phrases, more, chosen, min_frequency))
    if len(learned) < more:
        warn_stopped(len(taken) + len(learned), vocab_size, min_frequency, stacklevel=3)
    arguments = {name: value for name, value in spec.arguments().items() if name != "pre_tokenizer"}
    longer = append_merges(as_list_of_merges(model), learned, max(taken) + 1)
    return with_spec(tokenizer, TokenizerSpec(longer, **{**arguments, "pattern": chosen.pattern}))
