"""The command line: the commands by name, the parser, and how errors are shown.

A command is imported when it is called; `bpelab --help` imports all of them. Exit codes: 0 done; 1 an error in the
input, described in one line on standard error; 2 wrong usage; 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from .. import __version__
from ..errors import BPELabError
from .arguments import Parser
from .messages import as_cli_message, warnings_as_lines
from .stdio import repair_streams, stdout_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

COMMANDS = {
    "train": "train",
    "extend": "extend",
    "prune": "prune",
    "encode": "encode",
    "decode": "encode",
    "stream": "stream",
    "count": "count",
    "info": "info",
    "convert": "convert",
    "diff": "diff",
    "lock": "lock",
    "encode-files": "shards",
    "verify": "shards",
    "report": "report",
    "publish": "publish",
    "upload": "publish",
    "adapt": "adapt",
    "chat": "chat.command",
    "doctor": "chat.command",
    "complete": "chat.complete",
    "bench": "bench",
    "completion": "completion",
}
"""Each command -> the module that adds it, in the order of `bpelab --help`."""
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
  bpelab diff cl100k_base my-tokenizer --corpus notes.txt
  bpelab lock my-tokenizer --out my-tokenizer.lock.json
  bpelab verify --lock my-tokenizer.lock.json
  bpelab encode-files corpus/ --out shards --tokenizer my-tokenizer --end-of-document '<|endoftext|>'
  bpelab verify shards --against --tokenizer my-tokenizer
  bpelab report my-tokenizer gpt2 --text notes.txt
  bpelab publish my-tokenizer harbour --text unseen.txt
  bpelab upload harbour me/harbour
  bpelab adapt my-model --corpus notes.txt --add 2000 --out adapted
  bpelab chat
  bpelab doctor
  bpelab complete gemma-3-270m.gguf "Once upon a time"
  bpelab bench --quick
  bpelab completion bash > ~/.local/share/bash-completion/completions/bpelab

A tokenizer is a folder or a file: tokenizer.json, GGUF, SentencePiece's or minbpe's .model, GPT-2's vocab.json with
merges.txt, .tiktoken (the last two with --pattern); or a name that tiktoken knows: cl100k_base,
which is the default, or gpt-4o, say (needs the tiktoken package).
Text comes from the argument, from --file, or from standard input; an argument that is the name of a file is refused.
"""


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Build the parser of the whole command line, or of only one command.

    >>> sorted(build_parser().parse_args(["count", "low"]).__dict__) == sorted(
    ...     build_parser("count").parse_args(["count", "low"]).__dict__
    ... )
    True
    """
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

    for module in dict.fromkeys(COMMANDS.values() if only is None else [COMMANDS[only]]):
        import_module(f".{module}", __package__).add_commands(command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return the exit code."""
    repair_streams()
    words = sys.argv[1:] if argv is None else argv
    parser = build_parser(words[0] if words and words[0] in COMMANDS else None)
    args = parser.parse_args(words)
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
    except MemoryError:
        print(
            "bpelab: there is not enough memory for this; `bpelab stream` and `bpelab count --file` take a text of any "
            "length in parts",
            file=sys.stderr,
        )
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
