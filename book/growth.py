"""What grows with a corpus: `python book/growth.py` counts 1, 10, 100 and 1,000 MB, and writes growth_record.json.

The text is `zipf_text`, so distinct pre-tokens follow from the recipe, on every machine. Two workers of Dask count it,
as in the chapter *More than one machine*, then one process learns the merges. Each size has processes of its own, since
memory that was taken once is not always returned. Needs the extra `distributed`, 3 GB of memory, a gigabyte of disk,
and some minutes.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

RECORD = Path(__file__).with_name("growth_record.json")
WORKERS, MEMORY, VOCABULARY = 2, "1.5GB", 32_000
T = TypeVar("T")


def moved(dask_worker: Any) -> tuple[int, int]:
    """Bytes of tables that a worker sent, and that it got from other workers, as Dask counts them."""
    got = sum(entry["total"] for entry in dask_worker.transfer_incoming_log)
    return dask_worker.transfer_outgoing_bytes_total, got


def memory_peak() -> int:
    """Return the most memory that this process has had, in bytes."""
    from bpelab.bench.machine import MemoryMeter

    return MemoryMeter().peak()


def timed(work: Callable[[], T]) -> tuple[T, float, float]:
    """Return what `work` returns, its seconds, and the seconds of this process's processors."""
    wall, processor = time.perf_counter(), time.process_time()
    return work(), round(time.perf_counter() - wall, 2), round(time.process_time() - processor, 2)


def measure(megabytes: float) -> dict[str, Any]:
    """One row of the record."""
    from distributed import Client, LocalCluster

    from bpelab.bench.machine import MemoryMeter
    from bpelab.boundaries.named_patterns import BoundaryKind
    from bpelab.corpus.inputs import find_inputs
    from bpelab.notebook.zipf_text import zipf_text
    from bpelab.pretokenizers import Split
    from bpelab.trainers import train_native
    from bpelab.trainers.counting.distributed import PART, Job, count_files, count_part
    from bpelab.trainers.counting.partition import parts_of
    from bpelab.vocab.special_tokens import SpecialTokens

    job = Job(Split("cl100k"), SpecialTokens({}))
    with tempfile.TemporaryDirectory() as folder:
        small, path = Path(folder, "small.txt"), Path(folder, "made.txt")
        for file, size in ((small, 10_000), (path, round(megabytes * 1e6))):
            with file.open("w", encoding="utf-8", newline="") as opened:
                opened.writelines(zipf_text(size))
        parts = len(parts_of(find_inputs(path), PART, BoundaryKind.WORDS))
        with (
            LocalCluster(
                n_workers=WORKERS, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            client.run(
                count_part, parts_of(find_inputs(small), PART, BoundaryKind.WORDS)[0], job
            )  # imports don't count
            before = sum(client.run(time.process_time).values())
            table, seconds, _ = timed(lambda: count_files(path, job, client, progress=False))
            busy = sum(client.run(time.process_time).values()) - before
            sent, got = (sum(column) for column in zip(*client.run(moved).values()))
            peaks = [*client.run(memory_peak).values()]
    counting, memory = memory_peak(), MemoryMeter()
    memory.restart()
    merges, merge_seconds, merge_busy = timed(lambda: list(train_native(table, VOCABULARY - 256)))
    return {
        "megabytes": megabytes,
        "parts": parts,
        "distinct": len(table.ends),
        "table_bytes": table.nbytes,
        "merges": len(merges),
        "counting": {"seconds": seconds, "processor_seconds": round(busy, 2)},
        "merging": {"seconds": merge_seconds, "processor_seconds": merge_busy},
        "network_bytes": {"between_workers": got, "to_this_process": sent - got},
        "peak_bytes": {"worker": max(peaks), "counting": counting, "merging": memory.peak()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("megabytes", nargs="*", type=float, default=[1, 10, 100, 1000])
    parser.add_argument("--out", type=Path, default=RECORD, help="the record; by default that of the book")
    parser.add_argument("--one", action="store_true", help="measure the first size in this process, and print the row")
    options = parser.parse_args()
    if options.one:
        return print(json.dumps(measure(options.megabytes[0])))
    from bpelab.bench.machine import machine

    rows = []
    for size in options.megabytes:
        command = [sys.executable, __file__, "--one", f"{size:g}"]
        rows.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
        print(rows[-1], file=sys.stderr)
    about = f"Text of `zipf_text`, counted by {WORKERS} workers of {MEMORY}, then {VOCABULARY:,} tokens. Written by "
    record = {
        "about": about + "book/growth.py.",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine() | {"system": platform.system()},
    }
    options.out.write_text(json.dumps(record | {"sizes": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
