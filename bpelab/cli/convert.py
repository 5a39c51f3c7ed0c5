"""`bpelab convert`: its arguments, and the function that runs it."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from .._support.textio import read_text
from ..errors import BPELabError
from .arguments import CommandMaker, add_input_tokenizer, add_roles, nonempty_path, open_input_tokenizer, roles


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    convert = command("convert", "write a tokenizer in another format, and list what that can't hold", run_convert)
    add_input_tokenizer(convert)
    convert.add_argument("out", metavar="OUT", type=nonempty_path, help="the folder or file to write")
    convert.add_argument(
        "--to",
        required=True,
        choices=["huggingface", "tiktoken", "tekken", "minbpe", "gpt2", "gguf"],
        help="the format of OUT",
    )
    convert.add_argument("--check", action="append", metavar="TEXT", help="compare ids on this text; may be repeated")
    convert.add_argument(
        "--check-file", action="append", type=Path, default=[], metavar="FILE", help="compare on a file"
    )
    add_roles(convert, ", one of the tokenizer's own")
    convert.add_argument("--lossy", action="store_true", help="convert even if losses change ids")
    convert.add_argument("--json", action="store_true", help="print JSON")


def run_convert(args: Namespace) -> int:
    from ..analysis.describe import SAMPLE
    from ..analysis.lossless import sample_lines
    from ..convert import as_llama_cpp_splits, check, convert, count_differing_lines, splits_differently
    from ..formats.gguf_pre_match import find_gguf_pre
    from ..formats.gguf_save import pre_name

    tokenizer = open_input_tokenizer(args).with_options(**roles(args))
    texts = [SAMPLE, *(args.check or [])]
    texts += map(read_text, args.check_file)
    differ = count_differing_lines(tokenizer, texts) if splits_differently(tokenizer, args.to) else None
    if differ is not None and not args.lossy:
        raise BPELabError(
            f"GPT-2's files don't hold the pattern, {tokenizer.pattern or 'none'}, and are read with GPT-2's: other "
            f"libraries then return other ids, on {differ[0]:,} of {differ[1]:,} lines here. Pass --lossy to write "
            "them nevertheless: bpelab opens them with --pattern"
        )
    lost = convert(tokenizer, args.out, args.to, lossy=args.lossy)
    lossy = args.lossy and any(loss.changes_ids for loss in lost)
    lines = sample_lines()
    if not lossy:
        check(tokenizer, args.out, args.to, [*texts, *lines])
    other = as_llama_cpp_splits(tokenizer) if args.to == "gguf" else None
    named = find_gguf_pre(tokenizer.spec.pre_tokenizer) if args.to == "gguf" and tokenizer.model.is_byte_level else None
    name = None if named is None else pre_name(tokenizer.spec)
    there = None if other is None else count_differing_lines(tokenizer, lines, other)
    if args.json:
        left_out = [{"feature": loss.feature, "was": loss.what, "changes_ids": loss.changes_ids} for loss in lost]
        facts = {
            "out": str(args.out),
            "to": args.to,
            "left_out": left_out,
            "texts_checked": None if lossy else len(texts),
        }
        facts |= {"lines_checked": None if lossy else len(lines)}
        facts |= {} if named is None else {"pre_tokenizer": name, "pre_tokenizer_basis": named.basis}
        differing = differ or there
        print(json.dumps(facts if differing is None else {**facts, "lines_that_differ": differing}))
        return 0
    print(f"{args.out}: written as {args.to}, {len(tokenizer):,} tokens")
    if named is not None:
        print(f"  llama.cpp's pre-tokenizer: {name} ({named.reason})")
    for loss in lost:
        print(f"  left out: {loss.feature} ({loss.what[:240]})" + (", which changes ids" if loss.changes_ids else ""))
    compared = f"{len(texts)} text{'s' if len(texts) > 1 else ''} and on {len(lines)} lines in many scripts"
    print("  ids not compared: the conversion is lossy" if lossy else f"  ids equal on {compared}")
    if there is not None:
        print(f"  split as llama.cpp does, ids differ on {there[0]:,} of {there[1]:,} lines in many scripts")
    if differ is not None:
        print(f"  opened as GPT-2's files are, ids differ on {differ[0]:,} of {differ[1]:,} lines")
    return 0
