"""Distributed encoding: each file of the corpus is a task, which writes a separate folder of shards.

The folder of file 3 is `part-00003`, with what `encode_files` writes for that file alone. So a task that runs
again, because its worker was lost, resumes after the last complete shard, and a finished one does nothing. When all
tasks are finished, one index lists the shards in the order of the files; before that the folder has no index. All
workers have to see the folder under the same path.

Chapter: More than one machine. Cost: that of `write.py`, divided by files.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from .._support import dask_wait
from .._support.dask_client import Cluster, connect, exit_if_respawned
from .._support.dask_wait import ClusterWaits, Watch
from ..corpus.fsspec_files import absolute
from ..errors import ShardsError
from .encoding import Position
from .index import NAME, Index, Shard, read_index
from .write import PART, clear, locked_folder, require_same_settings, write_folder

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

RETRIES, MAX_WAIT = 2, 600.0
"""Retries of a task, and how many seconds it waits for a worker that was presumed lost but is still writing."""


def write_parts(
    tokenizer: "Tokenizer",
    folder: Path,
    new: Index,
    cluster: Cluster,
    threads: int,
    progress: bool | None,
    overwrite: bool,
    worker_timeout: float | None = None,
) -> None:
    """Write the shards that an index describes, or resume. Raises ShardsError, CorpusError, ClusterError."""
    exit_if_respawned(cluster)  # the process that started this one has locked the folder
    with locked_folder(folder, parts=True):
        if overwrite:
            clear(folder)
        if (folder / NAME).exists():
            old = read_index(folder)
            require_same_settings(folder, old, new)
            if not old.complete:
                raise ShardsError(
                    f"{folder}: was begun without a cluster; go on without one, or pass overwrite=True (--overwrite)"
                )
            return
        if len(there := sorted(folder.glob(f"{PART}*"))) > len(new.inputs):
            raise ShardsError(
                f"{folder}: holds {there[-1].name!r}, and there are {len(new.inputs):,} inputs; give the same ones, "
                "choose another folder, or pass overwrite=True (--overwrite)"
            )
        with (
            connect(cluster, worker_timeout) as watch,
            watch.progress_bar(progress, sum(i.size for i in new.inputs), "encoding") as advance,
        ):
            parts = _encode_parts(watch, tokenizer, folder, new, threads, advance)
        for index, (item, part) in enumerate(zip(new.inputs, parts)):
            item.documents = part.inputs[0].documents
            new.shards += [_with_prefix(shard, f"{PART}{index:05}/") for shard in part.shards]
        new.position, new.complete = Position(len(new.inputs)), True
        new.write(folder)


def _with_prefix(shard: Shard, before: str) -> Shard:
    return replace(shard, file=before + shard.file, documents_file=before + shard.documents_file)


def _encode_parts(
    watch: Watch,
    tokenizer: "Tokenizer",
    folder: Path,
    new: Index,
    threads: int,
    advance: Callable[[int], object],
) -> list[Index]:
    """Write the shards of each file; return their indexes."""
    name, home, client = uuid4().hex, Path(os.path.abspath(folder)), watch.client
    given = client.submit(_identity, tokenizer, key=f"tokenizer-{name}")
    keys, found = [f"encode-{name}-{number}" for number in range(len(new.inputs))], dict[str, Index]()
    item_of = dict(zip(keys, new.inputs))
    try:
        for number, (key, item) in enumerate(item_of.items()):
            index = Index(new.settings, [replace(item, path=absolute(item.path))])
            where = home / f"{PART}{number:05}"
            watch.add([client.submit(write_part, given, where, index, threads, key=key, retries=RETRIES)])
        for task in watch.finished():
            found[task.key] = watch.call(task.result)
            advance(item_of[task.key].size)
    finally:
        watch.drop()  # after an error the remaining tasks aren't needed
    return [found[key] for key in keys]


def _identity(tokenizer: "Tokenizer") -> "Tokenizer":
    """Return the tokenizer. As the result of a task, Dask computes it again if it is lost."""
    return tokenizer


def write_part(tokenizer: "Tokenizer", folder: Path, index: Index, threads: int) -> Index:
    """Write the shards of one file; return their index.

    A stalled worker is presumed lost, and another takes over its task. If the first wakes up, it continues to write. So
    the second waits for it, with a warning after half a minute in the client's process, and finds everything finished.
    """
    from distributed import warn

    told = False

    def tell(seconds: float) -> None:
        nonlocal told
        if seconds >= dask_wait.PATIENCE and not told:
            told = True
            what = "another worker, which was taken for lost, still writes to it"
            warn(ClusterWaits(f"{folder}: {what}; waiting for that to end, {MAX_WAIT:g} s at most"), None)

    return write_folder(tokenizer, folder, index, threads, False, False, MAX_WAIT, tell)
