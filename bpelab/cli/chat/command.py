"""`bpelab chat` and `bpelab doctor`: their arguments, and the functions that run them.

Nothing heavy is imported until one of them is called.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...chat.models.suggested import to_try
from ...errors import BPELabError
from ..arguments import CommandMaker
from .options import (
    MODEL,
    add_answer_options,
    add_model_options,
    given_settings,
    open_session,
    prepare_process,
    template_source,
)

if TYPE_CHECKING:
    from ...chat.session import ChatSession

EXAMPLES = """\
examples:
  bpelab chat
  bpelab chat Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q4_K_M --temperature 0.7 --top-p 0.9
  bpelab chat ./my-model --backend transformers --system "Answer in one sentence."
  bpelab chat --prompt "What is a token?" --tokens
  printf 'What is a byte?\\nAnd a merge?\\n' | bpelab chat --json

Without MODEL, a small model that comes with bpelab answers questions about tokens. In a terminal, /help lists the
commands, Ctrl-C stops an answer, Ctrl-D leaves. From a pipe, each line is a message, and each answer is printed plainly
or, with --json, as one line of JSON. `bpelab doctor` shows which backends can run here.

A model without a chat template is a base model: it continues a text and answers no messages. In a terminal, it
continues what you type; otherwise use `bpelab complete`. --template asks it in another model's format.

"""
EXAMPLES += to_try()


def add_commands(command: CommandMaker) -> None:
    """Add the two commands."""
    chat = command("chat", "talk with a language model that runs on this machine", run_chat)
    chat.epilog = EXAMPLES
    chat.add_argument("model", nargs="?", metavar="MODEL", help=MODEL)
    add_model_options(chat)
    chat.add_argument("--template", help="a template's name, its Jinja source, or a file (default: the model's own)")
    chat.add_argument("--system", metavar="TEXT", help="the system message")
    chat.add_argument("--prompt", "-p", metavar="TEXT", help="one message: print the answer and exit")
    chat.add_argument("--load", metavar="FILE", help="continue a conversation that /save wrote")
    add_answer_options(chat, "answer")
    chat.add_argument(
        "--json", action="store_true", help="one line of JSON per answer; each line of input is a message"
    )
    doctor = command("doctor", "say what this machine has, and which backends can run on it", run_doctor)
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.add_argument(
        "--all", action="store_true", help="all models that were run, and llama.cpp for each kind of GPU"
    )


def run_doctor(args: Namespace) -> int:
    from ...chat.hardware.report import run

    return run(args.json, args.all)


def run_chat(args: Namespace) -> int:
    prepare_process(args.threads)
    from .batch import answer_lines
    from .output import Screen, one_line_error
    from .terminal import Terminal

    typed = args.prompt is None and not args.json and sys.stdin.isatty() and sys.stdout.isatty()
    try:
        session = _session(args, asks=not typed)
        screen = Screen(sys.stdout, tokens=args.tokens)
        if typed:
            return Terminal(session, screen).run()
        lines = _lines() if args.prompt is None else [args.prompt]
        return answer_lines(session, lines, screen, as_json=args.json)
    except (BPELabError, ValueError) as error:
        raise BPELabError(one_line_error(error)) from error  # the message may contain anything from a file


def _session(args: Namespace, *, asks: bool) -> "ChatSession":
    """Open the session, and load the conversation if one is named; `asks` says that the model will be asked."""
    template = template_source(args.template)
    if args.load is None:
        return open_session(args, template=template, system=args.system, asks=asks or args.system is not None)
    if args.system is not None:
        raise BPELabError("--load has its own system message: leave out --system")
    from dataclasses import replace

    session = open_session(args, template=template, asks=True)
    session.load(args.load)
    session.sampling = replace(session.sampling, **given_settings(args))  # the command line takes precedence
    if args.max_new_tokens is not None:
        session.max_new_tokens = args.max_new_tokens
    return session


def _lines() -> Iterator[str]:
    """Yield the lines of standard input as they arrive."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise BPELabError(f"standard input, line {number}: is not UTF-8: {error.reason}") from error
