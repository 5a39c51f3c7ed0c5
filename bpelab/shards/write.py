"""Encode a corpus to shards: what `BPETokenizer.encode_files` does.

Files are read in one thread, encoded in several, and written in order. A run can be stopped at any moment: the next run
with the same arguments resumes after the last complete shard, and the resulting files are the same.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .._support.progress import progress_bar
from .._support.textio import expand_user
from .._support.validate import check_name, check_size
from ..corpus.documents import ReadOptions
from ..corpus.inputs import Paths, find_inputs
from ..errors import ShardsError, SpecialTokenError
from .array_files import TEMPORARY
from .encoding import CorpusEncoder
from .fingerprints import fingerprint
from .index import NAME, Index, Settings, describe_differences, read_index
from .lock import locked
from .reader import Shards, check_sizes, open_shards
from .writer import ShardWriter

if TYPE_CHECKING:
    from .._support.dask_client import Cluster
    from ..core.tokenizer import Tokenizer
    from ..vocab.special_tokens import Special

UINT16_VOCAB, UINT32_VOCAB = 1 << 16, 1 << 32
"""Size of the largest vocabulary whose ids fit into 16 bits, and into 32."""
PART = "part-"
"""The prefix of a folder with one file's shards (distributed.py)."""


def encode_files(
    tokenizer: "Tokenizer",
    paths: Paths,
    folder: str | Path,
    *,
    input_format: str | None,
    separator: str | None,
    field: str,
    errors: str,
    end_of_document: str | bool | None,
    allowed_special: "Special",
    shard_tokens: int,
    shard_format: str,
    dtype: str,
    threads: int | None,
    progress: bool | None,
    overwrite: bool,
    client: "Cluster" = None,
    worker_timeout: float | None = None,
) -> Shards:
    """Encode files to shards; see `BPETokenizer.encode_files` for the arguments."""
    if worker_timeout is not None:
        from .._support.dask_wait import check_timeout

        check_timeout(worker_timeout)
        if client is None:
            raise ValueError("worker_timeout is for a cluster: pass client, too (--dask)")
    check_name(shard_format, "shard_format", ("npy", "bin"))
    check_name(errors, "errors", ("strict", "replace"))
    _check_text("field", field)
    if separator is not None:
        _check_text("separator", separator)
    check_size(shard_tokens, "shard_tokens", 1)
    if threads is not None:
        check_size(threads, "threads", 1)
    end = end_name(tokenizer, end_of_document)
    allowed = tokenizer.spec.special_tokens.select(allowed_special, "allowed_special")
    settings = Settings(
        tokenizer=fingerprint(tokenizer),
        n_vocab=tokenizer.n_vocab,
        dtype=_chosen_dtype(dtype, tokenizer.n_vocab),
        shard_format=shard_format,
        shard_tokens=shard_tokens,
        input_format=input_format,
        separator=separator,
        field=field,
        errors=errors,
        end_of_document=end,
        allowed_special=sorted(allowed),
    )
    new = Index(settings, find_inputs(paths, input_format))
    folder = expand_user(folder)
    if client is not None:
        from .distributed import write_parts

        write_parts(tokenizer, folder, new, client, threads or 1, progress, overwrite, worker_timeout)
    else:
        write_folder(tokenizer, folder, new, threads, progress, overwrite)
    return open_shards(folder)


def write_folder(
    tokenizer: "Tokenizer",
    folder: Path,
    new: Index,
    threads: int | None,
    progress: bool | None,
    overwrite: bool,
    timeout: float = 0,
    on_wait: Callable[[float], object] = lambda seconds: None,
) -> Index:
    """Write the shards for the settings and inputs in an index, or resume; return the final index."""
    with locked_folder(folder, False, timeout, on_wait):
        index = _resume_or_create(folder, new, overwrite)
        if not index.complete:
            _write(tokenizer, folder, index, threads, progress)
        return index


