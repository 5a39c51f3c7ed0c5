"""A corpus to shards: what `BPETokenizer.encode_files` does.

Files are read in one thread, encoded in several, and written in order, by a run that can be stopped at any moment: the
next one with the same arguments goes on behind the last whole shard, and what is there in the end is the same.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ShardsError, SpecialTokenError
from ..formats.detect import in_home
from ..progress import bar
from .documents import Reading
from .encoding import Encoding
from .files import TEMPORARY
from .fingerprints import fingerprint
from .index import NAME, Index, Settings, differences, read_index
from .inputs import Paths, find_inputs
from .lock import locked
from .reading import Shards, check_sizes, open_shards
from .writing import ShardWriter

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..special_tokens import Special
    from ..tokenizer import BPETokenizer

LARGEST_UINT16, LARGEST_UINT32 = 1 << 16, 1 << 32
"""Sizes of vocabularies whose ids fit."""
PART = "part-"
"""Begins the name of a folder with one file's shards (distributed.py)."""


def encode_files(
    tokenizer: "BPETokenizer",
    paths: Paths,
    folder: str | Path,
    *,
    input_form: str | None,
    separator: str | None,
    field: str,
    errors: str,
    end_of_document: str | bool | None,
    allowed_special: "Special",
    shard_tokens: int,
    shard_form: str,
    dtype: str,
    threads: int | None,
    progress: bool | None,
    overwrite: bool,
    client: "Cluster" = None,
    worker_timeout: float | None = None,
) -> Shards:
    """What `BPETokenizer.encode_files` gives."""
    if worker_timeout is not None:
        from ..waiting import check_timeout

        check_timeout(worker_timeout)
        if client is None:
            raise ValueError("worker_timeout is for a cluster: pass client, too (--dask)")
    _check_choice("shard_form", shard_form, ("npy", "bin"))
    _check_choice("errors", errors, ("strict", "replace"))
    _check_text("field", field)
    if separator is not None:
        _check_text("separator", separator)
    _check_number("shard_tokens", shard_tokens)
    if threads is not None:
        _check_number("threads", threads)
    end = end_name(tokenizer, end_of_document)
    allowed = tokenizer._special.select(allowed_special, "allowed_special")
    settings = Settings(
        tokenizer=fingerprint(tokenizer),
        n_vocab=tokenizer.n_vocab,
        dtype=_chosen_dtype(dtype, tokenizer.n_vocab),
        shard_form=shard_form,
        shard_tokens=shard_tokens,
        input_form=input_form,
        separator=separator,
        field=field,
        errors=errors,
        end_of_document=end,
        allowed_special=sorted(allowed),
    )
    new = Index(settings, find_inputs(paths, input_form))
    folder = in_home(folder)
    if client is not None:
        from .distributed import write_parts

        write_parts(tokenizer, folder, new, client, threads or 1, progress, overwrite, worker_timeout)
    else:
        write_folder(tokenizer, folder, new, threads, progress, overwrite)
    return open_shards(folder)


def write_folder(
    tokenizer: "BPETokenizer",
    folder: Path,
    new: Index,
    threads: int | None,
    progress: bool | None,
    overwrite: bool,
    patience: float = 0,
    tell: Callable[[float], object] = lambda seconds: None,
) -> Index:
    """Write the shards that an index with settings and inputs asks for, or go on; the index in the end."""
    with writing(folder, False, patience, tell):
        index = _begin(folder, new, overwrite)
        if not index.complete:
            _write(tokenizer, folder, index, threads, progress)
        return index


