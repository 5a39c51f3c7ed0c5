"""Counting on a cluster: Dask workers count the pre-tokens of parts of the corpus, and one machine learns the merges.

Each part becomes a table of counts, partitioned by hash into buckets. Parts are taken in rounds; a round's tables are
summed bucket by bucket on the workers, and the sums are fetched and kept on the client, in files if they are large. A
task depends only on its part, so it may run again if a worker is lost. Each bucket of a round is added once, no matter
how often and where it was computed. The counts, and so the merges, are the same as on one machine.

Chapter: More than one machine. Cost: reading and counting are divided; over the network go the distinct pre-tokens of
each part, some 25 bytes each. Memory: `Job.limit` on a worker; the distinct pre-tokens of the corpus on the client.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from ..._support.dask_client import Cluster, connect
from ..._support.dask_wait import Watch, check_timeout
from ...boundaries.named_patterns import BoundaryKind
from ...corpus.fsspec_files import absolute, is_address
from ...corpus.inputs import find_inputs
from ...pretokenizers.split import Split
from ...vocab.special_tokens import SpecialTokens
from .corpus import boundary_kind_for, refuse_json_lines, strip_special
from .counters import PreTokenCounter, make_counter, sum_counts
from .native import batches
from .partition import Part, parts_of, texts_of
from .pre_token_counts import PreTokenCounts, concat_counts
from .spill_runs import Runs

if TYPE_CHECKING:
    from distributed import Client, Future

PART = 1 << 25
"""The size of a part of a text, in bytes: a few seconds of work."""
ROUND = 32
"""The fewest parts in a round; larger clusters take two for each thread."""
OPEN_ROUNDS = 2
"""The number of rounds in progress at once, so that no worker waits for the slowest part of a round."""
CLIENT_MEMORY = 1 << 30
"""The bytes of counts that the client keeps in memory before it writes files."""


@dataclass(frozen=True)
class Job:
    """How to count the parts.

    Attributes:
        split, special, normalize: as for `count_pre_tokens`.
        field: the field of JSON Lines or column of Parquet that holds the text.
        buckets: the number of buckets in a table.
        limit: the bytes of memory that a task takes for a table before it writes counts to files.
        retries: how often a failed task is retried.
    """

    split: Split | None
    special: SpecialTokens
    normalize: Callable[[str], str] | None = None
    field: str = "text"
    buckets: int = 16
    limit: int = 1 << 28
    retries: int = 2

    @property
    def boundary_kind(self) -> BoundaryKind:
        """Where texts may be cut."""
        return boundary_kind_for(self.split)

    def counter(self) -> PreTokenCounter:
        """Return a new counter of pre-tokens."""
        return make_counter(self.split)


def count_part(part: Part, job: Job) -> list[PreTokenCounts]:
    """Return the counts of a part, by bucket. Raises CorpusError naming the file.

    It has no side effects, so it can safely run twice.
    """
    texts = texts_of(part, job.field, job.boundary_kind, job.special)
    ordinary = (found for text in texts for found in strip_special(text, job.special, job.normalize))
    counter = job.counter()
    with closing(Runs(job.buckets, job.limit, _worker_folder())) as runs:
        for batch in batches(ordinary):
            counter.feed(batch)
            if counter.nbytes > job.limit:
                _add_buckets(counter.table(), runs, job.buckets)
                counter = job.counter()
        if not runs.spilled:
            return counter.table().buckets(job.buckets)
        _add_buckets(counter.table(), runs, job.buckets)
        return [runs.sum(bucket) for bucket in range(job.buckets)]


def _add_buckets(table: PreTokenCounts, runs: Runs, buckets: int) -> None:
    for bucket, part in enumerate(table.buckets(buckets)):
        runs.add(bucket, part)


def _worker_folder() -> str | None:
    """Return this worker's local folder, which Dask deletes when the worker is lost; None outside a worker."""
    from distributed import get_worker

    try:
        return str(get_worker().local_directory)
    except ValueError:  # no worker
        return None


def select_bucket(tables: Sequence[PreTokenCounts], bucket: int) -> PreTokenCounts:
    """Return one bucket of a part's tables; a task of its own, so that only this bucket crosses the network."""
    return tables[bucket]


