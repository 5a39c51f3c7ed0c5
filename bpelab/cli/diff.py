"""`bpelab diff`: its arguments, and the function that runs it."""

from __future__ import annotations

from pathlib import Path

from .stdio import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import Any


def add_commands(command: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes its parser from a name, a line of help, and the function to run."""
    diff = command("diff", "say what is different in two tokenizers, with the shortest text that shows it", run_diff)
    diff.epilog = f"""{diff.epilog}

Equal is what is made of the same parts, or proved to give the same ids, or, where only a search was possible, what gave
the same ids for all texts that were tried; which of them it is is said. Exit code 0 if they are equal, 1 if not."""
    diff.add_argument("tokenizer", metavar="A", help="what to compare; see `bpelab --help`")
    diff.add_argument("other", metavar="B", help="what to compare it with")
    diff.add_argument(
        "--corpus", action="append", type=Path, default=[], metavar="FILE", help="count the lines that have other ids"
    )
    diff.add_argument("--pattern", help="for files that don't say how text is split: the pattern")
    diff.add_argument("--json", action="store_true", help="print JSON")


def run_diff(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from ..tokenizer import open_tokenizer

    first, second = (open_tokenizer(name, pattern=args.pattern) for name in (args.tokenizer, args.other))
    found = first.diff(second, corpus=_lines(args.corpus) if args.corpus else None)
    if args.json:
        print_json({"equal": found.equal, "basis": found.basis, **asdict(found)})
    else:
        print(found)
    return int(not found.equal)


def _lines(files: list[Path]) -> Iterator[str]:
    """Yield the lines of files in UTF-8, without their ends. Raises the errors of `read_text`."""
    from .._support.textio import read_text

    for file in files:
        yield from read_text(file).splitlines()
