"""`bpelab report`: its arguments, and the function that runs it. Nothing is measured or imported before it runs."""

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BPELabError, TokenizerFileError
from .arguments import CommandMaker, add_summary_options, nonempty_path

if TYPE_CHECKING:
    from ..analysis.report.measure import Measures, Report
    from ..tokenizer import BPETokenizer

EXAMPLES = """\
examples:
  bpelab report gpt2 cl100k_base --text letter.txt --text program.py
  bpelab report my-tokenizer downloaded/tokenizer.json --out comparison.html
  bpelab report my.tiktoken --pattern gpt2 --text notes.txt
  bpelab report -t my-tokenizer -t gpt2 --text notes.txt --json
  bpelab report my-tokenizer gpt2 --parallel english.txt hindi.txt greek.txt
  bpelab report my-tokenizer gpt2 --text notes.txt --shape config.json --context 8192 --price 2.5

The page compares the tokenizers on each text: bytes, characters and words per token, how evenly the vocabulary is used,
whether the text survives the round trip. It also shows how numbers and white space are split, which tokens are the
longest, what the vocabularies share, and which tokens are never produced. It is one file that needs no network, runs no
script, and can be read in light and dark mode.

Without --text the book's own text is measured. Results hold for similar texts, so pass your own, but none that one of
the tokenizers was trained on. With several texts the page also shows the loss relative to the first one, so start with
the kind that the tokenizers were made for. An older page is overwritten, but no other file.
"""
MAX_TOKENIZERS = 8


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    report = command("report", "compare tokenizers on texts, as a page of tables and figures", run_report)
    report.epilog = EXAMPLES
    report.add_argument(
        "tokenizers", nargs="*", metavar="TOKENIZER", help=f"up to {MAX_TOKENIZERS}; see `bpelab --help`"
    )
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
        help="translations of one text, for example; the others are compared with the first",
    )
    report.add_argument(
        "--shape", metavar="CONFIG", help="a model's config.json: show what the texts cost it, with each tokenizer"
    )
    report.add_argument("--context", type=int, metavar="N", help="show how much text fits into N tokens")
    report.add_argument(
        "--price", type=float, metavar="N", help="the price of a million tokens: show what the texts cost"
    )
    report.add_argument(
        "--out", type=nonempty_path, default=Path("report.html"), metavar="FILE", help="the page (default: report.html)"
    )
    report.add_argument("--pattern", help="the split pattern, for tokenizers that don't contain one")
    add_summary_options(report)


def run_report(args: Namespace) -> int:
    from ..analysis.report.files import read_shape, read_texts, refuse_duplicates, refuse_to_overwrite, write_page
    from ..analysis.report.measure import compare
    from ..analysis.report.page import page

    names: list[str] = [*args.tokenizers, *args.tokenizer]
    if not names:
        raise BPELabError("no tokenizer was named: give one or several to compare")
    if len(names) > MAX_TOKENIZERS:
        raise BPELabError(f"{len(names)} tokenizers are too many for one page: give up to {MAX_TOKENIZERS}")
    if len(args.parallel) == 1:
        raise BPELabError("--parallel takes two texts or more, which say the same as the first")
    for given in (names, args.text, args.parallel):
        refuse_duplicates(given)
    refuse_to_overwrite(args.out, names, [*args.text, *args.parallel, *filter(None, [args.shape])])
    texts, parallel = read_texts(args.text) if args.text else _book_text(), read_texts(args.parallel)
    shape = None if args.shape is None else read_shape(args.shape)
    tokenizers = _open_tokenizers(names, args.pattern)
    options = {"parallel": parallel, "shape": shape, "context": args.context, "price": args.price}
    report = compare(tokenizers, texts, **options, progress=False if args.quiet else None)
    write_page(args.out, page(report))
    if args.json:
        print(json.dumps({"out": str(args.out), "texts": _summary(report, texts)}, ensure_ascii=False))
    elif not args.quiet:
        _print_summary(args.out, report, texts, names)
    return 0


def _summary(report: "Report", texts: "Mapping[str, str]") -> dict[str, dict[str, dict[str, float]]]:
    """Return the sizes for JSON: text -> tokenizer -> bytes, tokens, bytes per token."""

    def of(each: "Measures", text: str) -> dict[str, float]:
        found = each.texts[text]
        return {"bytes": found.bytes, "tokens": found.tokens, "bytes_per_token": found.bytes_per_token}

    return {text: {name: of(each, text) for name, each in report.measures.items()} for text in texts}


def _print_summary(out: Path, report: "Report", texts: "Mapping[str, str]", names: list[str]) -> None:
    width = max(map(len, names))
    for text in texts:
        print(f"{text}:")
        for name, each in report.measures.items():
            found = each.texts[text]
            print(f"  {name:{width}} {found.tokens:9,} tokens, {found.bytes_per_token:5.2f} bytes per token")
    print(f"{out}: written")


def _book_text() -> dict[str, str]:
    from ..notebook.live_source import book_text

    return {"the book's text": book_text()}


def _open_tokenizers(names: list[str], pattern: str | None) -> "dict[str, BPETokenizer]":
    from .._support.textio import expand_user
    from ..formats.detect import NO_TOKENIZER
    from ..tokenizer import open_tokenizer

    def takes_pattern(name: str) -> bool:
        path = expand_user(name)
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
