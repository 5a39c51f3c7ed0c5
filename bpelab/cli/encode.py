"""`bpelab encode` and `bpelab decode`: their arguments, and the functions that run them."""

from __future__ import annotations

import sys
from argparse import Namespace

from .._support.textio import read_text
from ..errors import BPELabError
from .arguments import CommandMaker, add_text_options, add_tokenizer_options, open_named_tokenizer, read_text_argument
from .stdio import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer


def add_commands(command: CommandMaker) -> None:
    """Add the commands."""
    encode = command("encode", "turn text into ids", run_encode)
    add_text_options(encode)
    encode.add_argument("--show-tokens", action="store_true", help="one line per token: id and text")
    decode = command("decode", "turn ids into text", run_decode)
    decode.add_argument("ids", nargs="*", help="ids, separated by spaces or commas; standard input if there are none")
    decode.add_argument("--unknown", choices=["error", "replace", "skip"], default="error", help="ids that don't exist")
    add_tokenizer_options(decode)


def run_encode(args: Namespace) -> int:
    tokenizer = open_named_tokenizer(args)
    ids = tokenizer.encode(read_text_argument(args), allowed_special="all" if args.special else ())
    tokens = _printable_tokens(tokenizer, ids) if args.show_tokens else []
    if args.json:
        shown = {"tokens": tokens} if args.show_tokens else {}
        print_json({"ids": ids, "count": len(ids), **shown})
    elif args.show_tokens:
        for token_id, token in zip(ids, tokens):
            print(f"{token_id:>8}  {token!r}")
    else:
        print(*ids)
    return 0


def _printable_tokens(tokenizer: BPETokenizer, ids: list[int]) -> list[str]:
    from ..formats.listing import printable

    return [printable(token) for token in tokenizer.convert_ids_to_tokens(ids)]


def run_decode(args: Namespace) -> int:
    words = (" ".join(args.ids) if args.ids else read_text()).replace(",", " ")
    try:
        ids = [int(word) for word in words.strip().strip("[]").split()]
    except ValueError as error:
        raise BPELabError(f"ids are integers: {error}") from error
    tokenizer = open_named_tokenizer(args)
    if args.json:
        print_json({"text": tokenizer.decode(ids, unknown=args.unknown)})
    else:
        sys.stdout.buffer.write(tokenizer.decode_bytes(ids, unknown=args.unknown))
        if sys.stdout.isatty():
            print()
    return 0
