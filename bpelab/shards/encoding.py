"""From files to arrays of ids, each with the place that it came from, so that work can go on at any of them.

A place is (file, part of it, ids of that part). Reading does not depend on how far a run before came, so parts are the
same in every run; what was written is read over and not encoded again.

Cost: that of reading and encoding. Memory: a few batches (see parts.py).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..streaming import StreamEncoder
from .ahead import ahead
from .blocks import Advance
from .documents import Reading, fragments
from .inputs import Input, check_unchanged
from .numbers import NDArray, np
from .parts import Part, SafeCuts, batches, check_held, parts

if TYPE_CHECKING:
    from ..pipeline import Ids
    from ..tokenizer import BPETokenizer


@dataclass(frozen=True)
class Position:
    """How far a run came: so many `ids` of the part numbered `part` of the file numbered `input`."""

    input: int = 0
    part: int = 0
    ids: int = 0


class Encoded(NamedTuple):
    """The ids of some parts.

    Attributes:
        ids: of all parts, end to end.
        starts: where each part begins among them.
        first: which parts begin a document.
        sources, numbers: the file of each part, and its number there.
        done: how many ids of the first part came before these.
    """

    ids: "Ids"
    starts: NDArray[np.int64]
    first: NDArray[np.bool_]
    sources: NDArray[np.int64]
    numbers: NDArray[np.int64]
    done: int

    def behind(self, position: Position) -> "Encoded":
        """The same without what was written before."""
        here = (int(self.sources[0]), int(self.numbers[0])) == (position.input, position.part)
        if not here or self.done >= position.ids:
            return self
        end = int(self.starts[1]) if len(self.starts) > 1 else len(self.ids)
        drop = min(position.ids - self.done, end)
        starts, first = np.maximum(self.starts - drop, 0), self.first.copy()
        first[0] = False
        return self._replace(ids=self.ids[drop:], starts=starts, first=first, done=self.done + drop)


class Encoding:
    """How documents become ids.

    Args:
        tokenizer: which encodes.
        reading: how files are read.
        end: the id that ends each document, or None.
        allowed: the special tokens that may stand in a text.
        threads: how many may work at once.
    """

    def __init__(
        self, tokenizer: "BPETokenizer", reading: Reading, end: int | None, allowed: frozenset[str], threads: int | None
    ) -> None:
        self._tokenizer, self._pipeline, self._reading = tokenizer, tokenizer._pipeline, reading
        self._end, self._allowed, self._threads = end, allowed, threads

    def of(self, inputs: Sequence[Input], start: Position, advance: Advance) -> Generator[Encoded, None, None]:
        """The ids of the files' documents from `start` on.

        Raises CorpusError, MissingDependencyError, and what the tokenizer's parts raise for a text.
        """
        stream, given = StreamEncoder(self._tokenizer), 0
        with closing(ahead(batches(self._parts(inputs, start, advance)))) as found:
            for batch in found:
                if batch[0].alone:
                    yield self._together(batch).behind(start)
                    continue
                (part,) = batch
                if part.first:
                    stream, given = self._stream(), 0
                ids = stream.push(part.text)
                if part.last:
                    ids += stream.finish() + ([] if self._end is None else [self._end])
                else:
                    check_held(len(stream.pending), inputs[part.source].path, part.number)
                yield _placed(np.array(ids, np.uint32), np.zeros(1, np.int64), batch, given).behind(start)
                given += len(ids)

    def _stream(self) -> StreamEncoder:
        return StreamEncoder(self._tokenizer, allowed_special=self._allowed, add_special_tokens=False)

    def _parts(self, inputs: Sequence[Input], start: Position, advance: Advance) -> Iterator[Part]:
        cuts = SafeCuts.of(self._pipeline, self._allowed)
        for number, source in enumerate(inputs):
            if number < start.input:
                advance(source.size)
                continue
            for part in parts(fragments(source, self._reading, advance), number, source.path, cuts):
                if number > start.input or part.number >= start.part:
                    yield part
            check_unchanged(source)

    def _together(self, batch: list[Part]) -> Encoded:
        ids, offsets = self._pipeline.arrays([part.text for part in batch], self._allowed, self._threads)
        if self._end is not None:
            last = np.array([part.last for part in batch])
            ids = np.insert(ids, offsets[1:][last], self._end)
            offsets = offsets + np.concatenate([[0], np.cumsum(last)])
        return _placed(ids, offsets[:-1], batch, 0)


def _placed(ids: "Ids", starts: NDArray[np.int64], batch: list[Part], done: int) -> Encoded:
    first = np.array([part.first for part in batch])
    sources = np.array([part.source for part in batch], np.int64)
    numbers = np.array([part.number for part in batch], np.int64)
    return Encoded(ids, starts, first, sources, numbers, done)
