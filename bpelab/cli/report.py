"""`bpelab report`: its arguments, and what it runs. Nothing is measured or imported until it is called."""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import some_path
from ..errors import BPELabError, TokenizerFileError

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .report import Measured, Report

EXAMPLES = """\
examples:
  bpelab report gpt2 cl100k_base --text letter.txt --text program.py
  bpelab report my-tokenizer downloaded/tokenizer.json --out comparison.html
  bpelab report my.tiktoken --pattern gpt2 --text notes.txt
  bpelab report -t my-tokenizer -t gpt2 --text notes.txt --json
  bpelab report my-tokenizer gpt2 --parallel english.txt hindi.txt greek.txt
  bpelab report my-tokenizer gpt2 --text notes.txt --shape config.json --context 8192 --price 2.5

The page compares the tokenizers on each text: bytes, characters and words per token, how evenly the vocabulary is used,
whether the text comes back. Besides it says how numbers and white space are cut, which tokens are the longest, what the
vocabularies share, and which tokens are never reached. It is one file that needs no network and runs no script, and it
can be read in light and dark.

Without --text the book's own text is measured. A text says something about texts like it, so give some of your own, and
none that one of the tokenizers was trained on. With several the page also says what is lost away from the first one, so
begin with the kind that the tokenizers were made for. An older page is replaced, and no other file.
"""
MOST = 8


def add_command(command: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes a parser of a name, a line of help, and what to run."""
    report = command("report", "compare tokenizers on texts, as a page of tables and figures", run_report)
    report.epilog, report.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    report.add_argument("tokenizers", nargs="*", metavar="TOKENIZER", help=f"up to {MOST}; see `bpelab --help`")
    report.add_argument(
        "-t", "--tokenizer", action="append", default=[], metavar="TOKENIZER", help="one more; may be repeated"
    )
    report.add_argument(
        "--text",
        action="append",
        default=[],
        metavar="FILE",
        help="a UTF-8 text, or - for standard input; may be repeated",
    )
    report.add_argument(
        "--parallel",
        nargs="+",
        default=[],
        metavar="FILE",
        help="texts that say the same, in several languages say; the others are compared with the first",
    )
    report.add_argument(
        "--shape", metavar="CONFIG", help="a model's config.json: say what the texts cost it, with each tokenizer"
    )
    report.add_argument("--context", type=int, metavar="N", help="say how much text fits into as many tokens")
    report.add_argument("--price", type=float, metavar="N", help="of a million tokens: say what the texts cost")
    report.add_argument(
        "--out", type=some_path, default=Path("report.html"), metavar="FILE", help="the page (default: report.html)"
    )
    report.add_argument("--pattern", help="for tokenizers that don't say how text is split: the pattern")
    report.add_argument("--quiet", action="store_true", help="no progress bar, no summary")
    report.add_argument("--json", action="store_true", help="print the summary as JSON")


def run_report(args: argparse.Namespace) -> int:
    from .report import compare
    from .report_files import read_shape, read_texts, refuse_to_overwrite, refuse_twice, write_page
    from .report_page import page

    names: list[str] = [*args.tokenizers, *args.tokenizer]
    if not names:
        raise BPELabError("no tokenizer was named: give one or several to compare")
    if len(names) > MOST:
        raise BPELabError(f"{len(names)} tokenizers are too many for one page: give up to {MOST}")
    if len(args.parallel) == 1:
        raise BPELabError("--parallel takes two texts or more, which say the same as the first")
    for given in (names, args.text, args.parallel):
        refuse_twice(given)
    refuse_to_overwrite(args.out, names, [*args.text, *args.parallel, *filter(None, [args.shape])])
    texts, parallel = read_texts(args.text) if args.text else _books_text(), read_texts(args.parallel)
    shape = None if args.shape is None else read_shape(args.shape)
    tokenizers = _open(names, args.pattern)
    options = {"parallel": parallel, "shape": shape, "context": args.context, "price": args.price}
    report = compare(tokenizers, texts, **options, progress=False if args.quiet else None)
    write_page(args.out, page(report))
    if args.json:
        print(json.dumps({"out": str(args.out), "texts": _facts(report, texts)}, ensure_ascii=False))
    elif not args.quiet:
        _print_summary(args.out, report, texts, names)
    return 0


def _facts(report: "Report", texts: "Mapping[str, str]") -> dict[str, dict[str, dict[str, float]]]:
    """Text -> tokenizer -> what it takes there."""

    def of(each: "Measured", text: str) -> dict[str, float]:
        found = each.texts[text]
        return {"bytes": found.bytes, "tokens": found.tokens, "bytes_per_token": found.bytes_per_token}

    return {text: {name: of(each, text) for name, each in report.measured.items()} for text in texts}


def _print_summary(out: Path, report: "Report", texts: "Mapping[str, str]", names: list[str]) -> None:
    width = max(map(len, names))
    for text in texts:
        print(f"{text}:")
        for name, each in report.measured.items():
            found = each.texts[text]
            print(f"  {name:{width}} {found.tokens:9,} tokens, {found.bytes_per_token:5.2f} bytes per token")
    print(f"{out}: written")


def _books_text() -> dict[str, str]:
    from ..notebook import book_text

    return {"the book's text": book_text()}


def _open(names: list[str], pattern: str | None) -> "dict[str, BPETokenizer]":
    from ..formats.detect import NO_TOKENIZER, in_home, open_tokenizer

    def takes_pattern(name: str) -> bool:
        path = in_home(name)
        return path.suffix == ".tiktoken" or (path.is_dir() and not (path / "tokenizer.json").exists())

    if pattern is not None and not any(map(takes_pattern, names)):
        raise BPELabError(
            "--pattern is for .tiktoken files, and for folders with vocab.json and merges.txt. These tokenizers say "
            "themselves how text is split: leave it out"
        )
    try:
        return {name: open_tokenizer(name, pattern=pattern if takes_pattern(name) else None) for name in names}
    except TokenizerFileError as error:
        if error.problem != NO_TOKENIZER:
            raise
        raise BPELabError(f"{error} Texts to measure are given with --text") from error
