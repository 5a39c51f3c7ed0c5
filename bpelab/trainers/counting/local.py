"""A corpus that this process reads and counts, with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..._support.progress import progress_bar
from ..._support.textio import utf8_size
from ..._support.validate import whole_number
from ...corpus.file_formats import detect_format
from ...errors import TrainingError
from ...pretokenizers.split import Split
from ...vocab.special_tokens import SpecialTokens
from .corpus import Corpus, count_pre_tokens, training_texts
from .native import MAX_MEMORY, count_native
from .pre_token_counts import PreTokenCounts
from .undecoded import undecoded_texts

LEAST_MEMORY = 1 << 20
"""The smallest limit in bytes that makes sense."""


class LocalCorpus(NamedTuple):
    """A corpus and how to read it. The arguments are those of `count_pre_tokens`."""

    corpus: Corpus
    split: Split | None
    special: SpecialTokens
    normalize: Callable[[str], str] | None
    form: str | None
    field: str
    progress: bool | None
    max_memory: int

    def texts(self, split: Split | None, what: str, whole: Split | None = None) -> Iterator[str]:
        """Yield texts for `split` to cut, with a progress bar; pieces of `whole` stay whole too."""
        with progress_bar(self.progress, corpus_size(self.corpus, self.form), what, "B") as advance:
            reading = self.special, self.normalize, advance, self.form, self.field
            yield from training_texts(self.corpus, split, *reading, whole)

    def counts(self, native: bool, least: int) -> Mapping[bytes, int] | PreTokenCounts:
        """Return the pre-tokens that occur at least `least` times: as a table counted in C if `native`, else a dict."""
        with progress_bar(self.progress, corpus_size(self.corpus, self.form), "reading", "B") as advance:
            reading = self.special, self.normalize, advance, self.form, self.field
            if native:
                texts = undecoded_texts(self.corpus, self.split, *reading)
                return count_native(texts, self.split, least=least, max_memory=self.max_memory)
            counts = count_pre_tokens(self.corpus, self.split, *reading)
        return counts if least == 1 else {pre_token: count for pre_token, count in counts.items() if count >= least}


def check_memory(max_memory: int | None) -> int:
    """Return the bytes that counts may take, by default `MAX_MEMORY`. Raises TypeError or TrainingError."""
    if max_memory is None:
        return MAX_MEMORY
    if whole_number("max_memory", max_memory) < LEAST_MEMORY:
        raise TrainingError(f"max_memory is a number of bytes from {LEAST_MEMORY:,} up, not {max_memory:,}")
    return max_memory


def corpus_size(corpus: object, form: str | None) -> int | None:
    """Return the size of a corpus in bytes of UTF-8, or None if it isn't known before reading."""
    if isinstance(corpus, Path) and corpus.is_file() and detect_format(str(corpus), form) in (None, "text"):
        return corpus.stat().st_size
    return utf8_size(corpus) if isinstance(corpus, str) else None
