"""`bpelab report`: its arguments, and what it runs. Nothing is measured or imported until it is called."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import BPELabError

EXAMPLES = """\
examples:
  bpelab report gpt2 cl100k_base --text letter.txt --text program.py
  bpelab report my-tokenizer downloaded/tokenizer.json --out comparison.html
  bpelab report my.tiktoken --pattern gpt2 --text notes.txt

The page compares the tokenizers on each text: bytes, characters and words per token, how evenly the vocabulary is used,
whether the text comes back. Besides it says how numbers and white space are cut, which tokens are the longest, what the
vocabularies share, and which tokens are never reached. It is one file that needs no network and runs no script, and it
can be read in light and dark.

Without --text the book's own text is measured. A text says something about texts like it, so give some of your own, and
none that one of the tokenizers was trained on.
"""
MOST = 8


def add_command(command: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes a parser of a name, a line of help, and what to run."""
    report = command("report", "compare tokenizers on texts, as a page of tables and figures", run_report)
    report.epilog, report.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    report.add_argument("tokenizers", nargs="+", metavar="TOKENIZER", help=f"up to {MOST}; see `bpelab --help`")
    report.add_argument(
        "--text", action="append", type=Path, default=[], metavar="FILE", help="a UTF-8 text; may be repeated"
    )
    report.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE", help="default: report.html")
    report.add_argument("--pattern", help="for .tiktoken files: the pattern to split with")


def run_report(args: argparse.Namespace) -> int:
    from ..formats.detect import open_tokenizer
    from ..textio import write_atomically
    from .report import compare
    from .report_page import page

    names: list[str] = args.tokenizers
    if len(names) > MOST:
        raise BPELabError(f"{len(names)} tokenizers are too many for one page: give up to {MOST}")
    for given in (names, [str(path) for path in args.text]):
        if twice := {name for name in given if given.count(name) > 1}:
            raise BPELabError(f"given twice: {', '.join(sorted(twice))}")
    if any(path.exists() and args.out.exists() and path.samefile(args.out) for path in [*args.text, *map(Path, names)]):
        raise BPELabError(f"--out {args.out} is one of the files to be read, and would be overwritten")
    texts = _texts(args.text)
    tokenizers = {
        name: open_tokenizer(name, pattern=args.pattern if name.endswith(".tiktoken") else None) for name in names
    }
    report = compare(tokenizers, texts)
    write_atomically(args.out, page(report).encode())
    width = max(map(len, names))
    for text in texts:
        print(f"{text}:")
        for name, each in report.measured.items():
            found = each.texts[text]
            print(f"  {name:{width}} {found.tokens:9,} tokens, {found.bytes_per_token:5.2f} bytes per token")
    print(f"{args.out}: written")
    return 0


def _texts(paths: list[Path]) -> dict[str, str]:
    if not paths:
        from ..notebook import book_text

        return {"the book's text": book_text()}
    texts = {}
    for path in paths:
        try:
            texts[str(path)] = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise BPELabError(f"{path} is not UTF-8: {error.reason} at byte {error.start:,}") from error
    return texts
