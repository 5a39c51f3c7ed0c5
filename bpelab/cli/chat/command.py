"""`bpelab chat` and `bpelab doctor`: their arguments, and the functions that run them.

Nothing heavy is imported until one of them is called.
"""

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...chat.models.suggested import to_try
from ...errors import BPELabError
from ..arguments import CommandMaker, positive_int

if TYPE_CHECKING:
    from ...chat.session import ChatSession

EXAMPLES = """\
examples:
  bpelab chat
  bpelab chat --model bartowski/Qwen2.5-0.5B-Instruct-GGUF:Q4_K_M --temperature 0.7 --top-p 0.9
  bpelab chat --model ./my-model --backend transformers --system "Answer in one sentence."
  bpelab chat --prompt "What is a token?" --tokens
  printf 'What is a byte?\\nAnd a merge?\\n' | bpelab chat --json

Without --model, a small model that comes with bpelab answers questions about tokens. In a terminal, /help lists the
commands, Ctrl-C stops an answer, Ctrl-D leaves. From a pipe, each line is a message, and each answer is printed plainly
or, with --json, as one line of JSON. `bpelab doctor` shows which backends can run here.

"""
EXAMPLES += to_try()
SETTINGS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed")


def add_commands(command: CommandMaker) -> None:
    """Add the two commands."""
    chat = command("chat", "talk with a language model that runs on this machine", run_chat)
    chat.epilog = EXAMPLES
    chat.add_argument(
        "--model", "-m", help="a GGUF file, a folder, or a Hub id such as owner/name or owner/name:Q4_K_M"
    )
    chat.add_argument("--tokenizer", "-t", help="a tokenizer to use instead of the model's own; see `bpelab --help`")
    chat.add_argument("--backend", default="auto", help="what runs the model; see `bpelab doctor` (default: auto)")
    chat.add_argument(
        "--device", metavar="NAME", help="cpu, gpu, or the backend's own name (default: the best; cpu if that fails)"
    )
    chat.add_argument("--template", help="a template's name, its Jinja source, or a file (default: the model's own)")
    chat.add_argument("--system", metavar="TEXT", help="the system message")
    chat.add_argument("--prompt", "-p", metavar="TEXT", help="one message: print the answer and exit")
    chat.add_argument("--load", metavar="FILE", help="continue a conversation that /save wrote")
    chat.add_argument(
        "--max-new-tokens", type=positive_int, metavar="N", help="maximum tokens per answer (default: 256)"
    )
    chat.add_argument(
        "--n-ctx", type=positive_int, metavar="N", help="context size in tokens (default: the model's, <= 4096)"
    )
    chat.add_argument("--n-gpu-layers", type=int, metavar="N", help="layers on the GPU (default: all that fit)")
    chat.add_argument("--threads", type=positive_int, metavar="N", help="threads (default: the backend's own choice)")
    chat.add_argument("--temperature", type=float, help="temperature; 0, the default, takes the likeliest token")
    chat.add_argument("--top-k", type=int, metavar="N", help="sample from the N likeliest tokens only")
    chat.add_argument(
        "--top-p", type=float, metavar="P", help="sample from the likeliest tokens that together reach this probability"
    )
    chat.add_argument(
        "--min-p",
        type=float,
        metavar="P",
        help="sample from tokens with this fraction of the best one's probability",
    )
    chat.add_argument("--repetition-penalty", type=float, metavar="X", help="make earlier tokens less likely (1: off)")
    chat.add_argument("--seed", type=int, metavar="N", help="random seed, to repeat the same choices")
    chat.add_argument("--tokens", action="store_true", help="show where tokens begin and end")
    chat.add_argument(
        "--json", action="store_true", help="one line of JSON per answer; each line of input is a message"
    )
    doctor = command("doctor", "say what this machine has, and which backends can run on it", run_doctor)
    doctor.add_argument("--json", action="store_true", help="print JSON")


def run_doctor(args: Namespace) -> int:
    from ...chat.hardware.report import run

    return run(args.json)


def run_chat(args: Namespace) -> int:
    from .batch import answer_lines
    from .output import Screen, one_line_error
    from .terminal import Terminal

    # Before NumPy is loaded: on matrices as small as the shipped model's, one thread is the fastest, and by far if the
    # machine is busy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(args.threads or 1))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal can't show becomes an escape
            stream.reconfigure(errors="backslashreplace")
    try:
        session = _session(args)
        screen = Screen(sys.stdout, tokens=args.tokens)
        if args.prompt is not None:
            return answer_lines(session, [args.prompt], screen, as_json=args.json)
        if args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return answer_lines(session, _lines(), screen, as_json=args.json)
        return Terminal(session, screen).run()
    except (BPELabError, ValueError) as error:
        raise BPELabError(one_line_error(error)) from error  # the message may contain anything from a file


def _session(args: Namespace) -> "ChatSession":
    from dataclasses import replace

    from ...chat.sampling import Sampling
    from ...chat.session import ChatSession

    tokenizer = None
    if args.tokenizer is not None:
        from ...tokenizer import open_tokenizer

        tokenizer = open_tokenizer(args.tokenizer)
    if args.load is not None and args.system is not None:
        raise BPELabError("--load has its own system message: leave out --system")
    given = {name: getattr(args, name) for name in SETTINGS if getattr(args, name) is not None}
    sampling = Sampling(**given)  # before anything is loaded
    told = args.model is not None and sys.stderr.isatty()
    if told:
        look = "Looking at what this machine has, then loading" if args.backend == "auto" else "Loading"
        print(f"{look} {args.model} ...", file=sys.stderr)
    session = ChatSession(
        args.model,
        tokenizer=tokenizer,
        backend=args.backend,
        template=template_source(args.template),
        system=args.system,
        n_ctx=args.n_ctx,
        n_gpu_layers=args.n_gpu_layers,
        threads=args.threads,
        device=args.device,
        sampling=sampling,
    )
    if told and session.choice is not None:
        print(f"Took {session.choice.backend} on {session.backend.device}: {session.choice.why}.", file=sys.stderr)
    if args.load is not None:
        session.load(args.load)
        session.sampling = replace(session.sampling, **given)  # the command line takes precedence
    if args.max_new_tokens is not None:
        session.max_new_tokens = args.max_new_tokens
    return session


def template_source(name: str | None) -> str | None:
    """Return a template's name or source; for the name of a file, return the file's content."""
    from ...chat_templates.builtin import NAMED

    if name is None or name in NAMED or not os.path.isfile(name):  # Jinja may be too long to be a path
        return name
    try:
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BPELabError(f"{name}: can't be read as a template: {error}") from error


def _lines() -> Any:
    """Yield the lines of standard input as they arrive."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise BPELabError(f"standard input, line {number}: is not UTF-8: {error.reason}") from error
