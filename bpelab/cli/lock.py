"""`bpelab lock`: its arguments, and the function that runs it. `bpelab verify --lock` in `shards.py` compares."""

from __future__ import annotations

from pathlib import Path

from .arguments import add_tokenizer_option, nonempty_path, open_named_tokenizer, resolve_tokenizer
from .stdio import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import Any


def add_commands(command: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes its parser from a name, a line of help, and the function to run."""
    lock = command("lock", "record the ids of some texts, to detect later changes", run_lock)
    lock.epilog = f"""{lock.epilog}

`bpelab verify --lock FILE` compares the ids. If one has changed, it prints the text and the first id that differs, with
exit code 1. The file is JSON; keep it with whatever depends on the ids."""
    lock.add_argument("tokenizer", nargs="?", metavar="IN", help="the tokenizer to lock; see `bpelab --help`")
    add_tokenizer_option(lock, "IN")
    lock.add_argument("--out", required=True, type=nonempty_path, metavar="FILE", help="the file to write")
    lock.add_argument(
        "--text", action="append", type=Path, default=[], metavar="FILE", help="a file whose lines are locked too"
    )
    lock.add_argument("--pattern", help="the split pattern, for files that don't contain one")
    lock.add_argument("--json", action="store_true", help="print JSON")


def run_lock(args: argparse.Namespace) -> int:
    from .._support.textio import read_text
    from ..comparison.lock import make_lock, write_lock

    args.tokenizer = resolve_tokenizer(args, "IN")
    lines = [line for file in args.text for line in read_text(file).splitlines()]
    lock = make_lock(open_named_tokenizer(args), args.tokenizer, lines)
    write_lock(args.out, lock)
    if args.json:
        print_json({"out": str(args.out), "probes": len(lock["probes"]), "tokens": lock["tokens"]})
    else:
        print(f"{args.out}: the ids of {len(lock['probes']):,} texts")
    return 0