def count_parts(
    watch: Watch,
    parts: Sequence[Part],
    job: Job,
    advance: Callable[[int], object],
    client_memory: int = CLIENT_MEMORY,
    least: int = 1,
) -> PreTokenCounts:
    """Return the counts of all parts.

    Raises the errors of `count_part`, Dask's errors for lost workers, and ClusterError.

    `advance` is called with the size of each counted part.
    """
    client = watch.client
    size = max(ROUND, 2 * sum(watch.call(client.nthreads).values()))
    rounds = (parts[start : start + size] for start in range(0, len(parts), size))
    numbers, left = count(), dict[int, int]()
    size_of, bucket_of = dict[Any, int](), dict[Any, tuple[int, int]]()

    def begin_rounds() -> None:
        while len(left) < OPEN_ROUNDS and (round_ := next(rounds, None)) is not None:
            number = next(numbers)
            left[number] = job.buckets
            tables, sums = _submit(client, round_, job)
            size_of.update((table.key, part.size) for table, part in zip(tables, round_))
            bucket_of.update((future.key, (number, bucket)) for bucket, future in enumerate(sums))
            watch.add([*tables, *sums])

    with closing(Runs(job.buckets, client_memory)) as runs:
        try:
            begin_rounds()
            for future in watch.finished():
                if (counted := size_of.pop(future.key, None)) is not None:
                    if future.status == "finished":  # otherwise the sums have the error too
                        advance(counted)
                    continue
                table = watch.call(future.result)
                number, bucket = bucket_of.pop(future.key)  # each key is popped once
                runs.add(bucket, table)
                left[number] -= 1
                if not left[number]:
                    del left[number]
                    begin_rounds()
        finally:
            watch.drop()  # after an error, the remaining tasks aren't needed
        return concat_counts([runs.sum(bucket, least) for bucket in range(job.buckets)])


def _submit(client: Client, parts: Sequence[Part], job: Job) -> tuple[list[Future[Any]], list[Future[Any]]]:
    """Submit a round; return the futures of its parts' tables, and of their sums by bucket."""
    name = uuid4().hex
    tables = [
        client.submit(count_part, part, job, key=f"count-{name}-{index}", retries=job.retries)
        for index, part in enumerate(parts)
    ]
    sums = []
    for bucket in range(job.buckets):
        slices = [
            client.submit(select_bucket, table, bucket, key=f"bucket-{name}-{index}-{bucket}")
            for index, table in enumerate(tables)
        ]
        sums.append(client.submit(sum_counts, slices, key=f"sum-{name}-{bucket}", retries=job.retries))
    return tables, sums


def count_files(
    paths: Any,
    job: Job,
    cluster: Cluster = None,
    *,
    form: str | None = None,
    progress: bool | None = None,
    part: int = PART,
    client_memory: int = CLIENT_MEMORY,
    least: int = 1,
    worker_timeout: float | None = None,
    what: str = "counting",
) -> PreTokenCounts:
    """Count the pre-tokens of files, folders, glob patterns or addresses on a cluster.

    `form` is the format of all files (see `corpus/file_formats.py`), `part` the size of parts in bytes, `client_memory`
    the bytes of counts that the client keeps in memory. Pre-tokens that occur less than `least` times in the whole
    corpus are dropped; a value above 1 may change the merges.

    After 30 s without a worker this warns (ClusterWaits) and keeps waiting, at most `worker_timeout` seconds if given,
    then raises ClusterError. Raises CorpusError naming the file, ClusterError, MissingDependencyError, ValueError.
    """
    check_timeout(worker_timeout)
    if isinstance(paths, (str, Path)):
        paths = [paths]
    inputs = [item for item in find_inputs(paths, form, "text") if item.size]
    for item in inputs:
        if form is None and not is_address(item.path):
            refuse_json_lines(Path(item.path))
        item.path = absolute(item.path)
    parts = parts_of(inputs, part, job.boundary_kind)
    with (
        connect(cluster, worker_timeout) as watch,
        watch.progress_bar(progress, sum(item.size for item in parts), what) as advance,
    ):
        return count_parts(watch, parts, job, advance, client_memory, least)


class ClusterCorpus(NamedTuple):
    """Files to count on a cluster; `run` is `count_files` with all its arguments except the job."""

    run: Callable[..., PreTokenCounts]
    job: Job

    def counts(self, native: bool, least: int) -> Mapping[bytes, int] | PreTokenCounts:
        """Return the pre-tokens that occur at least `least` times: as a table if `native`, otherwise as a dict."""
        table = self.run(self.job, least=least)
        return table if native else table.as_dict()
