"""Messages that commands share: the library's errors and warnings in terms of command-line options.

The library's messages name its arguments, as in `unknown="replace"`. A command shows the same messages with its
options instead, as in `--unknown replace`, so there is only one copy of each.
"""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import TextIO

_ARGUMENT = r"""(?<![^\s(])([a-z_]+)              # a name that is not part of a path
    (?:="([^"]*)"|='([^']*)'|=([\w-]+))?  # and a value
    (?:\ \((--[a-z-]+)\))?                # and the option, where the message says it itself
    (?=[,;:)]|\.?(?:\s|$))"""


def as_cli_message(message: str, parser: argparse.ArgumentParser) -> str:
    """Replace the library's argument names in a message with a command's options.

    >>> import argparse
    >>> parser = argparse.ArgumentParser()
    >>> for option in "--unknown", "--vocab-size":
    ...     _ = parser.add_argument(option)
    >>> as_cli_message('vocab_size=3 is too small. Pass unknown="skip", or overwrite=True (--overwrite).', parser)
    '--vocab-size 3 is too small. Pass --unknown skip, or --overwrite.'
    """
    actions = parser._actions  # noqa: SLF001 - argparse lists its options nowhere else
    options = {action.dest: each for action in actions for each in action.option_strings if each[:2] == "--"}

    def option(match: re.Match[str]) -> str:
        name, *values, own_option = match.groups()
        value = next((each for each in values if each is not None), None)
        replacement = own_option or (options.get(name) if value is not None or "_" in name else None)
        if replacement is None:
            return match[0]
        import shlex

        return replacement if value in (None, "True") else f"{replacement} {shlex.quote(value)}"

    return re.sub(_ARGUMENT, option, message, flags=re.VERBOSE)


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
