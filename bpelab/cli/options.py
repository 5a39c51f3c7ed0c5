"""Options and messages that commands share: `--dask`, and the library's errors in terms of command-line options.

The library's messages name its arguments, as in `unknown="replace"`. A command shows the same messages with its own
options instead, `--unknown replace`, so that there is one copy of each.
"""

import argparse
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .._support.dask_client import LOCAL
from .._support.dask_wait import check_timeout

_SCHEDULER = re.compile(r"(\w+://)?[^/\s]+:\d+/?")
_ARGUMENT = re.compile(
    r"""(?<![^\s(])([a-z_]+)              # a name that is not part of a path
    (?:="([^"]*)"|='([^']*)'|=([\w-]+))?  # and a value
    (?:\ \((--[a-z-]+)\))?                # and the option, where the message says it itself
    (?=[,;:)]|\.?(?:\s|$))""",
    re.VERBOSE,
)


def add_dask(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--dask`: the address of a scheduler, or "local", which it also means alone; and `--worker-timeout`."""
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
        help="with --dask: give up when the cluster had no worker for so long (default: wait, and say so after 30 s)",
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


def as_cli_message(message: str, parser: argparse.ArgumentParser) -> str:
    """Replace the library's argument names in a message with a command's options.

    >>> parser = argparse.ArgumentParser()
    >>> for option in "--unknown", "--vocab-size":
    ...     _ = parser.add_argument(option)
    >>> as_cli_message('vocab_size=3 is too small. Pass unknown="skip", or overwrite=True (--overwrite).', parser)
    '--vocab-size 3 is too small. Pass --unknown skip, or --overwrite.'
    """
    actions = parser._actions  # noqa: SLF001 - argparse lists its options nowhere else
    options = {action.dest: each for action in actions for each in action.option_strings if each[:2] == "--"}

    def option(found: re.Match[str]) -> str:
        name, *values, own_option = found.groups()
        value = next((each for each in values if each is not None), None)
        replacement = own_option or (options.get(name) if value is not None or "_" in name else None)
        if replacement is None:
            return found[0]
        return replacement if value in (None, "True") else f"{replacement} {shlex.quote(value)}"

    return _ARGUMENT.sub(option, message)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show warnings of this package as lines on standard error, without file names and line numbers."""
    with warnings.catch_warnings():
        original = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if category.__module__.partition(".")[0] == "bpelab":
                print(f"bpelab: {message}", file=sys.stderr)
            else:
                original(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield
