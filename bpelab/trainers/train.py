"""Train a model from a corpus: check sizes, reserve special ids, count words, learn merges, then superwords."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .._support.progress import progress_bar
from .._support.textio import utf8_size
from .._support.validate import whole_number
from ..corpus.file_formats import detect_format, validate_format
from ..errors import SpecialTokenError, TrainingError
from ..model.bpe import BPEModel
from ..model.trace import BYTES
from ..pretokenizers.split import Split
from ..vocab.special_tokens import SpecialTokens
from . import find_trainer
from .continuation import Phrases
from .corpus import Corpus, count_words, rereadable, training_texts
from .native import MAX_MEMORY, count_native, merges_in_batches, train_native
from .pretoken_counts import Words
from .python_phrases import PythonPhrases
from .superbpe import LearnedMerge
from .superword_learner import compete, learn_superwords
from .superwords import Superwords
from .ties import check_ties, train_with_ties
from .undecoded import undecoded_texts

if TYPE_CHECKING:
    from .._support.dask_client import Cluster


DISTRIBUTED = "distributed"
LEAST_MEMORY = 1 << 20
"""Bytes below which a limit can't be meant."""


class TrainingStopped(UserWarning):
    """Training ended before `vocab_size`, because no pair was left to merge."""


def train_model(
    corpus: Corpus,
    vocab_size: int,
    *,
    pre_tokenizer: Split | None,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    min_frequency: int = 2,
    min_pre_token_frequency: int = 1,
    normalize: Callable[[str], str] | None = None,
    trainer: str = "auto",
    ties: str = "ids",
    client: Cluster = None,
    worker_timeout: float | None = None,
    input_format: str | None = None,
    field: str = "text",
    progress: bool | None = None,
    superwords: Superwords | None = None,
    max_memory: int | None = None,
    check: Callable[[BPEModel, dict[str, int]], object] = lambda model, special: None,
) -> tuple[BPEModel, dict[str, int]]:
    """Return the model and the special tokens' ids; `BPETokenizer.train` explains the arguments and the errors.

    `check` is called before anything is counted, with a model without merges and the ids that are expected.
    """
    if trainer != DISTRIBUTED:
        find_trainer(trainer)
        for name, given in (("client", client), ("worker_timeout", worker_timeout)):
            if given is not None:
                raise ValueError(f"{name} is for trainer={DISTRIBUTED!r}, not {trainer!r}")
    check_ties(ties)
    if ties != "ids" and trainer != "auto":
        raise ValueError(f"ties={ties!r} has a trainer of its own; leave out trainer={trainer!r}")
    if superwords is not None and ties != "ids":
        raise ValueError(
            f"of equally frequent superwords that of the oldest tokens is learned: leave out ties={ties!r}"
        )
    if worker_timeout is not None:
        from .._support.dask_wait import check_timeout

        check_timeout(worker_timeout)
    validate_format(input_format)
    vocab_size = _checked("vocab_size", vocab_size)
    min_frequency = _checked("min_frequency", min_frequency)
    min_pre_token_frequency = _checked("min_pre_token_frequency", min_pre_token_frequency)
    max_memory = check_memory(max_memory)
    if isinstance(special_tokens, str):
        raise SpecialTokenError(
            f"special_tokens is a list of names or a dict of ids, not the string {special_tokens!r}"
        )
    reserved = dict(special_tokens) if isinstance(special_tokens, Mapping) else {}
    names = list(special_tokens)
    if len(set(names)) != len(names):
        raise SpecialTokenError(f"special_tokens names one token twice: {names}")
    num_merges = vocab_size - 256 - len(names)
    if num_merges < 0:
        raise TrainingError(
            f"vocab_size={vocab_size} is too small: 256 bytes and {len(names)} special tokens are "
            f"{256 + len(names)} tokens before any merge"
        )
    placeholder = SpecialTokens(reserved or {name: index for index, name in enumerate(names)})
    taken = frozenset(reserved.values())
    expected = reserved or {name: 256 + num_merges + index for index, name in enumerate(names)}
    check(BPEModel.from_merges([], reserved=taken), expected)
    first = num_merges
    if superwords is not None and superwords.method == "superbpe":
        first = superwords.merges_before(num_merges)

    run = find_trainer(trainer if trainer != DISTRIBUTED else "auto")
    if ties != "ids":
        run = partial(train_with_ties, ties=ties)
    words: Mapping[bytes, int] | Words
    with rereadable(corpus) if superwords is not None and trainer != DISTRIBUTED else nullcontext(corpus) as again:
        reading = Reading(again, placeholder, normalize, input_format, field, progress, max_memory)
        if trainer == DISTRIBUTED:
            from .distributed import KEPT, Job, count_files

            count = partial(
                count_files,
                corpus,
                cluster=client,
                form=input_format,
                progress=progress,
                kept=min(KEPT, max_memory // 4),
                worker_timeout=worker_timeout,
            )
            job = Job(pre_tokenizer, placeholder, normalize, field)
            table = count(job, least=min_pre_token_frequency)
            words = table.words() if run is train_native else table.as_dict()
        else:
            words = reading.words(pre_tokenizer, run is train_native, min_pre_token_frequency)
        empty = not len(words.ends if isinstance(words, Words) else words)
        if empty and min_pre_token_frequency > 1:
            raise TrainingError(
                f"no pre-token of the corpus occurs min_pre_token_frequency={min_pre_token_frequency} times: there is "
                "nothing to learn merges from"
            )
        if empty:
            raise TrainingError("the corpus is empty: there is no text to learn merges from")
        with progress_bar(progress, first, "merging", " merges") as advance:
            merges = list[tuple[bytes, bytes, int]]()
            learned = list(BYTES)
            if run is train_native:
                learning = merges_in_batches(words, first, min_frequency)
            else:
                learning = ([(step.left, step.right, step.count)] for step in run(words, first, min_frequency, False))
            for some in learning:
                for left, right, times in some:
                    merges.append((learned[left], learned[right], times))
                    learned.append(learned[left] + learned[right])
                advance(len(some))
        if superwords is not None:
            model = BPEModel.from_merges([(left, right) for left, right, _ in merges])
            if trainer == DISTRIBUTED:
                from .distributed_phrases import DistributedPhrases

                phrases: Phrases[Superwords] = DistributedPhrases(
                    lambda job, what: count(job, what=what),
                    model,
                    pre_tokenizer,
                    superwords,
                    placeholder,
                    normalize,
                    field,
                )
            else:
                phrases = reading.phrases(model, pre_tokenizer, superwords, run is train_native)
            of_words = [LearnedMerge(*merge) for merge in merges]
            merges = [*_with_superwords(of_words, phrases, num_merges, superwords, min_frequency)]
    if len(merges) < num_merges:
        warnings.warn(
            f"training stopped at {256 + len(names) + len(merges)} tokens instead of {vocab_size}: no pair of tokens "
            f"is left that occurs at least {min_frequency} times",
            TrainingStopped,
            stacklevel=3,
        )
    model = BPEModel.from_merges([(left, right) for left, right, _ in merges], reserved=taken)
    return model, reserved or {name: 256 + len(merges) + index for index, name in enumerate(names)}


def _with_superwords(
    words: list[LearnedMerge], phrases: Phrases[Superwords], num_merges: int, superwords: Superwords, min_frequency: int
) -> list[LearnedMerge]:
    """Return merges of words and of superwords, no more than `num_merges`."""
    if superwords.method == "superbpe":
        return [*words, *learn_superwords(phrases, num_merges - len(words), superwords, min_frequency)]
    least = words[-1].frequency + 1 if words and len(words) == num_merges else None
    beyond = learn_superwords(phrases, num_merges, superwords, min_frequency, least=least)
    stages = compete(words, beyond, num_merges)
    return [*stages.words, *stages.superwords]


class Reading(NamedTuple):
    """A corpus and how it is read. The arguments are those of `count_words`."""

    corpus: Corpus
    special: SpecialTokens
    normalize: Callable[[str], str] | None
    form: str | None
    field: str
    progress: bool | None
    max_memory: int

    def texts(self, split: Split | None, what: str, words: Split | None = None) -> Iterator[str]:
        """Yield the texts that `split` is to cut, and `words`, with a progress bar."""
        with progress_bar(self.progress, corpus_size(self.corpus, self.form), what, "B") as advance:
            given = self.corpus, split, self.special, self.normalize, advance, self.form, self.field
            yield from training_texts(*given, words)

    def words(self, split: Split | None, native: bool, least: int) -> Mapping[bytes, int] | Words:
        """Count the pre-tokens that occur `least` times."""
        if native:
            with progress_bar(self.progress, corpus_size(self.corpus, self.form), "reading", "B") as advance:
                given = self.corpus, split, self.special, self.normalize, advance, self.form, self.field
                return count_native(undecoded_texts(*given), split, least=least, max_memory=self.max_memory)
        with progress_bar(self.progress, corpus_size(self.corpus, self.form), "reading", "B") as advance:
            counts = count_words(self.corpus, split, self.special, self.normalize, advance, self.form, self.field)
        return counts if least == 1 else {word: count for word, count in counts.items() if count >= least}

    def phrases(
        self, model: BPEModel, words: Split | None, superwords: Superwords, native: bool
    ) -> Phrases[Superwords]:
        """Return the corpus as sequences of a model's tokens."""
        inside = words or Split("cl100k") if superwords.method == "boundless" else None
        texts = partial(self.texts, superwords.split, "phrases", inside)
        if not native:
            return PythonPhrases(texts, model, words, superwords)
        from .native_phrases import NativePhrases

        return NativePhrases(texts, model, words, superwords, self.max_memory)


def check_memory(max_memory: int | None) -> int:
    """Return the bytes that counts may take, by default `MAX_MEMORY`; raise what is wrong with the number."""
    if max_memory is None:
        return MAX_MEMORY
    if whole_number("max_memory", max_memory) < LEAST_MEMORY:
        raise TrainingError(f"max_memory is a number of bytes from {LEAST_MEMORY:,} up, not {max_memory:,}")
    return max_memory


def _checked(name: str, value: object) -> int:
    number = whole_number(name, value)
    if number < 1:
        raise TrainingError(f"{name} must be at least 1, not {number}")
    return number


def corpus_size(corpus: object, form: str | None) -> int | None:
    """Return the bytes of UTF-8 of a corpus; None if that is not known before it is read."""
    if isinstance(corpus, Path) and corpus.is_file() and detect_format(str(corpus), form) in (None, "text"):
        return corpus.stat().st_size
    return utf8_size(corpus) if isinstance(corpus, str) else None
