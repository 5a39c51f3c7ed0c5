"""The command line: `bpelab train | encode | decode | stream | count | info | convert | encode-files | verify |
report | publish | upload | adapt | chat | doctor | bench | completion`.

Exit codes: 0 done; 1 an error in the input, described in one line on standard error; 2 wrong usage; 130
interrupted.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._support.textio import STANDARD_INPUT, read_text
from ..errors import BPELabError
from .adapt import add_command as add_adapt
from .arguments import Parser, add_roles, add_tokenizer_option, nonempty_path, resolve_tokenizer, roles, utf8_text
from .bench import add_command as add_bench
from .chat.command import add_commands, template_source
from .completion import add_command as add_completion
from .extend import add_command as add_extend
from .options import as_cli_message, warnings_as_lines
from .prune import add_command as add_prune
from .publish import add_commands as add_publish
from .report import add_command as add_report
from .shards import add_commands as add_shard_commands
from .stdio import repair_streams, stdout_failure
from .train import add_command as add_train

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

DEFAULT = "cl100k_base"
"""The tokenizer of commands that are called without one."""
EXAMPLES = """\
examples:
  bpelab count "How many tokens is this?"
  bpelab train notes.txt --vocab-size 4096 --out my-tokenizer
  bpelab extend my-tokenizer --corpus more.txt --add 2000 --out extended --text unseen.txt
  bpelab prune extended --corpus notes.txt --keep 3000 --out pruned --text unseen.txt
  bpelab encode "low lower lowest" --tokenizer my-tokenizer --show-tokens
  echo 15339 1917 | bpelab decode --tokenizer cl100k_base
  tail -f server.log | bpelab stream
  bpelab info my-tokenizer
  bpelab convert my-tokenizer my-tokenizer.gguf --to gguf --check "some text"
  bpelab encode-files corpus/ --out shards --tokenizer my-tokenizer --end-of-document '<|endoftext|>'
  bpelab verify shards --against --tokenizer my-tokenizer
  bpelab report my-tokenizer gpt2 --text notes.txt
  bpelab publish my-tokenizer harbour --text unseen.txt
  bpelab upload harbour me/harbour
  bpelab adapt my-model --corpus notes.txt --add 2000 --out adapted
  bpelab chat
  bpelab doctor
  bpelab bench --quick
  bpelab completion bash > ~/.local/share/bash-completion/completions/bpelab

