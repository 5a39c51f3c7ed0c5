"""`bpelab train`: its arguments, and the function that runs it. Nothing heavy is imported before it runs."""

import json
import os
import shutil
import sys
import tempfile
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.byte_sizes import size_in_bytes
from .._support.textio import STANDARD_INPUT, read_text
from ..errors import BPELabError
from .arguments import CommandMaker, add_input_format, add_roles, add_summary_options, nonempty_path, roles
from .dask_options import add_dask

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from ..trainers.superwords import Superwords


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    train = command("train", "learn a tokenizer from text files and save it", run_train)
    train.add_argument("files", nargs="*", help="text (UTF-8), JSON Lines, Parquet; - or nothing for standard input")
    train.add_argument("--vocab-size", type=int, required=True, help="tokens in all: 256 bytes, specials, merges")
    train.add_argument("--out", type=nonempty_path, required=True, help="the folder to write")
    train.add_argument("--pattern", default="cl100k", help="a named pattern or a regular expression (default: cl100k)")
    train.add_argument("--min-frequency", type=int, default=2, help="leave rarer pairs unmerged (default: 2)")
    train.add_argument(
        "--min-pre-token-frequency",
        type=int,
        default=1,
        metavar="N",
        help="leave out pre-tokens that occur less often than N times in the whole corpus; more than 1 saves memory "
        "and can change merges (default: 1)",
    )
    train.add_argument(
        "--special", action="append", default=[], metavar="NAME", help="a special token; may be repeated"
    )
    add_roles(train, "; it becomes one, if --special doesn't name it")
    train.add_argument(
        "--trainer", default="auto", help="auto, naive, incremental or native; all learn the same (default: auto)"
    )
    train.add_argument(
        "--ties",
        default="ids",
        help="which of equally frequent pairs is merged: ids (the one of the oldest tokens), minbpe (the first in the "
        "text) or cs336 (the lexicographically greatest)",
    )
    train.add_argument(
        "--superwords",
        metavar="METHOD",
        help="learn tokens that cross word boundaries, such as ` of the`: superbpe or boundless",
    )
    train.add_argument(
        "--transition",
        metavar="POINT",
        help="for --superwords superbpe: the number of tokens, or the share (0.9), at which superwords start",
    )
    train.add_argument(
        "--max-words",
        metavar="N",
        type=int,
        help="the maximum words in a superword, 0 for no limit (default: 4 for superbpe, 0 for boundless)",
    )
    train.add_argument(
        "--max-memory",
        type=size_in_bytes,
        metavar="SIZE",
        help="for the trainer in C: memory for counts before they go to files, such as 8G (the default); "
        "TMPDIR says where",
    )
    add_dask(train, "count")
    add_input_format(train)
    add_summary_options(train)


def run_train(args: Namespace) -> int:
    from ..tokenizer import BPETokenizer

    args.files = [] if args.files == [STANDARD_INPUT] else args.files
    args.special = list(dict.fromkeys([*args.special, *roles(args).values()]))
    _check_corpus(args)
    superwords = _superwords(args)
    untrained = _untrained_tokenizer(args, superwords)
    check_out(args.out, untrained)
    formats = "" if args.quiet or args.json else _unsupported_formats(untrained)
    warned = sys.stderr.isatty()
    if warned and formats:
        print(f"bpelab: {formats}", file=sys.stderr)
    corpus = args.files if args.dask is not None else list(map(Path, args.files)) or read_text()
    tokenizer = BPETokenizer.train(
        corpus,
        args.vocab_size,
        pattern=args.pattern or None,
        special_tokens=args.special,
        min_frequency=args.min_frequency,
        min_pre_token_frequency=args.min_pre_token_frequency,
        trainer=args.trainer,
        ties=args.ties,
        client=args.dask,
        worker_timeout=args.worker_timeout,
        input_format=args.input_format,
        field=args.field,
        superwords=superwords,
        max_memory=args.max_memory,
        progress=False if args.quiet else None,
        **roles(args),
    )
    save(tokenizer, args.out)
    if args.json:
        summary = {"out": str(args.out), "tokens": len(tokenizer), "merges": len(tokenizer.model.merges)}
        print(json.dumps(summary | {"pattern": tokenizer.pattern, "special_tokens": tokenizer.special_tokens}))
    elif not args.quiet:
        merges = len(tokenizer.model.merges)
        print(f"{args.out}: {len(tokenizer):,} tokens, {merges:,} merges, pattern {tokenizer.pattern}")
        if formats and not warned:
            print(formats)
    return 0


