"""Read a folder of shards, memory-mapped: its tokens as one sequence, its documents by index.

Chapter: A tokenizer in production. Cost: opening reads the index and the sizes of the files; finding a document takes a
bisection over shards and one access to the file of document offsets.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.numpy_import import NDArray, np
from .._support.textio import expand_user
from ..corpus.inputs import Paths
from ..errors import ShardsError
from .array_files import size_of
from .index import Index, read_index
from .writer import START_DTYPE, TOKEN_DTYPES

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

Tokens = NDArray[np.unsignedinteger[Any]]


class Shards:
    """The tokens and documents in a folder that `BPETokenizer.encode_files` wrote. Open one with `open_shards`.

    `len` is the number of tokens; iteration yields the shards, memory-mapped arrays of uint16 or uint32, in order.

    Attributes:
        folder: its path.
        index: the content of `index.json`: settings, inputs, shards.
        documents: the number of documents.
    """

    def __init__(self, folder: Path, index: Index) -> None:
        self.folder, self.index, self.documents = folder, index, index.documents
        self._tokens_before = [0, *accumulate(shard.tokens for shard in index.shards)]
        self._documents_before = [0, *accumulate(shard.documents for shard in index.shards)]
        self._maps: dict[str, NDArray[Any]] = {}

    def __len__(self) -> int:
        return self._tokens_before[-1]

    def __iter__(self) -> Iterator[Tokens]:
        return (self._shard(number) for number in range(len(self.index.shards)))

    def __repr__(self) -> str:
        shards = len(self.index.shards)
        return f"<Shards: {len(self):,} tokens, {self.documents:,} documents, {shards:,} files in {str(self.folder)!r}>"

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The dtype of the tokens, little-endian uint16 or uint32."""
        return np.dtype(TOKEN_DTYPES[self.index.settings.dtype])

    def document(self, number: int) -> Tokens:
        """Return the ids of document `number`, counted from 0 over all inputs, with the token that ends it, if any.

        Raises IndexError. Cost: as for `tokens`, and a bisection over the shards.
        """
        if not 0 <= number < self.documents:
            raise IndexError(f"there is no document {number}: there are {self.documents:,}, counted from 0")
        end = self._document_start(number + 1) if number + 1 < self.documents else len(self)
        return self.tokens(self._document_start(number), end)

    def tokens(self, start: int, stop: int) -> Tokens:
        """Return the ids from token `start` up to `stop`, counted over all shards.

        The result is a view of the memory-mapped file if they lie in one shard, else a copy. Raises IndexError.
        """
        if not 0 <= start <= stop <= len(self):
            raise IndexError(f"tokens {start} to {stop} are out of range: there are {len(self):,}, counted from 0")
        parts: list[Tokens] = []
        number = bisect_right(self._tokens_before, start) - 1
        while number < len(self.index.shards):
            before = self._tokens_before[number]
            if before >= stop and parts:
                break
            parts.append(self._shard(number)[max(0, start - before) : max(0, stop - before)])
            number += 1
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, self.dtype), *parts])

    def find_document(self, token: int) -> int:
        """Return the number of the document that a token belongs to. Raises IndexError."""
        if not 0 <= token < len(self):
            raise IndexError(f"there is no token {token}: there are {len(self):,}, counted from 0")
        number = bisect_right(self._tokens_before, token) - 1
        begun = np.searchsorted(self._starts(number), token - self._tokens_before[number], "right")
        return self._documents_before[number] + int(begun) - 1

    def verify(
        self,
        tokenizer: "Tokenizer | None" = None,
        against: Paths | None = None,
        *,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> None:
        """Check every file's SHA-256; with a `tokenizer`, also encode the inputs again and compare.

        The inputs are the files that the index names, or the files `against`, in the same order. Raises ShardsError
        naming the damaged files, or the first document that differs. Cost: that of reading, or of encoding.
        """
        from .verify import check_files, verify_against_inputs

        check_files(self, progress)
        if tokenizer is not None:
            verify_against_inputs(self, tokenizer, against, threads, progress)
        elif against is not None:
            raise ValueError("comparing with the inputs needs the tokenizer: verify(tokenizer, against)")

    def begins(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the offsets at which documents `start` up to `stop` begin, counted in tokens over all shards."""
        parts = [np.empty(0, np.int64)]
        number = bisect_right(self._documents_before, start) - 1
        while number < len(self.index.shards) and self._documents_before[number] < stop:
            before = self._documents_before[number]
            offsets = self._starts(number)[max(0, start - before) : stop - before]
            parts.append(offsets + self._tokens_before[number])
            number += 1
        return np.concatenate(parts)

    def _document_start(self, document: int) -> int:
        number = bisect_right(self._documents_before, document) - 1
        offset = int(self._starts(number)[document - self._documents_before[number]])
        return self._tokens_before[number] + offset

    def _shard(self, number: int) -> Tokens:
        shard, settings = self.index.shards[number], self.index.settings
        return self._map(shard.file, TOKEN_DTYPES[settings.dtype], shard.tokens, settings.shard_format == "npy")

    def _starts(self, number: int) -> NDArray[np.int64]:
        shard = self.index.shards[number]
        return self._map(shard.documents_file, START_DTYPE, shard.documents, True)

    def _map(self, name: str, dtype: str, length: int, npy: bool) -> NDArray[Any]:
        if name not in self._maps:
            path = self.folder / name
            try:
                if length == 0:
                    self._maps[name] = np.empty(0, dtype)  # an empty file can't be mapped
                elif npy:
                    self._maps[name] = np.load(path, mmap_mode="r", allow_pickle=False)
                else:
                    self._maps[name] = np.memmap(path, dtype, "r", shape=(length,))
            except (OSError, ValueError) as error:
                raise ShardsError(f"{path}: can't be read: {error}") from error
            if (self._maps[name].shape, self._maps[name].dtype) != ((length,), np.dtype(dtype)):
                raise ShardsError(f"{path}: is not what the index says: {length:,} numbers of type {dtype}")
        return self._maps[name]


def open_shards(folder: str | Path) -> Shards:
    """Open the shards in a folder.

    Raises ShardsError for a folder without an index, for an unfinished run, and for files that are missing or
    don't have the size given in the index.
    """
    path = expand_user(folder)
    index = read_index(path)
    if not index.complete:
        raise ShardsError(
            f"{path}: isn't finished: {len(index.shards):,} shards are there. Start the run again with the same "
            "arguments: it goes on after them"
        )
    check_sizes(path, index)
    return Shards(path, index)


def check_sizes(folder: Path, index: Index) -> None:
    """Raise ShardsError if a file in the index is missing, or doesn't have the size given there."""
    npy, dtype = index.settings.shard_format == "npy", TOKEN_DTYPES[index.settings.dtype]
    for shard in index.shards:
        for name, size in (
            (shard.file, size_of(dtype, shard.tokens, npy)),
            (shard.documents_file, size_of(START_DTYPE, shard.documents, True)),
        ):
            try:
                found = (folder / name).stat().st_size
            except OSError as error:
                raise ShardsError(f"{folder / name}: can't be read: {error.strerror}; {_ANEW}") from error
            if found != size:
                raise ShardsError(f"{folder / name}: has {found:,} bytes, and the index says {size:,}; {_ANEW}")


_ANEW = "bring the file back, or write the folder anew with overwrite=True (--overwrite)"
