"""`bpelab adapt`: its arguments, and the function that runs it. Nothing is read or imported before it runs."""

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.textio import read_text
from ..errors import BPELabError
from .arguments import CommandMaker, nonempty_path
from .extend import add_reading, extended

if TYPE_CHECKING:
    from ..adapt.measuring import Measured
    from ..adapt.plan import AdaptationPlan

EXAMPLES = """\
examples:
  bpelab adapt my-model --corpus notes.txt --add 2000 --out adapted --dry-run
  bpelab adapt my-model --corpus notes.txt --add 2000 --out adapted
  bpelab adapt Qwen/Qwen2.5-0.5B --tokenizer my-tokenizer --text unseen.txt --out adapted
  bpelab adapt gemma.gguf --tokenizer my-tokenizer --out adapted.gguf

MODEL is a folder with config.json and safetensors, a GGUF file, or a name on the Hugging Face Hub. The plan is printed
first: which rows are copied, which are created for new tokens, how the number of parameters changes. Of a GGUF file a
GGUF file is made: rows are copied as they are stored, and those of new tokens are computed from dequantized ones and
quantized again, which the gguf library and llama.cpp do. The old model is only read, and the new one is written whole
or not at all. Afterwards tokens per byte are measured, and the model's bits per byte
if an engine for it is installed: on --text, or on the last tenth of a plain-text corpus, which is then held out.
An adapted model knows no more than before: train it further on such text.
"""


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    adapt = command("adapt", "rewrite a model's embeddings for a tokenizer with other tokens", run_adapt)
    adapt.epilog = EXAMPLES
    adapt.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="a folder with a model's safetensors, a GGUF file, or a name on the Hub (default: the model that comes "
        "with bpelab)",
    )
    adapt.add_argument(
        "--corpus", nargs="+", default=[], metavar="FILE", help="text, JSON Lines or Parquet to learn new tokens from"
    )
    adapt.add_argument("--add", type=int, metavar="N", help="how many tokens to learn from --corpus")
    adapt.add_argument("-t", "--tokenizer", metavar="NEW", help="the new tokenizer, in place of --corpus and --add")
    adapt.add_argument("--old-tokenizer", metavar="OLD", help="the model's tokenizer, if it isn't in its folder")
    adapt.add_argument("--out", type=nonempty_path, metavar="OUT", help="the new folder or GGUF file to write")
    adapt.add_argument(
        "--rows",
        default="mean",
        metavar="RULE",
        help="how to compute new rows: mean (of the parts), average or normal",
    )
    adapt.add_argument("--seed", type=int, default=0, help="for --rows normal (default: 0)")
    adapt.add_argument(
        "--pad-to-multiple-of",
        type=int,
        metavar="N",
        help="round the rows up to a multiple of N (default: as before)",
    )
    adapt.add_argument("--no-bits", action="store_true", help="don't run the model to measure its bits per byte")
    adapt.add_argument("--gguf", type=nonempty_path, metavar="FILE", help="of a folder, write a GGUF file, too")
    adapt.add_argument(
        "--gguf-like",
        type=Path,
        metavar="OLD",
        help="with --gguf, for models other than Llama and Qwen2: a GGUF file of MODEL",
    )
    adapt.add_argument("--dry-run", action="store_true", help="print the plan, and write nothing")
    add_reading(adapt)


def run_adapt(args: Namespace) -> int:
    from ..adapt import adapt_model, plan_adaptation, write_gguf
    from ..adapt.folder import check_out
    from ..adapt.measuring import measure
    from ..chat.models.find import find_model
    from ..tokenizer import open_tokenizer

    _check(args)
    files = find_model(args.model)
    if args.gguf is not None and not files.safetensors:
        raise BPELabError(f"{files.name} is a GGUF file, and --out names the new GGUF file: leave out --gguf")
    if not args.dry_run:
        check_out(files, args.out, str(args.out))  # now, and not after all that is learned
    old = files.tokenizer() if args.old_tokenizer is None else open_tokenizer(args.old_tokenizer)
    if args.tokenizer is not None:
        new, text = open_tokenizer(args.tokenizer), None if args.text is None else read_text(args.text)
    else:
        new, text = extended(args, old, args.add)
    plan = plan_adaptation(files, new, old_tokenizer=old, rows=args.rows, pad_to_multiple_of=args.pad_to_multiple_of)
    if args.gguf is not None:
        from ..adapt.gguf import check_gguf

        check_gguf(plan, args.gguf_like)
    shown = not (args.quiet or args.json)
    if shown:
        print(plan, flush=True)
    measured = None
    if not args.dry_run:
        progress = False if args.quiet else None
        adapt_model(plan, None, args.out, seed=args.seed, progress=progress)
        if shown:
            print(f"{args.out}: written", flush=True)
        if args.gguf is not None:
            write_gguf(args.out, args.gguf, like=args.gguf_like, progress=progress)
            if shown:
                print(f"{args.gguf}: written", flush=True)
        if text:
            measured = measure(plan, args.out, text, bits=not args.no_bits, progress=progress)
        if shown:
            print(measured or "nothing was measured: --text names a text to measure on")
    if args.json:
        print(json.dumps(_as_json(args, plan, measured), ensure_ascii=False))
    return 0


def _check(args: Namespace) -> None:
    """Raise BPELabError for options that can't be combined."""
    if (args.tokenizer is None) == (not args.corpus):
        raise BPELabError("name what the new tokens come from: --corpus FILE with --add N, or --tokenizer NEW")
    if (args.add is None) != (not args.corpus):
        raise BPELabError("--corpus and --add belong together: the text to learn from, and how many tokens")
    if args.out is None and not args.dry_run:
        raise BPELabError("--out is missing; --dry-run prints the plan and writes nothing")
    if args.gguf_like is not None and args.gguf is None:
        raise BPELabError("--gguf-like is for --gguf FILE, which is missing")


def _as_json(args: Namespace, plan: "AdaptationPlan", measured: "Measured | None") -> dict[str, Any]:
    return {
        "out": None if args.dry_run else str(args.out),
        "gguf": None if args.dry_run or args.gguf is None else str(args.gguf),
        "rule": plan.rule,
        **plan.facts,
        "matrices": [tensor.name for tensor in plan.matrices.tensors],
        "left_out": dict(plan.left_out),
        "measured": None if measured is None else measured._asdict(),
    }
