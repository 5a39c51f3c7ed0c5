"""What commands share: texts from files, the option `--dask`, and what they say, in the words of the command line.

The library's messages name its arguments, as in `unknown="replace"`. A command shows the same messages with its own
options in their places, `--unknown replace`, so that there is one copy of each.
"""

import argparse
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from .cluster import LOCAL
from .errors import BPELabError
from .waiting import check_timeout

STANDARD_INPUT = "-"
_SCHEDULER = re.compile(r"(\w+://)?[^/\s]+:\d+/?")
_ARGUMENT = re.compile(
    r"""(?<![^\s(])([a-z_]+)              # a name, which is no part of a path
    (?:="([^"]*)"|='([^']*)'|=([\w-]+))?  # and a value
    (?:\ \((--[a-z-]+)\))?                # and the option, where the message says it itself
    (?=[,;:)]|\.?(?:\s|$))""",
    re.VERBOSE,
)


def read_text(name: str | Path = STANDARD_INPUT) -> str:
    """The UTF-8 text of a file, or of standard input. Raises BPELabError naming the file that has none."""
    of_file = str(name) != STANDARD_INPUT
    what = str(name) if of_file else "standard input"
    try:
        return (Path(name).read_bytes() if of_file else sys.stdin.buffer.read()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BPELabError(f"{what} is not UTF-8: {error.reason} at byte {error.start:,}") from error
    except FileNotFoundError as error:
        raise BPELabError(f"{what}: there is no such file") from error
    except IsADirectoryError as error:
        raise BPELabError(f"{what} is a folder; name the texts in it one by one") from error
    except OSError as error:
        raise BPELabError(f"{what} can't be read: {error.strerror or error}") from error


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
    """A number of seconds. Raises ArgumentTypeError for what is none, such as -1, or nan.

    >>> seconds("90"), seconds("0.5")
    (90.0, 0.5)
    """
    try:
        number = float(text)
        check_timeout(number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds, 0 or more") from None
    return number


def scheduler(text: str) -> str:
    """The address of a scheduler, or "local". Raises ArgumentTypeError for what is neither, such as a file's name.

    >>> scheduler("local"), scheduler("tcp://10.0.0.7:8786"), scheduler("node7:8786")
    ('local', 'tcp://10.0.0.7:8786', 'node7:8786')
    """
    if text != LOCAL and not _SCHEDULER.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no scheduler's address, such as tcp://10.0.0.7:8786: put files before --dask, or write "
            f"--dask {LOCAL}"
        )
    return text


def in_options(message: str, parser: argparse.ArgumentParser) -> str:
    """A message of the library with the options of a command in place of the arguments.

    >>> parser = argparse.ArgumentParser()
    >>> for option in "--unknown", "--vocab-size":
    ...     _ = parser.add_argument(option)
    >>> in_options('vocab_size=3 is too small. Pass unknown="skip", or overwrite=True (--overwrite).', parser)
    '--vocab-size 3 is too small. Pass --unknown skip, or --overwrite.'
    """
    options = {action.dest: each for action in parser._actions for each in action.option_strings if each[:2] == "--"}

    def option(found: re.Match[str]) -> str:
        name, *values, said = found.groups()
        value = next((each for each in values if each is not None), None)
        shown = said or (options.get(name) if value is not None or "_" in name else None)
        if shown is None:
            return found[0]
        return shown if value in (None, "True") else f"{shown} {shlex.quote(value)}"

    return _ARGUMENT.sub(option, message)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show warnings of this package as lines on standard error, without the place in its source."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if category.__module__.partition(".")[0] == __package__:
                print(f"bpelab: {message}", file=sys.stderr)
            else:
                shown(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield
