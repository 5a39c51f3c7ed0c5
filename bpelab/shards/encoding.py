"""Encode files to arrays of ids with their positions in the corpus, so that a run can resume at any position.

A position is (file, part of the file, ids of the part). Files are split into the same parts in every run, however far
an earlier run got. A resumed run reads earlier parts again, but doesn't encode them again.

Cost: reading and encoding. Memory: a few batches (see partition.py).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .._support.numpy_import import NDArray, np
from ..corpus.compression import Advance
from ..corpus.documents import ReadOptions, fragments
from ..corpus.inputs import Input, check_unchanged
from ..corpus.prefetch import prefetch
from ..streaming import StreamEncoder
from .partition import DocumentPart, DocumentSplitter, batches, check_buffer, parts

if TYPE_CHECKING:
    from ..core.pipeline import Ids
    from ..core.tokenizer import Tokenizer


@dataclass(frozen=True)
class Position:
    """How far a run has got: `ids` ids into part `part` of file `input`, both counted from 0."""

    input: int = 0
    part: int = 0
    ids: int = 0


class EncodedBatch(NamedTuple):
    """The ids of several parts.

    Attributes:
        ids: the ids of all parts, concatenated, as uint32.
        starts: the index in `ids` at which each part begins.
        first: whether each part begins a document.
        sources, numbers: the index of each part's file, and of the part in that file.
        ids_before: the number of ids of the first part in earlier batches.
    """

    ids: "Ids"
    starts: NDArray[np.int64]
    first: NDArray[np.bool_]
    sources: NDArray[np.int64]
    numbers: NDArray[np.int64]
    ids_before: int

    def after(self, position: Position) -> "EncodedBatch":
        """Return the batch without the ids up to `position`, which are written already."""
        here = (int(self.sources[0]), int(self.numbers[0])) == (position.input, position.part)
        if not here or self.ids_before >= position.ids:
            return self
        end = int(self.starts[1]) if len(self.starts) > 1 else len(self.ids)
        drop = min(position.ids - self.ids_before, end)
        starts, first = np.maximum(self.starts - drop, 0), self.first.copy()
        first[0] = False
        return self._replace(ids=self.ids[drop:], starts=starts, first=first, ids_before=self.ids_before + drop)


class CorpusEncoder:
    """Encodes the documents of files.

    Args:
        tokenizer: the tokenizer to encode with.
        options: how files are read.
        end: the id that ends each document, or None.
        allowed: the special tokens that may occur in a text.
        threads: the number of encoding threads; None for one per core.
    """

    def __init__(
        self,
        tokenizer: "Tokenizer",
        options: ReadOptions,
        end: int | None,
        allowed: frozenset[str],
        threads: int | None,
    ) -> None:
        self._tokenizer, self.pipeline, self._options = tokenizer, tokenizer.pipeline, options
        self._end, self._allowed, self._threads = end, allowed, threads

    def of(self, inputs: Sequence[Input], start: Position, advance: Advance) -> Generator[EncodedBatch, None, None]:
        """Yield the ids of the files' documents, in batches, from `start` on.

        Raises CorpusError, MissingDependencyError, and whatever the tokenizer's components raise for a text.
        """
        stream, given = StreamEncoder(self._tokenizer), 0
        with closing(prefetch(batches(self._parts(inputs, start, advance)))) as found:
            for batch in found:
                if batch[0].independent:
                    yield self._encode_batch(batch).after(start)
                    continue
                (part,) = batch
                if part.first:
                    stream, given = self._stream(), 0
                ids = stream.push(part.text)
                if part.last:
                    ids += stream.finish() + ([] if self._end is None else [self._end])
                else:
                    check_buffer(len(stream.pending), inputs[part.source].path, part.number)
                yield _make_batch(np.array(ids, np.uint32), np.zeros(1, np.int64), batch, given).after(start)
                given += len(ids)

    def _stream(self) -> StreamEncoder:
        return StreamEncoder(self._tokenizer, allowed_special=self._allowed, add_special_tokens=False)

    def _parts(self, inputs: Sequence[Input], start: Position, advance: Advance) -> Iterator[DocumentPart]:
        cuts = DocumentSplitter.of(self.pipeline, self._allowed)
        for index, source in enumerate(inputs):
            if index < start.input:
                advance(source.size)
                continue
            for part in parts(fragments(source, self._options, advance), index, source.path, cuts):
                if index > start.input or part.number >= start.part:
                    yield part
            check_unchanged(source)

    def _encode_batch(self, batch: list[DocumentPart]) -> EncodedBatch:
        ids, offsets = self.pipeline.arrays([part.text for part in batch], self._allowed, self._threads)
        if self._end is not None:
            last = np.array([part.last for part in batch])
            ids = np.insert(ids, offsets[1:][last], self._end)
            offsets = offsets + np.concatenate([[0], np.cumsum(last)])
        return _make_batch(ids, offsets[:-1], batch, 0)


def _make_batch(ids: "Ids", starts: NDArray[np.int64], batch: list[DocumentPart], ids_before: int) -> EncodedBatch:
    first = np.array([part.first for part in batch])
    sources = np.array([part.source for part in batch], np.int64)
    numbers = np.array([part.number for part in batch], np.int64)
    return EncodedBatch(ids, starts, first, sources, numbers, ids_before)
