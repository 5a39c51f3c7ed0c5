"""Shard writer: writes ids to files of `shard_tokens` tokens each, and the index of these files.

A shard is closed as soon as it is full. Its files are on disk before the index names them, so an index never
names a file that doesn't exist; a resumed run rewrites whatever the index doesn't name.
"""

from pathlib import Path

from .._support.new_folder import sync
from .._support.numpy_import import np
from .array_files import ArrayFile
from .encoding import EncodedBatch, Position
from .index import Index, Shard

TOKEN_DTYPES = {"uint16": "<u2", "uint32": "<u4"}
"""The type of the numbers in a shard, little-endian on every machine."""
START_DTYPE = "<i8"


class ShardWriter:
    """Writes ids to the shards of a folder, from the position in an index on. Its methods raise OSError."""

    def __init__(self, folder: Path, index: Index) -> None:
        self._folder, self._index = folder, index
        self._size, self._documents = index.settings.shard_tokens, [item.documents for item in index.inputs]
        self._ids: ArrayFile | None = None
        self._starts: ArrayFile | None = None

    def _open_files(self) -> tuple[ArrayFile, ArrayFile]:
        if self._ids is None or self._starts is None:
            number, settings = len(self._index.shards), self._index.settings
            name, npy = f"shard-{number:05}", settings.shard_format == "npy"
            self._ids = ArrayFile(self._folder / f"{name}.{settings.shard_format}", TOKEN_DTYPES[settings.dtype], npy)
            self._starts = ArrayFile(self._folder / f"{name}.documents.npy", START_DTYPE, True)
        return self._ids, self._starts

    def add(self, batch: EncodedBatch) -> None:
        """Write the ids of a batch, and close each shard that becomes full."""
        part = at = 0
        while at < len(batch.ids) or batch.first[part:].any():  # a document without ids needs a shard too
            ids, offsets = self._open_files()
            end = at + min(self._size - ids.length, len(batch.ids) - at)
            full = ids.length + end - at == self._size
            upto = int(np.searchsorted(batch.starts, end)) if full else len(batch.starts)
            starts_here = batch.first[part:upto]
            offsets.append(batch.starts[part:upto][starts_here] - at + ids.length)
            for source, number in zip(*np.unique(batch.sources[part:upto][starts_here], return_counts=True)):
                self._documents[int(source)] += int(number)
            ids.append(batch.ids[at:end])
            part, at = upto, end
            if full:
                last = upto - 1
                before = batch.ids_before if last == 0 else 0
                ids_of_it = end - int(batch.starts[last]) + before
                self._close(Position(int(batch.sources[last]), int(batch.numbers[last]), ids_of_it))

    def _close(self, position: Position) -> None:
        if self._ids is not None and self._starts is not None:
            names = self._ids.path.name, self._starts.path.name
            digests = self._ids.finish(), self._starts.finish()
            shard = Shard(names[0], self._ids.length, self._starts.length, digests[0], names[1], digests[1])
            self._index.shards.append(shard)
            self._ids = self._starts = None
            sync(self._folder)
        for item, documents in zip(self._index.inputs, self._documents):
            item.documents = documents
        self._index.position = position
        self._index.write(self._folder)

    def finish(self) -> None:
        """Close the last shard, and mark the index as complete."""
        self._index.complete = True
        try:
            self._close(Position(len(self._index.inputs)))
        except BaseException:
            self._index.complete = False
            raise

    def discard(self) -> None:
        """Remove the temporary files."""
        for file in (self._ids, self._starts):
            if file is not None:
                file.discard()