@contextmanager
def locked_folder(
    folder: Path, parts: bool = False, timeout: float = 0, on_wait: Callable[[float], object] = lambda seconds: None
) -> Iterator[None]:
    """Create and lock a folder for shards; if `parts`, it may already contain parts. Raises ShardsError.

    `timeout` is the seconds to wait while another process writes to it; `on_wait` is called meanwhile (lock.py).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_foreign_files(folder, parts)
        with locked(folder, timeout, on_wait):
            yield
    except OSError as error:  # of the folder; an input raises CorpusError
        raise ShardsError(
            f"{folder}: can't be written: {error.strerror or error}. Whole shards are kept: once there is room "
            "and permission to write, the same call continues after them"
        ) from error


def make_encoder(tokenizer: "Tokenizer", settings: Settings, threads: int | None) -> CorpusEncoder:
    """Return the encoder of a run with these settings."""
    options = ReadOptions(settings.separator, settings.field, settings.errors)
    end = None if settings.end_of_document is None else tokenizer.special_tokens[settings.end_of_document]
    return CorpusEncoder(tokenizer, options, end, frozenset(settings.allowed_special), threads)


def end_name(tokenizer: "Tokenizer", end_of_document: str | bool | None) -> str | None:
    """Return the name of the token that ends documents: the chosen one, or for True the tokenizer's `eos_token`.

    Raises SpecialTokenError if the tokenizer has no such token.
    """
    if end_of_document is True:
        if tokenizer.eos_token is None:
            raise SpecialTokenError(
                "this tokenizer names no eos_token: name the token that ends documents, as in "
                'end_of_document="<|endoftext|>"'
            )
        return tokenizer.eos_token
    if end_of_document is None or end_of_document is False:
        return None
    if end_of_document not in tokenizer.special_tokens:
        existing = ", ".join(map(repr, list(tokenizer.special_tokens)[:8])) or "none"
        raise SpecialTokenError(
            f"end_of_document={end_of_document!r} is not a special token of this tokenizer; it has {existing}"
        )
    return end_of_document


def _chosen_dtype(dtype: str, n_vocab: int) -> str:
    check_name(dtype, "dtype", ("auto", "uint16", "uint32"))
    if n_vocab > UINT32_VOCAB:
        raise ValueError(f"ids are written in 32 bits at most, and this tokenizer's go up to {n_vocab - 1:,}")
    if dtype == "uint16" and n_vocab > UINT16_VOCAB:
        raise ValueError(f"dtype='uint16' holds ids up to 65,535, and this tokenizer's go up to {n_vocab - 1:,}")
    return dtype if dtype != "auto" else "uint16" if n_vocab <= UINT16_VOCAB else "uint32"


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is a string of at least one character, not {value!r}")


def _refuse_foreign_files(folder: Path, parts: bool) -> None:
    """Raise ShardsError for a folder that holds other files."""
    if not (folder / NAME).exists():
        strange = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        if strange and all(name.startswith(PART) for name in strange):
            if parts:
                return
            raise ShardsError(
                f"{folder}: holds {strange[0]!r}, of a run on a cluster that isn't finished; go on with that, or "
                "choose another folder"
            )
        if strange:
            raise ShardsError(
                f"{folder}: holds {strange[0][:60]!r} and no {NAME}, so it is not a folder of shards; choose one that "
                "is empty or not there yet"
            )


def _resume_or_create(folder: Path, new: Index, overwrite: bool) -> Index:
    """Return the index to continue with: that of an unfinished run with the same arguments, or a new one."""
    old = read_index(folder) if (folder / NAME).exists() else None  # check before anything is deleted
    if overwrite:
        old = None
    if old is not None:
        require_same_settings(folder, old, new)
        check_sizes(folder, old)
    else:
        clear(folder)
        new.write(folder)
    for pattern in (f".shard-*{TEMPORARY}", f".{NAME}.*"):
        for path in folder.glob(pattern):
            path.unlink()
    return old or new


def require_same_settings(folder: Path, old: Index, new: Index) -> None:
    """Raise ShardsError if an earlier run had different arguments."""
    if found := describe_differences(old, new):
        raise ShardsError(
            f"{folder}: was {'written' if old.complete else 'begun'} with other arguments: {'; '.join(found[:4])}. "
            "Give the same ones, choose another folder, or pass overwrite=True (--overwrite), which deletes its shards "
            "and begins anew"
        )


def clear(folder: Path) -> None:
    """Delete a folder's shards and parts."""
    (folder / NAME).unlink(missing_ok=True)  # first, so that the folder never looks complete
    for pattern in ("shard-*.npy", "shard-*.bin"):
        for path in folder.glob(pattern):
            path.unlink()
    for path in folder.glob(f"{PART}[0-9][0-9][0-9][0-9][0-9]*"):
        shutil.rmtree(path)


def _write(tokenizer: "Tokenizer", folder: Path, index: Index, threads: int | None, progress: bool | None) -> None:
    writer = ShardWriter(folder, index)
    encoding = make_encoder(tokenizer, index.settings, threads)
    try:
        with (
            progress_bar(progress, sum(item.size for item in index.inputs), "encoding", "B") as advance,
            closing(encoding.of(index.inputs, index.position, advance)) as found,
        ):
            for part in found:
                writer.add(part)
        writer.finish()
    finally:
        writer.discard()
