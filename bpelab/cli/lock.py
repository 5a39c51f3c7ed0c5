"""`bpelab lock`: its arguments, and the function that runs it. `bpelab verify --lock` in `shards.py` compares."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from .arguments import CommandMaker, add_input_tokenizer, nonempty_path, open_input_tokenizer
from .stdio import print_json


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    lock = command("lock", "record the ids of some texts, to detect later changes", run_lock)
    lock.epilog = f"""{lock.epilog}

`bpelab verify --lock FILE` compares the ids. If one has changed, it prints the text and the first id that differs, with
exit code 1. The file is JSON; keep it with whatever depends on the ids."""
    add_input_tokenizer(lock, "the tokenizer to lock; see `bpelab --help`")
    lock.add_argument("--out", required=True, type=nonempty_path, metavar="FILE", help="the file to write")
    lock.add_argument(
        "--text", action="append", type=Path, default=[], metavar="FILE", help="a file whose lines are locked too"
    )
    lock.add_argument("--json", action="store_true", help="print JSON")


def run_lock(args: Namespace) -> int:
    from .._support.textio import read_text
    from ..comparison.lock import make_lock, write_lock

    tokenizer = open_input_tokenizer(args)
    lines = [line for file in args.text for line in read_text(file).splitlines()]
    lock = make_lock(tokenizer, args.tokenizer, lines)
    write_lock(args.out, lock)
    if args.json:
        print_json({"out": str(args.out), "probes": len(lock["probes"]), "tokens": lock["tokens"]})
    else:
        print(f"{args.out}: the ids of {len(lock['probes']):,} texts")
    return 0
