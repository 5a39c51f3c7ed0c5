"""`bpelab bench`: its arguments, and the function that runs it. Nothing heavy is imported before it runs."""

import json
import sys
import tempfile
from argparse import Namespace
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.install import install_command
from .._support.progress import follow_clock
from .._support.textio import read_text
from ..errors import BPELabError, MissingDependencyError
from .arguments import CommandMaker, positive_int

if TYPE_CHECKING:
    from ..bench.plan import Plan, Step
    from ..bench.record import Record

EXAMPLES = """\
examples:
  bpelab bench --quick
  bpelab bench --json record.json
  bpelab bench --only encode --encoding my-tokenizer,downloaded/tokenizer.json --text mine=corpus.txt
  bpelab bench --only encode,decode --encoding o200k_base --text mine=corpus.txt --libraries bpelab,tiktoken,gigatoken
  bpelab bench --full --texts ~/texts --json full.json

what is measured:
  encode        a text with an empty cache, unseen text after a warm-up, the same again; lists and arrays
  calls         texts of 60 characters, lines of 50 to 200 bytes, documents of 2 kB, in a loop; lists
  batch         the same documents in one call, with one thread and with two
  decode        to a str, from a list and from an array
  load          a vocabulary, and encode a few words, after the imports; the second time on a machine
  fresh         a new process that imports, loads and encodes: a few words, a file of 1 MB, of 10 MB
  memory        of the model, and added while 16 MB are encoded
  pathological  1 MB of one letter, of spaces, of digits ..., under a limit of time and memory
  train         10 MB to 8,192 tokens, one thread; with --full 100 MB to 32,768 and 1 GB to 65,536 too
  superwords    10 MB to 16,384 tokens that may cross word boundaries; with --full 1 GB to 128,000 too

how:
  Every library is called in its fastest way (the record says how). Its ids are first compared with tiktoken's, or
  with tokenizers' for a file that tiktoken can't load; a library that differs isn't timed there. Libraries take turns
  on the same text, and the results are medians of the ratios within a round. Processes are pinned to as many
  processors as a row has threads, if the system can do that. Speeds use processor time; those of batches use
  wall time. Garbage collection is off. A library that fails, hangs or crashes is reported, and the others go on.

how long:
  That depends on what is measured: the time grows with libraries, encodings, texts, rounds and measures, and slow
  libraries take most of it. On two processors, 19 libraries took 3 minutes for `--only encode --encoding cl100k_base`
  with the book's text, and half an hour for two encodings and four texts, without memory and superwords.

Nothing is downloaded. Without --text the texts are those in the folder of --texts (UTF-8, .txt or .txt.xz, from 2 MB),
otherwise the book's, and in both cases the standard library's sources. Encodings need
tiktoken's files in its cache; without them a tokenizer is trained on the spot, as is superwords, whose tokens may
cross word boundaries. To measure your own tokenizers, name their files. The extra `bench` installs the libraries
except tokenizers 1.0, which lies in a folder of its own, BPELAB_BENCH_TOKENIZERS_1: `--libraries "tokenizers 1.0"` says
how to install it there.
"""


def _comma_separated(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (word.strip() for word in text.split(","))))


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    bench = command("bench", "measure this library and others on this machine", run_bench)
    bench.epilog = EXAMPLES
    amount = bench.add_mutually_exclusive_group()
    amount.add_argument(
        "--quick",
        action="store_true",
        help="less of everything, with one encoding and one text, without batches, fresh processes and memory",
    )
    amount.add_argument("--full", action="store_true", help="more rounds, every measure for every encoding and text")
    bench.add_argument("--only", type=_comma_separated, metavar="A,B", help="only some measures, see below")
    bench.add_argument(
        "--libraries",
        type=_comma_separated,
        metavar="A,B",
        help="only some libraries (plus tiktoken, and tokenizers for files)",
    )
    bench.add_argument(
        "--encoding",
        type=_comma_separated,
        metavar="A,B",
        help="cl100k_base, o200k_base, superwords, gpt2, trained, or a tokenizer's file or folder (default: the first "
        "three)",
    )
    bench.add_argument("--rounds", type=positive_int, metavar="N", help="how many rounds (default: 5)")
    bench.add_argument(
        "--text", action="append", default=[], metavar="NAME=FILE", help="a text to use, .xz too; may be repeated"
    )
    bench.add_argument("--texts", type=Path, metavar="FOLDER", help="a folder of texts to use")
    bench.add_argument("--json", type=Path, metavar="FILE", help="write the record: every measurement, every version")
    bench.add_argument("--figure", type=Path, metavar="FILE", help="draw the speeds of encoding (.svg, .png)")
    bench.add_argument("--show", type=Path, metavar="FILE", help="measure nothing: print the tables of a record")


