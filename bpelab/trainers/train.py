"""Train a model from a corpus: count pre-tokens, learn merges from the counts, then superwords.

Where to count (`counting/`) and which algorithm learns (`TRAINERS`) are separate choices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from .._support.progress import progress_bar
from .._support.validate import whole_number
from ..corpus.file_formats import validate_format
from ..errors import SpecialTokenError, TrainingError
from ..model.bpe import BPEModel
from ..model.trace import BYTES, Trainer, TrainStep
from ..pretokenizers.split import Split
from ..vocab.special_tokens import SpecialTokens
from . import find_trainer
from .continue_training import Phrases
from .counting.corpus import Corpus, rereadable
from .counting.local import LocalCorpus, check_memory
from .counting.pre_token_counts import PreTokenCounts
from .learned_merge import LearnedMerge, named_merges
from .native import train_native
from .superwords.learner import learn_superwords, merge_by_frequency
from .superwords.phrases import phrases_of
from .superwords.settings import Superwords
from .ties import check_ties, train_with_ties

if TYPE_CHECKING:
    from .._support.dask_client import Cluster
    from .counting.distributed import ClusterCorpus


class TrainingStopped(UserWarning):
    """Training stopped below `vocab_size` because there were no pairs left to merge."""


@dataclass(frozen=True)
class TrainingOptions:
    """How a corpus is counted, and how merges are learned; `BPETokenizer.train` explains each.

    Raises ValueError, TypeError or TrainingError for options that are invalid, alone or in combination.
    """

    pre_tokenizer: Split | None
    normalize: Callable[[str], str] | None = None
    min_frequency: int = 2
    min_pre_token_frequency: int = 1
    trainer: str = "auto"
    ties: str = "ids"
    superwords: Superwords | None = None
    client: Cluster = None
    worker_timeout: float | None = None
    input_format: str | None = None
    field: str = "text"
    max_memory: int | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        self._check_learning()
        self._check_counting()

    def _check_learning(self) -> None:
        find_trainer(self.trainer)
        check_ties(self.ties)
        at_least_one("min_frequency", self.min_frequency)
        if self.ties == "ids":
            return
        if self.trainer != "auto":
            raise ValueError(f"ties={self.ties!r} has a trainer of its own; leave out trainer={self.trainer!r}")
        if self.superwords is not None:
            raise ValueError(
                f"superwords have their own way to break ties, by the oldest tokens: leave out ties={self.ties!r}"
            )
        if self.client is not None:
            raise ValueError(f"ties={self.ties!r} is for texts in their order, which a cluster loses: leave out client")

    def _check_counting(self) -> None:
        if self.worker_timeout is not None:
            from .._support.dask_wait import check_timeout

            check_timeout(self.worker_timeout)
            if self.client is None:
                raise ValueError("worker_timeout is for a cluster: pass client, too")
        validate_format(self.input_format)
        at_least_one("min_pre_token_frequency", self.min_pre_token_frequency)
        check_memory(self.max_memory)

    @property
    def learn(self) -> Trainer:
        """The algorithm that learns merges from counts."""
        if self.ties != "ids":
            return partial(train_with_ties, ties=self.ties)
        return find_trainer(self.trainer)

    def merges_of_words(self, num_merges: int) -> int:
        """Return how many merges are learned inside words, before any superwords.

        Raises TrainingError if the transition point lies beyond the vocabulary.
        """
        if self.superwords is not None and self.superwords.method == "superbpe":
            return self.superwords.merges_before(num_merges)
        return num_merges


def train_model(
    corpus: Corpus,
    vocab_size: int,
    options: TrainingOptions,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    check: Callable[[BPEModel, dict[str, int]], object] = lambda model, special: None,
) -> tuple[BPEModel, dict[str, int]]:
    """Return the model and the special tokens' ids; `BPETokenizer.train` explains the arguments and the errors.

    `check` is called before counting, with a model without merges and the special tokens' expected ids.
    """
    names, reserved = _special_tokens(special_tokens)
    num_merges = _num_merges(vocab_size, len(names))
    taken = frozenset(reserved.values())

    def special_ids(first: int) -> dict[str, int]:
        return reserved or {name: first + index for index, name in enumerate(names)}

    check(BPEModel.from_merges([], reserved=taken), special_ids(256 + num_merges))
    inside_words = options.merges_of_words(num_merges)
    native = options.learn is train_native
    with _open_corpus(corpus, SpecialTokens(special_ids(0)), options) as counted:
        pre_tokens = counted.counts(native, options.min_pre_token_frequency)
        _refuse_empty(pre_tokens, options.min_pre_token_frequency)
        merges = _learn(pre_tokens, inside_words, options)
        if options.superwords is not None:
            phrases = phrases_of(counted, _model(merges), options.superwords, native)
            merges = _with_superwords(merges, phrases, num_merges, options.superwords, options.min_frequency)
    if len(merges) < num_merges:
        warn_stopped(256 + len(names) + len(merges), vocab_size, options.min_frequency)
    return _model(merges, taken), special_ids(256 + len(merges))


def _special_tokens(special_tokens: Iterable[str] | Mapping[str, int]) -> tuple[list[str], dict[str, int]]:
    """Return the names of the special tokens, and their reserved ids if given. Raises SpecialTokenError."""
    if isinstance(special_tokens, str):
        raise SpecialTokenError(
            f"special_tokens is a list of names or a dict of ids, not the string {special_tokens!r}"
        )
    names = list(special_tokens)
    if len(set(names)) != len(names):
        raise SpecialTokenError(f"special_tokens names one token twice: {names}")
    return names, dict(special_tokens) if isinstance(special_tokens, Mapping) else {}


def _num_merges(vocab_size: int, special: int) -> int:
    """Return how many merges a vocabulary has room for. Raises TrainingError if it is too small."""
    num_merges = at_least_one("vocab_size", vocab_size) - 256 - special
    if num_merges < 0:
        raise TrainingError(
            f"vocab_size={vocab_size} is too small: 256 bytes and {special} special tokens are "
            f"{256 + special} tokens before any merge"
        )
    return num_merges


@contextmanager
def _open_corpus(
    corpus: Corpus, special: SpecialTokens, options: TrainingOptions
) -> Iterator[LocalCorpus | ClusterCorpus]:
    """Yield the corpus, to be counted on a cluster or in this process; superwords make it re-readable."""
    max_memory, form, progress = check_memory(options.max_memory), options.input_format, options.progress
    how = options.pre_tokenizer, special, options.normalize
    if options.client is not None:
        from .counting.distributed import CLIENT_MEMORY, ClusterCorpus, Job, count_files

        run = partial(
            count_files,
            corpus,
            cluster=options.client,
            form=form,
            progress=progress,
            client_memory=min(CLIENT_MEMORY, max_memory // 4),
            worker_timeout=options.worker_timeout,
        )
        yield ClusterCorpus(run, Job(*how, options.field))
        return
    with nullcontext(corpus) if options.superwords is None else rereadable(corpus) as texts:
        yield LocalCorpus(texts, *how, form, options.field, progress, max_memory)


def _refuse_empty(pre_tokens: Mapping[bytes, int] | PreTokenCounts, least: int) -> None:
    """Raise TrainingError if there are no pre-tokens."""
    if len(pre_tokens.ends if isinstance(pre_tokens, PreTokenCounts) else pre_tokens):
        return
    if least > 1:
        raise TrainingError(
            f"no pre-token of the corpus occurs min_pre_token_frequency={least} times: there is nothing to learn "
            "merges from"
        )
    raise TrainingError("the corpus is empty: there is no text to learn merges from")


def _learn(
    pre_tokens: Mapping[bytes, int] | PreTokenCounts, num_merges: int, options: TrainingOptions
) -> list[LearnedMerge]:
    """Return the merges inside words."""
    with progress_bar(options.progress, num_merges, "merging", " merges") as advance:

        def steps() -> Iterator[TrainStep]:
            for step in options.learn(pre_tokens, num_merges, options.min_frequency, False):
                yield step
                advance(1)

        return named_merges(steps(), BYTES)


def _with_superwords(
    words: list[LearnedMerge], phrases: Phrases[Superwords], num_merges: int, superwords: Superwords, min_frequency: int
) -> list[LearnedMerge]:
    """Return up to `num_merges` merges of words and superwords."""
    if superwords.method == "superbpe":
        return [*words, *learn_superwords(phrases, num_merges - len(words), superwords, min_frequency)]
    least = words[-1].frequency + 1 if words and len(words) == num_merges else None
    beyond = learn_superwords(phrases, num_merges, superwords, min_frequency, least=least)
    stages = merge_by_frequency(words, beyond, num_merges)
    return [*stages.words, *stages.superwords]


def _model(merges: Iterable[LearnedMerge], reserved: frozenset[int] = frozenset()) -> BPEModel:
    return BPEModel.from_merges([(left, right) for left, right, _ in merges], reserved=reserved)


def at_least_one(name: str, value: object) -> int:
    """Return `value` as an int. Raises TypeError or TrainingError unless it is a whole number of at least 1."""
    number = whole_number(name, value)
    if number < 1:
        raise TrainingError(f"{name} must be at least 1, not {number}")
    return number


def warn_stopped(size: int, vocab_size: int, min_frequency: int, stacklevel: int = 4) -> None:
    """Warn that the vocabulary is smaller than requested."""
    warnings.warn(
        f"training stopped at {size} tokens instead of {vocab_size}: no pair of tokens is left that occurs at least "
        f"{min_frequency} times",
        TrainingStopped,
        stacklevel=stacklevel,
    )
