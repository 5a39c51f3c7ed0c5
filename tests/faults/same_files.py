"""Trains in many ways, a trainer or a number of workers, and prints a hash of what each saved.

`python -m tests.faults.same_files FOLDER SEED WAYS ...`
"""

import hashlib
import random
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bpelab import BPETokenizer
from bpelab.notebook import book_text
from bpelab.trainers.counting import corpus, distributed, partition

DOCUMENTS = [book_text()[at : at + 311] for at in range(0, 40_000, 311)]
SPECIAL = ["<|end|>", "<b>", "<a>"]
Train = Callable[..., BPETokenizer]


def shuffled(folder: Path, rng: random.Random, train: Train) -> BPETokenizer:
    """From the same documents, in another order, in files of other sizes, read in blocks of other sizes."""
    documents = rng.sample(DOCUMENTS, len(DOCUMENTS))
    corpus.BLOCK = rng.choice((50, 1_000, 1 << 20))
    distributed.PART = rng.choice((2_000, 30_000, 1 << 25))
    partition.WINDOW = rng.choice((100, 1 << 20))
    files, at = [], 0
    while at < len(documents):
        size = rng.choice((1, 7, 60))
        path = folder / f"{len(files)}.txt"
        path.write_text("<|end|>".join(documents[at : at + size]), encoding="utf-8", newline="")
        files.append(path)
        at += size
    return train(rng.sample(files, len(files)), 480, special_tokens=SPECIAL)


def main() -> None:
    folder, seed, *ways = sys.argv[1:]
    rng = random.Random(int(seed))
    for way in ways:
        if way.isdigit():
            import dask

            dask.config.set({"distributed.admin.tick.interval": "1h"})
            from distributed import Client, LocalCluster

            options = {"n_workers": int(way), "threads_per_worker": 1, "processes": False, "dashboard_address": None}
            with LocalCluster(**options) as cluster, Client(cluster) as client:
                made = shuffled(Path(folder), rng, partial(BPETokenizer.train, client=client))
        else:
            made = shuffled(Path(folder), rng, partial(BPETokenizer.train, trainer=way))
        made.save(Path(folder, "saved"))
        saved = b"".join(path.read_bytes() for path in sorted(Path(folder, "saved").iterdir()))
        print(way, hashlib.sha256(saved).hexdigest(), len(made))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
