"""A run in a process of its own, for tests that end it: `python -m tests.shards.writer ARGUMENTS`, as JSON.

"stop_at" ends the process, as by `kill -9`, just before it does the n-th thing that changes a folder; "largest" is the
size in bytes beyond which no file may grow, as on a disk that is full.
"""

import json
import os
import resource
import signal
import sys

from bpelab import BPELabError, BPETokenizer
from bpelab.corpus import compression, documents
from bpelab.shards import partition


def die_at(number: int) -> None:
    """End the process before its n-th call of what changes a folder."""
    done = 0

    def counted(function):
        def call(*args, **options):
            nonlocal done
            done += 1
            if done == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **options)

        return call

    for name in ("fsync", "replace", "unlink"):
        setattr(os, name, counted(getattr(os, name)))


def main() -> None:
    arguments = json.loads(sys.argv[1])
    compression.BLOCK = documents.FRAGMENT = partition.FRAGMENT = partition.BATCH = arguments.pop("sizes")
    if stop_at := arguments.pop("stop_at", 0):
        die_at(stop_at)
    if largest := arguments.pop("largest", 0):
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    tokenizer = BPETokenizer.from_pretrained(arguments.pop("tokenizer"))
    try:
        tokenizer.encode_files(**arguments)
    except BPELabError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
