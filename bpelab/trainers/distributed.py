"""Training on a cluster: workers of Dask count the pre-tokens of parts of the corpus, one machine learns the merges.

Each part becomes a table of counts, cut by hash into buckets. Parts are taken in rounds; a round's tables are added up
bucket by bucket on the workers, and the sums are fetched and kept here, in files where they are large. A task depends
on its part and on nothing else, so it may be done again when a worker is lost; a bucket of a round is added here once,
whoever made it, and however often. The merges are those of the other trainers, since the counts are.

Chapter: More than one machine. Cost: reading and counting are shared out; over the network go the distinct pre-tokens
of each part, some 25 bytes each. Memory: see `Job.limit`; here, the distinct pre-tokens of the corpus.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from ..cluster import Cluster, connected
from ..pretokenizers.split import Split
from ..shards.inputs import find_inputs
from ..shards.remote import absolute, is_address
from ..special_tokens import SpecialTokens
from ..waiting import Watch, check_timeout
from .corpus import refuse_json_lines, takes_whole, without_special
from .counts import Counts, added, counter_of, joined
from .native import batches
from .parts import Part, parts_of, texts_of
from .runs import Runs

if TYPE_CHECKING:
    from distributed import Client, Future

PART = 1 << 25
"""Bytes of a part of a text: some seconds of work."""
ROUND = 32
"""Parts of a round, at least; there are two for each thread of the cluster."""
OPEN_ROUNDS = 2
"""So that nobody waits for the slowest of a round."""
KEPT = 1 << 30
"""Bytes of counts that are kept in memory here before they go to files."""


class Job(NamedTuple):
    """How parts are counted.

    Attributes:
        split, special, normalize: as for `count_words`.
        field: of JSON Lines, or column of Parquet, that holds the text.
        buckets: of a table.
        limit: bytes of memory that a worker's task takes for a table before its counts go to files.
        retries: how often a task is begun again that failed.
    """

    split: Split | None
    special: SpecialTokens
    normalize: Callable[[str], str] | None = None
    field: str = "text"
    buckets: int = 16
    limit: int = 1 << 28
    retries: int = 2


def count_part(part: Part, job: Job) -> list[Counts]:
    """The counts of a part, by bucket. Raises CorpusError naming the file.

    It has no effect but its result: done twice, it gives the same twice.
    """
    texts = texts_of(part, job.field, takes_whole(job.split), job.special)
    ordinary = (found for text in texts for found in without_special(text, job.special, job.normalize))
    counter = counter_of(job.split)
    with closing(Runs(job.buckets, job.limit, _folder())) as runs:
        for batch in batches(ordinary):
            counter.feed(batch)
            if counter.nbytes > job.limit:
                _keep(counter.table(), runs, job.buckets)
                counter = counter_of(job.split)
        if not runs.spilled:
            table: Counts = counter.table()
            return table.buckets(job.buckets)
        _keep(counter.table(), runs, job.buckets)
        return [runs.sum(bucket) for bucket in range(job.buckets)]


def _keep(table: Counts, runs: Runs, buckets: int) -> None:
    for bucket, part in enumerate(table.buckets(buckets)):
        runs.add(bucket, part)


def _folder() -> str | None:
    """The folder of the worker that this runs in, which Dask deletes when the worker is lost."""
    from distributed import get_worker

    try:
        return str(get_worker().local_directory)
    except ValueError:  # no worker
        return None


def one_of(tables: Sequence[Counts], bucket: int) -> Counts:
    """A table's bucket, as a task of its own, so that no other bucket goes where it is needed."""
    return tables[bucket]


def count_parts(
    watch: Watch,
    parts: Sequence[Part],
    job: Job,
    advance: Callable[[int], object],
    kept: int = KEPT,
    least: int = 1,
) -> Counts:
    """The counts of all parts. Raises what `count_part` raises, what Dask raises for lost workers, and ClusterError.

    `advance` is called with the size of each part that is counted.
    """
    client = watch.client
    size = max(ROUND, 2 * sum(watch.call(client.nthreads).values()))
    rounds = (parts[start : start + size] for start in range(0, len(parts), size))
    numbers, left = count(), dict[int, int]()
    size_of, place_of = dict[Any, int](), dict[Any, tuple[int, int]]()

    def begin_rounds() -> None:
        while len(left) < OPEN_ROUNDS and (round_ := next(rounds, None)) is not None:
            number = next(numbers)
            left[number] = job.buckets
            tables, sums = _submit(client, round_, job)
            size_of.update((table.key, part.size) for table, part in zip(tables, round_))
            place_of.update((future.key, (number, bucket)) for bucket, future in enumerate(sums))
            watch.add([*tables, *sums])

    with closing(Runs(job.buckets, kept)) as runs:
        try:
            begin_rounds()
            for future in watch.finished():
                if (counted := size_of.pop(future.key, None)) is not None:
                    if future.status == "finished":  # or it is the sums' error, too
                        advance(counted)
                    continue
                table = watch.call(future.result)
                number, bucket = place_of.pop(future.key)  # which is there once
                runs.add(bucket, table)
                left[number] -= 1
                if not left[number]:
                    del left[number]
                    begin_rounds()
        finally:
            watch.drop()  # after an error nobody wants the rest
        return joined([runs.sum(bucket).at_least(least) for bucket in range(job.buckets)])


def _submit(client: "Client", parts: Sequence[Part], job: Job) -> "tuple[list[Future[Any]], list[Future[Any]]]":
    """The tables of a round's parts, and their sums, one for each bucket."""
    name = uuid4().hex
    tables = [
        client.submit(count_part, part, job, key=f"count-{name}-{number}", retries=job.retries)
        for number, part in enumerate(parts)
    ]
    sums = []
    for bucket in range(job.buckets):
        slices = [
            client.submit(one_of, table, bucket, key=f"bucket-{name}-{number}-{bucket}")
            for number, table in enumerate(tables)
        ]
        sums.append(client.submit(added, slices, key=f"sum-{name}-{bucket}", retries=job.retries))
    return tables, sums


def count_files(
    paths: Any,
    job: Job,
    cluster: Cluster = None,
    *,
    form: str | None = None,
    progress: bool | None = None,
    part: int = PART,
    kept: int = KEPT,
    least: int = 1,
    worker_timeout: float | None = None,
) -> Counts:
    """How often each pre-token occurs in files, folders, patterns or addresses, counted by a cluster.

    `form` is that of all files (see `shards/inputs.py`), `part` the size of parts in bytes, `kept` the bytes of counts
    that are kept in memory here. Pre-tokens that occur less than `least` times in the whole corpus are left out; with
    more than 1 the merges need not be those of all pre-tokens.

    Without a worker for 30 s this warns (ClusterWaits) and waits on, `worker_timeout` seconds at most if that is given:
    then it raises ClusterError. Raises CorpusError naming the file, ClusterError, MissingDependencyError, ValueError.
    """
    check_timeout(worker_timeout)
    if isinstance(paths, (str, Path)):
        paths = [paths]
    inputs = [item for item in find_inputs(paths, form, "text") if item.size]
    for item in inputs:
        if form is None and not is_address(item.path):
            refuse_json_lines(Path(item.path))
        item.path = absolute(item.path)
    parts = parts_of(inputs, part, takes_whole(job.split))
    with (
        connected(cluster, worker_timeout) as watch,
        watch.bar(progress, sum(item.size for item in parts), "counting") as advance,
    ):
        return count_parts(watch, parts, job, advance, kept, least)
