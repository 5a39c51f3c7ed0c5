"""`bpelab encode-files` and `bpelab verify`: their arguments, and the functions that run them.

Nothing heavy is imported before they run.
"""

import json
from argparse import Namespace
from pathlib import Path

from .arguments import DEFAULT, CommandMaker, add_input_format, add_tokenizer_options, open_named_tokenizer
from .dask_options import add_dask

EXAMPLES = """\
examples:
  bpelab encode-files corpus/ --out shards --tokenizer my-tokenizer --end-of-document '<|endoftext|>'
  bpelab encode-files 'web-*.jsonl.zst' --field content --out shards -t my-tokenizer --eos
  bpelab encode-files stories.txt --separator '\\n\\n' --out shards --shard-format bin --shard-tokens 10000000
  bpelab verify shards
  bpelab verify shards --tokenizer my-tokenizer --against corpus/

Inputs are files, folders, or patterns in quotes: .txt, .jsonl, .parquet, the first two also compressed (.gz, .zst). To
resume a stopped run, start it again with the same arguments; the folder is valid only when the run has finished.
"""


def add_commands(command: CommandMaker) -> None:
    """Add the two commands."""
    files = command("encode-files", "encode corpora to shards of ids, for training", run_encode_files)
    files.epilog = EXAMPLES
    files.add_argument("inputs", nargs="+", metavar="INPUT", help="files, folders, or patterns such as '*.jsonl.gz'")
    files.add_argument("--out", required=True, metavar="FOLDER", help="the folder to write, or to continue")
    add_input_format(files)
    files.add_argument("--separator", metavar="TEXT", help="ends documents in text; \\n, \\t, \\\\ are understood")
    files.add_argument("--errors", default="strict", choices=["strict", "replace"], help="how to treat invalid UTF-8")
    end = files.add_mutually_exclusive_group()
    end.add_argument("--end-of-document", metavar="NAME", help="the special token to put after each document")
    end.add_argument("--eos", action="store_true", help="put the tokenizer's own eos_token there")
    files.add_argument("--special", action="store_true", help="encode special tokens in the text as such")
    files.add_argument(
        "--shard-tokens", type=int, default=100_000_000, metavar="N", help="tokens per shard (default: 100000000)"
    )
    files.add_argument("--shard-format", default="npy", choices=["npy", "bin"], help="npy has a header, bin only ids")
    files.add_argument(
        "--dtype", default="auto", choices=["auto", "uint16", "uint32"], help="the type of the ids (default: auto)"
    )
    files.add_argument("--threads", type=int, metavar="N", help="encoding threads (default: one per core)")
    add_dask(files, "encode")
    files.add_argument("--overwrite", action="store_true", help="delete the folder's shards and start again")
    files.add_argument("--quiet", action="store_true", help="no progress bar, no summary")
    add_tokenizer_options(files)
    verify = command("verify", "check shards, and compare them with their inputs; or check a lock", run_verify)
    verify.add_argument("folder", nargs="?", metavar="FOLDER", help="the folder that `bpelab encode-files` wrote")
    verify.add_argument(
        "--lock",
        type=Path,
        metavar="FILE",
        help="compare a tokenizer with a file of `bpelab lock` (default: the locked tokenizer)",
    )
    verify.add_argument(
        "--against",
        nargs="*",
        metavar="INPUT",
        help="encode the inputs again with --tokenizer and compare (default: the inputs that the index names)",
    )
    verify.add_argument("--threads", type=int, metavar="N", help="encoding threads (default: one per core)")
    verify.add_argument("--quiet", action="store_true", help="no progress bar, no summary")
    add_tokenizer_options(verify)
    verify.set_defaults(tokenizer=None)


def unescape(text: str) -> str:
    r"""Replace the escapes \n, \r, \t and \\ in an argument.

    >>> unescape(r"\n\n"), unescape(r"a\\n")
    ('\n\n', 'a\\n')

    Raises ValueError for a backslash in front of anything but n, r, t, and itself.
    """
    known = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}
    first, *rest = text.replace("\\\\", "\0").split("\\")  # a command-line argument can't contain a null character
    if unknown := next((part[:1] for part in rest if part[:1] not in known or not part), None):
        raise ValueError(f"--separator: \\{unknown} is not one of \\n, \\r, \\t, \\\\")
    return "".join([first, *(known[part[0]] + part[1:] for part in rest)]).replace("\0", "\\")


def run_encode_files(args: Namespace) -> int:
    tokenizer = open_named_tokenizer(args)
    shards = tokenizer.encode_files(
        args.inputs,
        args.out,
        input_format=args.input_format,
        separator=None if args.separator is None else unescape(args.separator),
        field=args.field,
        errors=args.errors,
        end_of_document=args.eos or args.end_of_document,
        allowed_special="all" if args.special else (),
        shard_tokens=args.shard_tokens,
        shard_format=args.shard_format,
        dtype=args.dtype,
        threads=args.threads,
        progress=False if args.quiet else None,
        overwrite=args.overwrite,
        client=args.dask,
        worker_timeout=args.worker_timeout,
    )
    if args.json:
        facts = {"out": args.out, "shards": len(shards.index.shards), "tokens": len(shards)}
        print(json.dumps({**facts, "documents": shards.documents, "dtype": shards.index.settings.dtype}))
    elif not args.quiet:
        what = f"{len(shards):,} tokens ({shards.index.settings.dtype}) of {_pluralize(shards.documents, 'document')}"
        print(f"{args.out}: {what} in {_pluralize(len(shards.index.shards), 'shard')}")
    return 0


def run_verify(args: Namespace) -> int:
    if (args.folder is None) == (args.lock is None) or (args.lock is not None and args.against is not None):
        args.parser.error("give the FOLDER of shards, with or without --against, or --lock FILE")
    return _verify_shards(args) if args.lock is None else _verify_lock(args)


def _verify_lock(args: Namespace) -> int:
    from ..comparison.lock import read_lock, verify_lock

    args.tokenizer = args.tokenizer or read_lock(args.lock)["tokenizer"]
    number = verify_lock(open_named_tokenizer(args), args.lock)
    if args.json:
        print(json.dumps({"lock": str(args.lock), "tokenizer": args.tokenizer, "probes": number}))
    elif not args.quiet:
        print(f"{args.lock}: {args.tokenizer} has the same ids for {_pluralize(number, 'text')}")
    return 0


def _verify_shards(args: Namespace) -> int:
    from ..shards.reader import open_shards

    shards, tokenizer = open_shards(args.folder), None
    if args.against is not None:
        args.tokenizer = args.tokenizer or DEFAULT
        tokenizer = open_named_tokenizer(args)
    shards.verify(tokenizer, args.against or None, threads=args.threads, progress=False if args.quiet else None)
    if args.json:
        print(json.dumps({"folder": args.folder, "tokens": len(shards), "compared": tokenizer is not None}))
    elif not args.quiet:
        compared = ", and what the inputs encode to" if tokenizer is not None else ""
        print(f"{args.folder}: {_pluralize(len(shards.index.shards), 'shard')}, as written{compared}")
    return 0


def _pluralize(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