@contextmanager
def writing(
    folder: Path, parts: bool = False, patience: float = 0, tell: Callable[[float], object] = lambda seconds: None
) -> Iterator[None]:
    """A folder of shards, or for them, that nobody else writes to; parts may be in it. Raises ShardsError.

    `patience` is for how many seconds to wait for who writes to it, and `tell` is called meanwhile (lock.py).
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_others(folder, parts)
        with locked(folder, patience, tell):
            yield
    except OSError as error:  # of the folder: what is wrong with an input is a CorpusError
        raise ShardsError(
            f"{folder}: can't be written: {error.strerror or error}. Whole shards are kept: when there is room and "
            "leave to write, the same call goes on behind them"
        ) from error


def encoding_of(tokenizer: "BPETokenizer", settings: Settings, threads: int | None) -> Encoding:
    """How a run with these settings encodes."""
    reading = Reading(settings.separator, settings.field, settings.errors)
    end = None if settings.end_of_document is None else tokenizer.special_tokens[settings.end_of_document]
    return Encoding(tokenizer, reading, end, frozenset(settings.allowed_special), threads)


def end_name(tokenizer: "BPETokenizer", chosen: str | bool | None) -> str | None:
    """The name of the token that ends documents: the one named, or for True the tokenizer's `eos_token`.

    Raises SpecialTokenError where there is none.
    """
    if chosen is True:
        if tokenizer.eos_token is None:
            raise SpecialTokenError(
                "this tokenizer names no eos_token: name the token that ends documents, as in "
                'end_of_document="<|endoftext|>"'
            )
        return tokenizer.eos_token
    if chosen is None or chosen is False:
        return None
    if chosen not in tokenizer.special_tokens:
        known = ", ".join(map(repr, list(tokenizer.special_tokens)[:8])) or "none"
        raise SpecialTokenError(f"end_of_document={chosen!r} is no special token of this tokenizer; it has {known}")
    return chosen


def _chosen_dtype(dtype: str, n_vocab: int) -> str:
    _check_choice("dtype", dtype, ("auto", "uint16", "uint32"))
    if n_vocab > LARGEST_UINT32:
        raise ValueError(f"ids are written in 32 bits at most, and this tokenizer's go up to {n_vocab - 1:,}")
    if dtype == "uint16" and n_vocab > LARGEST_UINT16:
        raise ValueError(f"dtype='uint16' holds ids up to 65,535, and this tokenizer's go up to {n_vocab - 1:,}")
    return dtype if dtype != "auto" else "uint16" if n_vocab <= LARGEST_UINT16 else "uint32"


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is a string of at least one character, not {value!r}")


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} is a whole number of at least 1, not {value!r}")


def _refuse_others(folder: Path, parts: bool) -> None:
    """Raise ShardsError for a folder in which something else is."""
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


def _begin(folder: Path, new: Index, overwrite: bool) -> Index:
    """The index to go on with: that of an unfinished run with the same arguments, or a new one."""
    old = read_index(folder) if (folder / NAME).exists() else None  # also before anything is deleted
    if overwrite:
        old = None
    if old is not None:
        refuse_differences(folder, old, new)
        check_sizes(folder, old)
    else:
        clear(folder)
        new.write(folder)
    for pattern in (f".shard-*{TEMPORARY}", f".{NAME}.*"):
        for path in folder.glob(pattern):
            path.unlink()
    return old or new


def refuse_differences(folder: Path, old: Index, new: Index) -> None:
    """Raise ShardsError where a run had other arguments."""
    if found := differences(old, new):
        raise ShardsError(
            f"{folder}: was {'written' if old.complete else 'begun'} with other arguments: {'; '.join(found[:4])}. "
            "Give the same ones, choose another folder, or pass overwrite=True (--overwrite), which deletes its shards "
            "and begins anew"
        )


def clear(folder: Path) -> None:
    """Delete the shards of a folder, and its parts."""
    (folder / NAME).unlink(missing_ok=True)  # first, so that what is deleted next is never taken for whole
    for pattern in ("shard-*.npy", "shard-*.bin"):
        for path in folder.glob(pattern):
            path.unlink()
    for path in folder.glob(f"{PART}[0-9][0-9][0-9][0-9][0-9]*"):
        shutil.rmtree(path)


def _write(tokenizer: "BPETokenizer", folder: Path, index: Index, threads: int | None, progress: bool | None) -> None:
    writer = ShardWriter(folder, index)
    encoding = encoding_of(tokenizer, index.settings, threads)
    try:
        with (
            bar(progress, sum(item.size for item in index.inputs), "encoding", "B") as advance,
            closing(encoding.of(index.inputs, index.position, advance)) as found,
        ):
            for part in found:
                writer.add(part)
        writer.finish()
    finally:
        writer.discard()
