"""`--dask` and `--worker-timeout`, for commands that can run on a cluster."""

import argparse
import re

from .._support.dask_client import LOCAL
from .._support.dask_wait import check_timeout

_SCHEDULER = re.compile(r"(\w+://)?[^/\s]+:\d+/?")


def add_dask(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--worker-timeout`, and `--dask` with a scheduler's address or "local", the default without a value."""
    parser.add_argument(
        "--dask",
        nargs="?",
        const=LOCAL,
        type=scheduler,
        metavar="ADDRESS",
        help=f"{what} on the cluster of this scheduler; without an address, or with 'local', by processes here",
    )
    parser.add_argument(
        "--worker-timeout",
        type=seconds,
        metavar="SECONDS",
        help="with --dask: give up after so long without a worker (default: wait, with a warning after 30 s)",
    )


def seconds(text: str) -> float:
    """Convert an argument to a number of seconds. Raises ArgumentTypeError for anything else, such as -1 or nan.

    >>> seconds("90"), seconds("0.5")
    (90.0, 0.5)
    """
    try:
        number = float(text)
        check_timeout(number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more") from None
    return number


def scheduler(text: str) -> str:
    """Return the address of a scheduler, or "local".

    Raises ArgumentTypeError for anything else, such as a file's name.

    >>> scheduler("local"), scheduler("tcp://10.0.0.7:8786"), scheduler("node7:8786")
    ('local', 'tcp://10.0.0.7:8786', 'node7:8786')
    """
    if text != LOCAL and not _SCHEDULER.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a scheduler's address, such as tcp://10.0.0.7:8786: put files before --dask, or write "
            f"--dask {LOCAL}"
        )
    return text
