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
    diff = command("diff", "show how two tokenizers differ, with the shortest text that proves it", run_diff)
    diff.epilog = f"""{diff.epilog}

Two tokenizers are equal if they have the same components, if they are proved to give the same ids, or, if only a search
was possible, if they gave the same ids for all texts that were tried. The output says which. Exit code 0 if they are
equal, 1 if not."""
    diff.add_argument("tokenizer", metavar="A", help="a tokenizer; see `bpelab --help`")
    diff.add_argument("other", metavar="B", help="the tokenizer to compare it with")
    diff.add_argument(
        "--corpus", action="append", type=Path, default=[], metavar="FILE", help="count the lines whose ids differ"
    )
    diff.add_argument("--pattern", help="the split pattern, for files that don't contain one")
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
    """Yield the lines of UTF-8 files, without line endings. Raises the errors of `read_text`."""
    from .._support.textio import read_text

    for file in files:
        yield from read_text(file).splitlines()
