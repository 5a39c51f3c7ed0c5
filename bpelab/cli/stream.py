"""`bpelab stream`: its arguments, and the function that runs it."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from .arguments import CommandMaker, add_tokenizer_options, open_named_tokenizer


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    stream = command("stream", "turn standard input into ids, or ids into text, as it arrives", run_stream)
    stream.add_argument("--decode", action="store_true", help="the input is ids; the output is their text")
    stream.add_argument("--special", action="store_true", help="encode special tokens in the text as such")
    stream.add_argument("--unknown", choices=["error", "replace", "skip"], default="error", help="ids that don't exist")
    add_tokenizer_options(stream)


def run_stream(args: Namespace) -> int:
    from ..streaming import StreamDecoder, StreamEncoder
    from .stdin_stream import read_ids, read_texts

    tokenizer, pipe = open_named_tokenizer(args), sys.stdin.buffer
    if not args.decode:
        encoder = StreamEncoder(tokenizer, allowed_special="all" if args.special else ())
        for ids in encoder.stream(read_texts(pipe)):
            print(json.dumps({"ids": ids}) if args.json else " ".join(map(str, ids)), flush=True)
        return 0
    for text in StreamDecoder(tokenizer, unknown=args.unknown).stream(read_ids(pipe)):
        if args.json:
            print(json.dumps({"text": text}, ensure_ascii=False), flush=True)
        else:
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
    return 0
