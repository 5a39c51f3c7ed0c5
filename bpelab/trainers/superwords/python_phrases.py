"""Phrases in pure Python: a corpus as sequences of tokens, from pieces longer than words or from whole words.

`learner.py` explains their purpose. Chapter: Superwords. Cost: 1.5 s for a megabyte. Memory: all distinct pairs, and
the distinct parts (`trainers/counted_sequences.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..._support.lazy_property import cached_property
from ..._support.textio import valid_text
from ...core.pipeline import Pipeline
from ...core.spec import TokenizerSpec
from ...model.bpe import BPEModel
from ...pretokenizers.split import Split
from ..counted_sequences import CountedSequences, split_at_none
from ..counting.by_tokenizer import encode_in_batches
from .boundless import whole_runs
from .learner import Texts
from .settings import Superwords


class Sequences:
    """Turns texts into sequences of indices into `tokens`, the tokens of a model in order of id.

    `words` is the model's pre-tokenizer, which "boundless" needs.
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
        """Yield the sequences: pieces of the second stage's pattern, or runs of single-token words."""
        if self._superwords.method == "boundless":
            return self._runs(texts)
        return self._pieces(texts)

    def _pieces(self, texts: Iterable[str]) -> Iterator[list[int]]:
        """Yield the tokens of each piece, without cutting it again: on its own it might be cut differently."""
        pieces = (piece for text in texts for piece in self._superwords.split.split(text))
        for ids in encode_in_batches(self._pipeline, pieces):
            yield [self._number[token_id] for token_id in ids]

    def _runs(self, texts: Iterable[str]) -> Iterator[list[int]]:
        """Yield runs of adjacent pre-tokens that are single tokens."""
        for text in texts:
            for run in whole_runs(text, self._words, self._superwords.split):
                yield from split_at_none(map(self._single, run))

    def _single(self, piece: str) -> int | None:
        """Return the token that makes up the whole pre-token, or None if there are several."""
        if piece not in self._whole:
            ids = self._pipeline.ids(valid_text(piece))
            self._whole[piece] = self._number[ids[0]] if len(ids) == 1 else None
        return self._whole[piece]


class PythonPhrases(CountedSequences):
    """The `Phrases` of texts, counted in Python."""

    def __init__(self, texts: Texts, model: BPEModel, words: Split | None, superwords: Superwords) -> None:
        sequences = Sequences(model, words, superwords)
        super().__init__(lambda: [(1, sequences.of(texts()))], sequences.tokens)
