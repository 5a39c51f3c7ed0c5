"""`bpelab diff`: its arguments, and the function that runs it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..errors import BPELabError
from .arguments import CommandMaker
from .stdio import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tokenizer import BPETokenizer


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    diff = command("diff", "show how two tokenizers differ, with the shortest text that proves it", run_diff)
    diff.epilog = f"""{diff.epilog}

Two tokenizers are equal if they have the same components, if they are proved to give the same ids, or, if only a search
was possible, if they gave the same ids for all texts that were tried. The output says which. Exit code 0 if they are
equal, 1 if not.

With --llama-cpp, A's split patterns are compared with those of llama.cpp's named pre-tokenizers (tokenizer.ggml.pre in
a GGUF file), and the names that cut every text alike are printed, or the nearest one and a text that it cuts otherwise.
"""
    diff.add_argument("tokenizer", metavar="A", help="a tokenizer; see `bpelab --help`")
    diff.add_argument("other", nargs="?", metavar="B", help="the tokenizer to compare it with")
    diff.add_argument("--llama-cpp", action="store_true", help="find the llama.cpp pre-tokenizer that splits as A does")
    diff.add_argument(
        "--corpus", action="append", type=Path, default=[], metavar="FILE", help="count the lines whose ids differ"
    )
    diff.add_argument("--pattern", help="the split pattern, for files that don't contain one")
    diff.add_argument("--json", action="store_true", help="print JSON")


def run_diff(args: Namespace) -> int:
    from dataclasses import asdict

    from ..tokenizer import open_tokenizer

    if args.llama_cpp:
        return _name_pre_tokenizer(open_tokenizer(args.tokenizer, pattern=args.pattern), args)
    if args.other is None:
        raise BPELabError("diff compares two tokenizers, A and B, or A with llama.cpp's pre-tokenizers (--llama-cpp)")
    first, second = (open_tokenizer(name, pattern=args.pattern) for name in (args.tokenizer, args.other))
    found = first.diff(second, corpus=_lines(args.corpus) if args.corpus else None)
    if args.json:
        print_json({"equal": found.equal, "basis": found.basis, **asdict(found)})
    else:
        print(found)
    return int(not found.equal)


def _name_pre_tokenizer(tokenizer: BPETokenizer, args: Namespace) -> int:
    from dataclasses import asdict

    from ..formats.gguf_pre_match import find_gguf_pre

    if args.other is not None or args.corpus:
        raise BPELabError("--llama-cpp compares A with llama.cpp's pre-tokenizers: leave out B and --corpus")
    if not tokenizer.model.is_byte_level:
        raise BPELabError(
            "llama.cpp's pre-tokenizers are for byte-level tokenizers, and this one's tokens aren't bytes"
        )
    match = find_gguf_pre(tokenizer.spec.pre_tokenizer)
    if args.json:
        print_json(asdict(match))
    else:
        print(f"llama.cpp's pre-tokenizer: {match}")
    return int(not match.names)


def _lines(files: list[Path]) -> Iterator[str]:
    """Yield the lines of UTF-8 files, without line endings. Raises the errors of `read_text`."""
    from .._support.textio import read_text

    for file in files:
        yield from read_text(file).splitlines()
