"""Shards written by a cluster: each file of the corpus is a task, with a folder of shards of its own.

The folder of file 3 is `part-00003`, and it is what `encode_files` writes for that file alone: so a task that is done
again, because its worker was lost, goes on behind the last whole shard, and one that was done does nothing. When all
are there, one index names them in the order of the files; before that the folder has none. All workers have to see the
folder under one name.

Chapter: More than one machine. Cost: that of `run.py`, shared out by files.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from .. import waiting
from ..cluster import Cluster, connected, leave_if_starting
from ..errors import ShardsError
from ..waiting import ClusterWaits, Watch
from .encoding import Position
from .index import NAME, Index, Shard, read_index
from .remote import absolute
from .run import PART, clear, refuse_differences, write_folder, writing

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

RETRIES, LONGEST = 2, 600.0
"""How often a task is done again, and for how many seconds it waits for a worker that was lost, and writes still."""


def write_parts(
    tokenizer: "BPETokenizer",
    folder: Path,
    new: Index,
    cluster: Cluster,
    threads: int,
    progress: bool | None,
    overwrite: bool,
    worker_timeout: float | None = None,
) -> None:
    """Write what an index asks for, or go on. Raises ShardsError, CorpusError, ClusterError."""
    leave_if_starting(cluster)  # the folder is in use by who started this
    with writing(folder, parts=True):
        if overwrite:
            clear(folder)
        if (folder / NAME).exists():
            old = read_index(folder)
            refuse_differences(folder, old, new)
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
            connected(cluster, worker_timeout) as watch,
            watch.bar(progress, sum(i.size for i in new.inputs), "encoding") as advance,
        ):
            parts = _encoded(watch, tokenizer, folder, new, threads, advance)
        for number, (item, part) in enumerate(zip(new.inputs, parts)):
            item.documents = part.inputs[0].documents
            new.shards += [_moved(shard, f"{PART}{number:05}/") for shard in part.shards]
        new.position, new.complete = Position(len(new.inputs)), True
        new.write(folder)


def _moved(shard: Shard, before: str) -> Shard:
    return replace(shard, file=before + shard.file, documents_file=before + shard.documents_file)


def _encoded(
    watch: Watch,
    tokenizer: "BPETokenizer",
    folder: Path,
    new: Index,
    threads: int,
    advance: Callable[[int], object],
) -> list[Index]:
    """The index of each file's shards, which are there then."""
    name, home, client = uuid4().hex, Path(os.path.abspath(folder)), watch.client
    given = client.submit(_same, tokenizer, key=f"tokenizer-{name}")
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
        watch.drop()  # after an error nobody wants the rest
    return [found[key] for key in keys]


def _same(tokenizer: "BPETokenizer") -> "BPETokenizer":
    """A task that has the tokenizer as its result, so that it is made again where it is lost."""
    return tokenizer


def write_part(tokenizer: "BPETokenizer", folder: Path, index: Index, threads: int) -> Index:
    """The shards of one file; their index.

    A worker that stalls is taken for lost, and its task done by another one. Should it wake up, it goes on writing: so
    the other waits for it, which is told after half a minute where the cluster is used, and finds all done.
    """
    from distributed import warn

    told = False

    def tell(seconds: float) -> None:
        nonlocal told
        if seconds >= waiting.PATIENCE and not told:
            told = True
            what = "another worker, which was taken for lost, still writes to it"
            warn(ClusterWaits(f"{folder}: {what}; waiting for that to end, {LONGEST:g} s at most"), None)

    return write_folder(tokenizer, folder, index, threads, False, False, LONGEST, tell)
