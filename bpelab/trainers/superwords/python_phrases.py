"""Phrases in pure Python: a corpus as sequences of tokens, its pairs of neighbours counted, and its parts.

`learner.py` says what for. Chapter: Superwords. Cost: 1.5 s for a megabyte. Memory: all distinct pairs, and
the distinct parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, islice, pairwise
from typing import TypeVar

from ..._support.lazy_property import cached_property
from ..._support.textio import valid_text
from ...core.pipeline import Pipeline
from ...core.spec import TokenizerSpec
from ...model.bpe import BPEModel, Pair
from ...model.trace import TrainStep
from ...pretokenizers.split import Split
from ..continue_training import Limits
from ..incremental import train_incremental
from .boundless import whole_runs
from .learner import Texts
from .settings import Superwords

Key = TypeVar("Key")
AT_ONCE = 1 << 12
"""Pieces that are encoded in one call."""


class Sequences:
    """Makes texts into sequences of tokens: their indices in `tokens`, which are those of a model by id.

    `words` is what cuts text for the model, which "boundless" asks for.
    """

    def __init__(self, model: BPEModel, words: Split | None, superwords: Superwords) -> None:
        ids = sorted(model.tokens)
        self.tokens = [model.tokens[token_id] for token_id in ids]
        self._number = {token_id: index for index, token_id in enumerate(ids)}
        self._model, self._words, self._superwords = model, words or Split("cl100k"), superwords
        self._whole: dict[str, int | None] = {}

    @cached_property
    def _pipeline(self) -> Pipeline:
        return Pipeline(TokenizerSpec(self._model, pattern=None), "auto", 0)

    def of(self, texts: Iterable[str]) -> Iterator[Sequence[int]]:
        """Yield the sequences: pieces of the second stage's pattern, or runs of words that are one token each."""
        if self._superwords.method == "boundless":
            return self._runs(texts)
        return self._pieces(texts)

    def _pieces(self, texts: Iterable[str]) -> Iterator[list[int]]:
        """Yield the tokens of each piece: of the piece as it is, which by itself might be cut otherwise."""
        pieces = (piece for text in texts for piece in self._superwords.split.split(text))
        for ids in encode_in_batches(self._pipeline, pieces):
            yield [self._number[token_id] for token_id in ids]

    def _runs(self, texts: Iterable[str]) -> Iterator[list[int]]:
        """Yield the tokens of neighbouring pre-tokens that are one token each."""
        for text in texts:
            for run in whole_runs(text, self._words, self._superwords.split):
                part: list[int] = []
                for piece in run:
                    if (token := self._single(piece)) is not None:
                        part.append(token)
                    elif part:
                        yield part
                        part = []
                if part:
                    yield part

    def _single(self, piece: str) -> int | None:
        """Return the token of a pre-token that is one; None for any other."""
        if piece not in self._whole:
            ids = self._pipeline.ids(valid_text(piece))
            self._whole[piece] = self._number[ids[0]] if len(ids) == 1 else None
        return self._whole[piece]


class CountedSequences:
    """The `Phrases` of sequences that occur several times each, counted in Python.

    `sequences` returns counts and the sequences that occur so often, which are indices into `tokens`, each time that
    it is called.

    >>> from ..continue_training import learn_on
    >>> counted = CountedSequences(lambda: [(2, [[0, 1, 1]])], [b"of", b" the"])
    >>> [step.token for step in learn_on(counted, 9, Superwords())]
    [b'of the', b'of the the']
    """

    dropped = 0

    def __init__(
        self, sequences: Callable[[], Iterable[tuple[int, Iterable[Sequence[int]]]]], tokens: Sequence[bytes]
    ) -> None:
        self._sequences, self.tokens = sequences, tokens

    @cached_property
    def _pairs(self) -> Counter[Pair]:
        return self._counted(pairwise)

    def _counted(self, parts: Callable[[Sequence[int]], Iterable[Key]]) -> Counter[Key]:
        """Count parts of the sequences."""
        total: Counter[Key] = Counter()
        for times, sequences in self._sequences():
            found = Counter(chain.from_iterable(map(parts, sequences)))
            total.update(found if times == 1 else {key: times * count for key, count in found.items()})
        return total

    def frequent(self, number: int) -> int:
        """Return a count that `number` pairs have."""
        most = nlargest(number, self._pairs.values())
        return most[-1] if len(most) == number else 1

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the pairs that occur `least` times."""
        return {pair: count for pair, count in self._pairs.items() if count >= least}

    def learn(self, kept: Collection[Pair] | None, num_merges: int, least: int, limits: Limits) -> list[TrainStep]:
        """Return the merges learned from the parts between pairs that are not kept."""
        parts = self._counted(lambda sequence: parts_of(sequence, kept))
        return list(train_incremental(parts, num_merges, least, initial=self.tokens, allowed=limits.allows))


class PythonPhrases(CountedSequences):
    """The `Phrases` of texts, counted in Python."""

    def __init__(self, texts: Texts, model: BPEModel, words: Split | None, superwords: Superwords) -> None:
        sequences = Sequences(model, words, superwords)
        super().__init__(lambda: [(1, sequences.of(texts()))], sequences.tokens)


def encode_in_batches(pipeline: Pipeline, pieces: Iterable[str], threads: int | None = None) -> Iterator[list[int]]:
    """Yield the ids of each piece, many of which are encoded in one call."""
    rest = iter(pieces)
    while batch := list(islice(rest, AT_ONCE)):
        yield from pipeline.lists(batch, threads=threads)


def parts_of(sequence: Sequence[int], kept: Collection[Pair] | None) -> Iterator[tuple[int, ...]]:
    """Yield the parts of a sequence, of two tokens and more, between pairs that are not kept.

    >>> list(parts_of([1, 2, 3, 1, 2], {(1, 2)}))
    [(1, 2), (1, 2)]
    """
    start = 0
    for end, pair in enumerate(pairwise(sequence), 1):
        if kept is not None and pair not in kept:
            if end - start > 1:
                yield tuple(sequence[start:end])
            start = end
    if len(sequence) - start > 1:
        yield tuple(sequence[start:])