A tokenizer is a folder or a file: tokenizer.json, GGUF, SentencePiece's or minbpe's .model, GPT-2's vocab.json with
merges.txt, .tiktoken (the last two with --pattern); or a name that tiktoken knows: cl100k_base,
which is the default, or gpt-4o, say (needs the tiktoken package).
Text comes from the argument, from --file, or from standard input.
"""


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command line."""
    parser = Parser(
        prog="bpelab",
        description="Byte-pair encoding, exact and explained.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bpelab {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, help_text: str, run: Any) -> argparse.ArgumentParser:
        description = help_text[:1].upper() + help_text[1:] + "."
        shown = "\n".join(line for line in EXAMPLES.splitlines() if f"bpelab {name} " in f"{line} ")
        raw = argparse.RawDescriptionHelpFormatter
        sub = commands.add_parser(
            name, help=help_text, description=description, epilog=shown and f"examples:\n{shown}", formatter_class=raw
        )
        sub.set_defaults(run=run, parser=sub)
        return sub

    add_train(command)
    add_extend(command)
    add_prune(command)
    encode = command("encode", "turn text into ids", run_encode)
    _add_text_options(encode)
    encode.add_argument("--show-tokens", action="store_true", help="one line a token: id and text")
    decode = command("decode", "turn ids into text", run_decode)
    decode.add_argument("ids", nargs="*", help="ids, separated by spaces or commas; standard input if there are none")
    decode.add_argument("--unknown", choices=["error", "replace", "skip"], default="error", help="ids that don't exist")
    _add_tokenizer_options(decode)
    stream = command("stream", "turn standard input into ids, or ids into text, as it arrives", run_stream)
    stream.add_argument("--decode", action="store_true", help="the input is ids; the output is their text")
    stream.add_argument("--special", action="store_true", help="special tokens in the text are meant as such")
    stream.add_argument("--unknown", choices=["error", "replace", "skip"], default="error", help="ids that don't exist")
    _add_tokenizer_options(stream)
    count = command("count", "count tokens", run_count)
    _add_text_options(count)
    count.add_argument("--limit", type=int, help="stop counting beyond it; exit code 1 if there are more")
    count.add_argument(
        "--chat",
        type=Path,
        metavar="FILE",
        help="count a conversation, JSON: a list of messages, or an object with messages and perhaps tools",
    )
    count.add_argument("--template", help="for --chat: a name (chatml, llama3 ...), Jinja, or a file of it")
    info = command("info", "describe a tokenizer", run_info)
    info.add_argument("tokenizer", nargs="?", metavar="IN", help=f"what to look at (default: {DEFAULT})")
    add_tokenizer_option(info, "IN")
    info.add_argument("--pattern", help="for a .tiktoken file: the pattern to split with")
    info.add_argument("--show-tokens", action="store_true", help="list every token with its id, rank and parts")
    info.add_argument("--json", action="store_true", help="print JSON")
    convert = command("convert", "write a tokenizer in another format, and list what that can't hold", run_convert)
    convert.add_argument("tokenizer", nargs="?", metavar="IN", help="what to read; see `bpelab --help`")
    add_tokenizer_option(convert, "IN")
    convert.add_argument("out", metavar="OUT", type=nonempty_path, help="the folder or file to write")
    convert.add_argument(
        "--to", required=True, choices=["huggingface", "tiktoken", "minbpe", "gpt2", "gguf"], help="the format of OUT"
    )
    convert.add_argument("--pattern", help="for files that don't say how text is split: the pattern")
    convert.add_argument("--check", action="append", metavar="TEXT", help="compare ids on this text; may be repeated")
    convert.add_argument(
        "--check-file", action="append", type=Path, default=[], metavar="FILE", help="compare on a file"
    )
    add_roles(convert, ", one of the tokenizer's own")
    convert.add_argument("--lossy", action="store_true", help="go on where the format can't hold what changes ids")
    convert.add_argument("--json", action="store_true", help="print JSON")
    add_shard_commands(command, _add_tokenizer_options)
    add_report(command)
    add_publish(command)
    add_adapt(command)
    add_commands(command)
    add_bench(command)
    add_completion(command)
    return parser


def _add_tokenizer_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tokenizer", "-t", default=DEFAULT, help=f"see `bpelab --help` (default: {DEFAULT})")
    parser.add_argument("--pattern", help="for a .tiktoken file: the pattern to split with")
    parser.add_argument(
        "--encoder", default="auto", help="auto, native, naive, heap, buckets or trie; all return the same ids"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_text_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", help="the text; - or nothing for standard input")
    parser.add_argument("--file", type=Path, help="read the text from a file instead")
    parser.add_argument("--special", action="store_true", help="special tokens in the text are meant as such")
    _add_tokenizer_options(parser)


def _open_tokenizer(args: argparse.Namespace) -> "BPETokenizer":
    from ..tokenizer import open_tokenizer

    return open_tokenizer(args.tokenizer, pattern=args.pattern, encoder=getattr(args, "encoder", "auto"))


def _read_text_argument(args: argparse.Namespace) -> str:
    if args.file is not None:
        if args.text is not None:
            raise BPELabError("give the text or --file, not both")
        return read_text(args.file)
    if args.text in (None, STANDARD_INPUT):
        return read_text()
    return utf8_text(args.text)


def run_encode(args: argparse.Namespace) -> int:
    from ..formats.listing import printable

    tokenizer = _open_tokenizer(args)
    ids = tokenizer.encode(_read_text_argument(args), allowed_special="all" if args.special else ())
    tokens = tokenizer.convert_ids_to_tokens(ids) if args.show_tokens else []
    if args.json:
        shown = {"tokens": [printable(token) for token in tokens]} if args.show_tokens else {}
        print(json.dumps({"ids": ids, "count": len(ids), **shown}, ensure_ascii=False))
    elif args.show_tokens:
        for token_id, token in zip(ids, tokens):
            print(f"{token_id:>8}  {printable(token)!r}")
    else:
        print(*ids)
    return 0


def run_decode(args: argparse.Namespace) -> int:
    words = (" ".join(args.ids) if args.ids else read_text()).replace(",", " ")
    try:
        ids = [int(word) for word in words.strip().strip("[]").split()]
    except ValueError as error:
        raise BPELabError(f"ids are integers: {error}") from error
    tokenizer = _open_tokenizer(args)
    if args.json:
        print(json.dumps({"text": tokenizer.decode(ids, unknown=args.unknown)}, ensure_ascii=False))
    else:
        sys.stdout.buffer.write(tokenizer.decode_bytes(ids, unknown=args.unknown))
        if sys.stdout.isatty():
            print()
    return 0


def run_stream(args: argparse.Namespace) -> int:
    from ..streaming import StreamDecoder, StreamEncoder
    from .stdin_stream import read_ids, read_texts

    tokenizer, pipe = _open_tokenizer(args), sys.stdin.buffer
    if not args.decode:
        encoder = StreamEncoder(tokenizer, allowed_special="all" if args.special else ())
        for ids in encoder.stream(read_texts(pipe)):
            print(json.dumps({"ids": ids}) if args.json else " ".join(map(str, ids)), flush=True)
        return 0
    for text in StreamDecoder(tokenizer, unknown=args.unknown).stream(read_ids(pipe)):
        if args.json:
            print(json.dumps({"text": text}, ensure_ascii=False), flush=True)
        else:
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
    return 0


def _count_conversation(args: argparse.Namespace) -> int:
    from ..chat import NAMED, count_conversation
    from .chat.conversation_file import read_conversation

    tokenizer, template = _open_tokenizer(args), template_source(args.template)
    if template in NAMED:  # a control token that the tokenizer lacks takes one id, whatever that id is
        tokenizer = tokenizer.with_special_tokens(NAMED[template].missing_tokens(tokenizer))
    messages, tools = read_conversation(args.chat)
    return count_conversation(tokenizer, messages, template, tools=tools)


def run_count(args: argparse.Namespace) -> int:
    if args.chat is not None:
        if args.text is not None or args.file is not None or args.special:
            raise BPELabError("--chat counts the messages of its file: leave out the text, --file and --special")
        number = _count_conversation(args)
    else:
        if args.template is not None:
            raise BPELabError("--template is for a conversation: --chat FILE names one")
        text, tokenizer = _read_text_argument(args), _open_tokenizer(args)
        number = tokenizer.count_tokens(text, args.limit, allowed_special="all" if args.special else ())
    more = args.limit is not None and number > args.limit
    if args.json:
        print(json.dumps({"count": number, "at_least": more}))
    else:
        print(f"more than {args.limit}" if more else number)
    return int(more)


def run_info(args: argparse.Namespace) -> int:
    from ..analysis.describe import describe
    from ..formats.listing import listing

    args.tokenizer = resolve_tokenizer(args, "IN", DEFAULT)
    tokenizer = _open_tokenizer(args)
    if args.show_tokens:
        print(listing(tokenizer.spec), end="")
        return 0
    facts = describe(tokenizer)
    if args.json:
        print(json.dumps(facts, ensure_ascii=False))
        return 0
    oddities, ids, sample = facts.pop("oddities"), facts.pop("sample_ids"), facts.pop("sample")
    facts["special_tokens"] = _first_few(facts["special_tokens"])
    facts["roles"] = ", ".join(f"{role} {name}" for role, name in facts["roles"].items()) or "none"
    facts["lossless"] = "yes" if facts["lossless"] else "no: the sample decodes to another text"
    facts["sample_text"] = f"{facts['sample_text']!r} is {' '.join(map(repr, sample))}, ids {' '.join(map(str, ids))}"
    for name, value in facts.items():
        if value not in (None, False):
            shown = f"{value:,}" if type(value) is int else "yes" if value is True else value
            print(f"{name.replace('_', ' '):22} {shown}")
    for oddity in oddities:
        print(f"{'odd':22} {oddity}")
    return 0


def _first_few(special: dict[str, int]) -> str:
    shown = ", ".join(f"{name} {token_id}" for name, token_id in list(special.items())[:8])
    return (shown or "none") + (f" and {len(special) - 8:,} more" if len(special) > 8 else "")


def run_convert(args: argparse.Namespace) -> int:
    from ..analysis.describe import SAMPLE
    from ..convert import check, convert, count_differing_lines, splits_differently

    args.tokenizer = resolve_tokenizer(args, "IN")
    tokenizer = _open_tokenizer(args).with_options(**roles(args))
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
    number = None if lossy else check(tokenizer, args.out, args.to, texts)
    if args.json:
        left_out = [{"feature": loss.feature, "was": loss.what, "changes_ids": loss.changes_ids} for loss in lost]
        facts = {"out": str(args.out), "to": args.to, "left_out": left_out, "texts_checked": number}
        print(json.dumps(facts if differ is None else {**facts, "lines_that_differ": differ}))
        return 0
    print(f"{args.out}: written as {args.to}, {len(tokenizer):,} tokens")
    for loss in lost:
        print(f"  left out: {loss.feature} ({loss.what[:240]})" + (", which changes ids" if loss.changes_ids else ""))
    texts_there = "" if number is None else f"{number} text" + ("" if number == 1 else "s")
    print(f"  ids equal on {texts_there}" if texts_there else "  ids not compared: the conversion is lossy")
    if differ is not None:
        print(f"  opened as GPT-2's files are, ids differ on {differ[0]:,} of {differ[1]:,} lines")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return the exit code."""
    repair_streams()
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return 0
    try:
        with warnings_as_lines():
            code: int = args.run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has exited, as with `| head`
        stdout_failure(None)
        return 1
    except (BPELabError, ValueError, OSError) as error:
        print(f"bpelab: {stdout_failure(error) or as_cli_message(str(error), args.parser)}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
