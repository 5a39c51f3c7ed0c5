"""`bpelab prune`: its arguments, and the function that runs it. Nothing heavy is imported before it runs."""

import json
from argparse import Namespace
from typing import TYPE_CHECKING

from .._support.textio import read_text, write_atomically
from ..errors import BPELabError
from .arguments import CommandMaker, nonempty_path, open_input_tokenizer
from .extend import add_reading, add_tokenizers, corpus_of, show
from .train import check_out, save

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    prune = command("prune", "remove tokens from a tokenizer that no other token is merged from", run_prune)
    prune.epilog = f"""{prune.epilog}

Tokens are removed one by one: first those that no merge produces, then those that the corpus uses least. A token that
others are merged from is removed after them. Bytes, characters, special and added tokens stay unless --remove names
them. Each id becomes lower by the number of removed tokens below it; --ids writes both ids for a model's rows."""
    add_tokenizers(prune)
    what = prune.add_mutually_exclusive_group(required=True)
    what.add_argument("--keep", type=int, metavar="N", help="how many tokens to keep in all, special ones included")
    what.add_argument(
        "--min-frequency", type=int, metavar="N", help="remove tokens that the corpus uses less than N times (1: never)"
    )
    what.add_argument("--remove", nargs="+", metavar="TOKEN", help="remove these: ids, or tokens as text")
    what.add_argument("--unreachable", action="store_true", help="remove tokens that no merge produces")
    prune.add_argument(
        "--corpus",
        nargs="+",
        metavar="FILE",
        help="text to count each token's uses in (default: tokens learned last are removed first)",
    )
    prune.add_argument("--ids", type=nonempty_path, metavar="FILE", help="write old and new ids to a file, JSON")
    add_reading(prune)


def run_prune(args: Namespace) -> int:
    from ..analysis.tokens import never_merged
    from ..editing import prune
    from ..editing.pruning import count_uses

    named = args.remove is not None or args.unreachable
    if named and args.corpus is not None:
        raise BPELabError("--corpus orders the tokens of --keep and --min-frequency: leave it out")
    facts = {}
    held_out = None if args.text is None else read_text(args.text)
    old = open_input_tokenizer(args)
    check_out(args.out, old)
    if named:
        tokens = never_merged(old) if args.unreachable else [_token(old, text) for text in args.remove]
        new, ids, removed = prune(old, remove=tokens)
    else:
        uses = None
        if args.corpus is not None:
            reading = {"input_format": args.input_format, "field": args.field}
            progress = False if args.quiet else None
            uses = count_uses(old.spec, corpus_of(args.corpus), progress=progress, **reading)
        new, ids, removed = prune(old, uses=uses, keep=args.keep, min_frequency=args.min_frequency)
        if uses is not None:
            facts["unused"] = sum(not uses[token] for token in removed)
    save(new, args.out)
    if args.ids is not None:
        write_atomically(args.ids, json.dumps({"ids": ids, "removed": removed}).encode() + b"\n")
    sentence = f"{len(removed):,} of {len(old):,} taken away"
    if "unused" in facts:
        sentence += f", {facts['unused']:,} of which the corpus never uses"
    show(args, old, new, held_out, {"removed": len(removed), **facts}, sentence)
    return 0


def _token(tokenizer: "BPETokenizer", text: str) -> int | str:
    """Convert an argument to an id if it is a number, else return it as a token."""
    return int(text) if text.isdecimal() and tokenizer.id_to_token(int(text)) is not None else text