def save(tokenizer: "BPETokenizer", out: Path) -> None:
    """Save a trained tokenizer; if `out` can't be written, save it elsewhere and raise an error that says where."""
    try:
        tokenizer.save(out)
    except (BPELabError, OSError) as error:  # the disk is full, for example
        raise BPELabError(f"{error}; {_save_elsewhere(tokenizer)}") from error


def _save_elsewhere(tokenizer: "BPETokenizer") -> str:
    """Save a trained tokenizer in a temporary folder; return the part of the error message that says where."""
    folder = Path(tempfile.mkdtemp(prefix="bpelab-trained-"))
    try:
        tokenizer.save(folder)
    except (BPELabError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        return f"nor could it be saved in {folder.parent}, and what was trained is lost: {error}"
    return f"what was trained is in {folder}"


def _check_corpus(args: Namespace) -> None:
    """Raise BPELabError for files, or standard input, that can't be combined with the other options."""
    if args.dask is not None:
        if not args.files:
            raise BPELabError("--dask counts files: name at least one, which all workers can read")
        return
    if not args.files and (args.input_format is not None or args.field != "text"):
        raise BPELabError("--input-format and --field are for files; standard input is text")
    if address := next((file for file in args.files if "://" in file), None):
        raise BPELabError(
            f"{address} is an address, which only --dask reads: put that after the files to count on this machine"
        )


def _superwords(args: Namespace) -> "Superwords | None":
    """Return the options for superwords, or None. Raises BPELabError for options that need --superwords."""
    from ..trainers.superwords import Superwords

    if args.superwords is None:
        for name in ("transition", "max_words"):
            if getattr(args, name) is not None:
                raise BPELabError(f"--{name.replace('_', '-')} is for --superwords, which is missing")
        return None
    try:
        changes: dict[str, Any] = {}
        if args.transition is not None:
            changes["transition"] = float(args.transition) if "." in args.transition else int(args.transition)
        if args.max_words is not None:
            changes["max_words"] = args.max_words or None
        return replace(Superwords.of(args.superwords), **changes)
    except ValueError as error:
        raise BPELabError(f"--superwords: {error}") from error


def _untrained_tokenizer(args: Namespace, superwords: "Superwords | None") -> "BPETokenizer":
    """Return a tokenizer with everything that the trained one will have, except the merges."""
    from ..model.bpe import BPEModel
    from ..tokenizer import BPETokenizer

    special = {name: 256 + index for index, name in enumerate(args.special)}
    pattern = superwords.pattern if superwords else args.pattern or None
    return BPETokenizer(BPEModel.from_merges([]), pattern=pattern, special_tokens=special)


def check_out(out: Path, untrained: "BPETokenizer") -> None:
    """Raise BPELabError if the tokenizer couldn't be saved, before hours of work are lost. Leaves no file behind."""
    from ..formats.tokenizer_json_save import tokenizer_json

    tokenizer_json(untrained.spec)
    if out.exists() and not out.is_dir():
        raise BPELabError(f"{out} is a file; --out is the folder to write")
    existing = out
    while not os.path.lexists(existing):
        existing = existing.parent
    try:
        tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        raise BPELabError(f"{out} can't be written: {error.strerror or error}") from error


def _unsupported_formats(untrained: "BPETokenizer") -> str:
    """Return a sentence about the formats that the pattern rules out; "" if there are none."""
    from ..convert import rejecting_formats

    formats = ", ".join(rejecting_formats(untrained))
    return formats and f"the pattern {untrained.pattern} rules out `bpelab convert --to` {formats}"
