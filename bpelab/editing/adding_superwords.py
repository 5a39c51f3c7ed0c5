"""Add superwords to an existing tokenizer: the second training stage, on top of any byte-level model's merges.

Every id, merge and special token is kept; new merges rank after all others. A rank table becomes the equivalent list of
merges (`model/merge_recovery.py`), since the pieces are now longer than those it was made for.

Chapter: Superwords. Cost: as for `trainers/superwords/native_phrases.py`, or without a compiler `python_phrases.py`
there.
"""

from .._support.validate import whole_number
from ..core.spec import TokenizerSpec
from ..errors import TrainingError
from ..model.bpe import RankMerges
from ..native import extension
from ..trainers.counting.corpus import Corpus, rereadable
from ..trainers.counting.local import LocalCorpus, check_memory
from ..trainers.superwords.learner import learn_superwords
from ..trainers.superwords.phrases import phrases_of
from ..trainers.superwords.settings import Superwords
from ..trainers.train import at_least_one, warn_stopped
from .append_merges import append_merges, as_list_of_merges


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
        warn_stopped(len(taken) + len(learned), vocab_size, min_frequency)
    arguments = {name: value for name, value in spec.arguments().items() if name != "pre_tokenizer"}
    return TokenizerSpec(
        append_merges(as_list_of_merges(model), learned, max(taken) + 1), **{**arguments, "pattern": chosen.pattern}
    )
