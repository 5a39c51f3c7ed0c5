"""`bpelab extend`: its arguments, and the function that runs it. Nothing heavy is imported before it runs."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.textio import STANDARD_INPUT, read_text
from ..errors import BPELabError
from .arguments import (
    CommandMaker,
    add_input_format,
    add_input_tokenizer,
    add_summary_options,
    nonempty_path,
    open_input_tokenizer,
)
from .train import check_out, save

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

HELD_OUT, LARGEST_READ = 10, 1 << 26
"""One tenth of a corpus is held out if it is plain text, of at most so many bytes."""
MOST_HELD_OUT = 1_000_000


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    extend = command("extend", "add tokens to a tokenizer by training it further on your text", run_extend)
    extend.epilog = f"""{extend.epilog}

Every id, merge and special token is kept. New tokens get the ids after the highest one, special tokens included, and
text without new tokens keeps its ids. A model needs a new row for each new token before it can read them.
Tokens per byte are measured on --text, or on the last tenth of a corpus of plain text, which is held out."""
    add_tokenizers(extend)
    extend.add_argument(
        "--corpus",
        nargs="+",
        required=True,
        metavar="FILE",
        help="text, JSON Lines or Parquet to learn from; - is standard input",
    )
    extend.add_argument(
        "--add", type=int, default=8000, dest="new_tokens", metavar="N", help="how many tokens to add (default: 8000)"
    )
    extend.add_argument("--min-frequency", type=int, default=2, help="leave rarer pairs unmerged (default: 2)")
    extend.add_argument(
        "--max-words",
        type=int,
        metavar="N",
        help="the maximum words in a new token (default: as in the old ones, if no pattern splits text into words)",
    )
    add_reading(extend)


def add_tokenizers(parser: ArgumentParser) -> None:
    """Add the tokenizer to read and the folder to write."""
    add_input_tokenizer(parser)
    parser.add_argument("--out", type=nonempty_path, required=True, help="the folder to write")


def add_reading(parser: ArgumentParser) -> None:
    """Add the options for reading the corpus and printing the result."""
    parser.add_argument(
        "--text", type=Path, metavar="FILE", help="a UTF-8 text that is not in the corpus, to measure before and after"
    )
    add_input_format(parser)
    add_summary_options(parser)


def run_extend(args: Namespace) -> int:
    old = open_input_tokenizer(args)
    check_out(args.out, old)
    new, held_out = extended(args, old, args.new_tokens, min_frequency=args.min_frequency, max_words=args.max_words)
    save(new, args.out)
    added = len(new) - len(old)
    show(args, old, new, held_out, {"added": added}, f"{added:,} of them new, from id {old.n_vocab}")
    return 0


def extended(
    args: Namespace, old: "BPETokenizer", new_tokens: int, **limits: int | None
) -> tuple["BPETokenizer", str | None]:
    """Return a tokenizer with tokens learned from --corpus, and a text to measure on, or None.

    The text isn't in the corpus: it is --text, or else the last tenth of a plain-text corpus, which is held out.
    """
    from ..editing import extend

    text = None if args.text is None else read_text(args.text)
    options: dict[str, Any] = {"progress": False if args.quiet else None, **limits}
    if text is not None or not _is_small_text(args.corpus, args.input_format):
        reading = {"input_format": args.input_format, "field": args.field}
        return extend(old, corpus_of(args.corpus), new_tokens, **reading, **options), text
    corpus = corpus_of(args.corpus)
    texts = [corpus] if isinstance(corpus, str) else list(map(read_text, corpus))
    size = min(len(texts[-1]) // HELD_OUT, MOST_HELD_OUT)
    cut = texts[-1].rfind("\n", 0, len(texts[-1]) - size) + 1 or len(texts[-1]) - size
    held_out, texts[-1] = texts[-1][cut:], texts[-1][:cut]
    return extend(old, texts, new_tokens, **options), held_out or None


def _is_small_text(files: list[str], form: str | None) -> bool:
    """Return whether the files, or standard input, are plain text small enough to read whole."""
    from ..corpus.file_formats import detect_format

    paths = [Path(name) for name in files if name != STANDARD_INPUT]
    if not all(path.is_file() for path in paths) or sum(path.stat().st_size for path in paths) > LARGEST_READ:
        return False
    return {detect_format(name, form) or "text" for name in files} == {"text"}


def corpus_of(files: list[str]) -> str | list[Path]:
    """Return the text of standard input for "-", else the paths. Raises BPELabError for a mixture."""
    if files == [STANDARD_INPUT]:
        return read_text()
    if STANDARD_INPUT in files:
        raise BPELabError("--corpus takes files, or - alone for standard input")
    return list(map(Path, files))


def show(
    args: Namespace,
    old: "BPETokenizer",
    new: "BPETokenizer",
    held_out: str | None,
    facts: dict[str, Any],
    sentence: str,
) -> None:
    """Print the new tokenizer's size, and tokens per byte before and after on the held-out text."""
    ratios = None
    if held_out is not None:
        size = max(1, len(held_out.encode()))
        ratios = [len(each.encode(held_out, add_special_tokens=False)) / size for each in (old, new)]
    if args.json:
        measured = None if ratios is None else {"before": ratios[0], "after": ratios[1]}
        print(json.dumps({"out": str(args.out), "tokens": len(new), **facts, "tokens_per_byte": measured}))
    elif not args.quiet:
        print(f"{args.out}: {len(new):,} tokens, {sentence}")
        if ratios is None:
            print("  not measured: --text FILE names a text that is not in the corpus")
        else:
            change = f", {ratios[1] / ratios[0] - 1:+.1%}" if ratios[0] else ""
            of = args.text or "the last tenth, which was held out"
            print(f"  tokens per byte of {of}: {ratios[0]:.4f} before, {ratios[1]:.4f} after{change}")