def run_bench(args: Namespace) -> int:
    from ..bench.record import to_json, validate
    from ..bench.report import report

    if args.show is not None:
        try:
            record = validate(json.loads(read_text(args.show)))
        except ValueError as error:
            raise BPELabError(f"{args.show} is not a record: {error}") from error
    else:
        record = run_benchmark(args)
    print(report(record), end="")
    if args.json is not None:
        args.json.write_text(to_json(record), "utf-8")
    if args.figure is not None:
        from ..bench.report import save_figure

        save_figure(record, args.figure)
    return 0


def run_benchmark(args: Namespace) -> "Record":
    """Run the benchmark that the arguments describe; return the record."""
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(f"measuring needs numpy: {install_command('bench')}") from error
    from ..bench.driver import Driver
    from ..bench.peers import PEERS
    from ..bench.record import new_record
    from ..bench.texts import find_texts

    plan = _plan(args)
    names = _libraries(args.libraries, list(PEERS), plan)
    for path in filter(None, (args.json, args.figure)):
        if not path.absolute().parent.is_dir():
            raise BPELabError(f"{path.parent} is not a folder to write to")
    texts = find_texts(args.texts and args.texts.expanduser(), args.text, plan.characters)[: plan.texts or None]
    record = new_record(plan, texts)
    here = [name for name in names if PEERS[name].why_unavailable() is None]
    record["libraries"] = {name: one for name, one in record["libraries"].items() if name in names}
    progress = Progress(record)
    with tempfile.TemporaryDirectory(prefix="bpelab-bench-") as temporary, progress:
        Driver(plan, texts, here, record, Path(temporary), progress.step, progress.row).run()
    return record


def _plan(args: Namespace) -> "Plan":
    from ..bench.plan import DEFAULT, FULL, QUICK, SECTIONS

    plan = QUICK if args.quick else FULL if args.full else DEFAULT
    if unknown := set(args.only or ()) - set(SECTIONS):
        raise BPELabError(f"--only knows {', '.join(SECTIONS)}; not {', '.join(sorted(unknown))}")
    changes: dict[str, Any] = {"sections": args.only, "encodings": args.encoding, "rounds": args.rounds}
    plan = replace(plan, **{name: value for name, value in changes.items() if value})
    return replace(plan, texts=0) if args.text else plan


def _libraries(requested: tuple[str, ...] | None, names: list[str], plan: "Plan") -> list[str]:
    from ..bench.vocabularies import PUBLISHED, TRAINED

    if unknown := set(requested or ()) - set(names):
        raise BPELabError(f"--libraries knows {', '.join(names)}; not {', '.join(sorted(unknown))}")
    baselines = ["tiktoken"] if {*plan.encodings} <= {*PUBLISHED, *TRAINED} else ["tiktoken", "tokenizers"]
    return [name for name in names if requested is None or name in (*requested, *baselines)]


class Progress(AbstractContextManager["Progress"]):
    """Progress: one line, overwritten, for the current activity, and a permanent line for each result."""

    def __init__(self, record: "Record") -> None:
        from tqdm import tqdm

        self._record = record
        self._bar = tqdm(bar_format="{elapsed} {desc}", file=sys.stderr, leave=False, disable=None)

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def step(self, what: str) -> None:
        """Show the current activity."""
        follow_clock(self._bar)
        self._bar.set_description_str(what)

    def row(self, encoding: str, step: "Step") -> None:
        """Print this library's result in a step."""
        from ..bench.record import Row, speeds
        from ..bench.tables import format_speed

        measure = "unseen" if step.measure == "warm" else step.measure
        row = Row(encoding, measure, step.text, step.output, step.threads)
        speed = speeds(self._record).get(row, {}).get("bpelab")
        if speed is not None:
            threads = f", {step.threads} threads" if step.threads > 1 else ""
            line = f"{encoding} {step.text}: {measure}, {step.output}{threads}: bpelab {format_speed(speed)} MB/s"
            self._bar.write(line, file=sys.stderr)
