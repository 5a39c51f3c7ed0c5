"""What `bpelab chat` and `bpelab complete` share: the options for a model and its choices, and the session they open.

Nothing heavy is imported until a session is opened.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import BPELabError
from ..arguments import positive_int
from .leaving import leaving_at_interrupt

if TYPE_CHECKING:
    from ...chat.session import ChatSession
    from ...tokenizer import BPETokenizer

SETTINGS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed")
MODEL = "a GGUF file, a folder, or a Hub id such as owner/name or owner/name:Q4_K_M"
NOT_ASKED = (
    "{0} is a base model, without a chat template: it continues a text and answers no messages. `bpelab complete {0} "
    "TEXT` lets it continue one; --template alpaca asks it in a format that it wasn't trained on"
)


def add_model_options(parser: ArgumentParser) -> None:
    """Add the options that say how a model is run."""
    parser.add_argument("--tokenizer", "-t", help="a tokenizer to use instead of the model's own; see `bpelab --help`")
    parser.add_argument("--backend", default="auto", help="what runs the model; see `bpelab doctor` (default: auto)")
    parser.add_argument(
        "--device", metavar="NAME", help="cpu, gpu, or the backend's own name, as OpenVINO's NPU (default: the best)"
    )
    parser.add_argument(
        "--n-ctx", type=positive_int, metavar="N", help="context size in tokens (default: the model's, <= 4096)"
    )
    parser.add_argument("--n-gpu-layers", type=int, metavar="N", help="layers on the GPU (default: all that fit)")
    parser.add_argument(
        "--threads", type=positive_int, metavar="N", help="CPU threads (default: one for each physical core)"
    )


def add_answer_options(parser: ArgumentParser, what: str) -> None:
    """Add the options that say how tokens are chosen and shown; `what` names what the model writes."""
    parser.add_argument(
        "--max-new-tokens", type=positive_int, metavar="N", help=f"maximum tokens per {what} (default: 256)"
    )
    parser.add_argument("--temperature", type=float, help="temperature; 0, the default, takes the likeliest token")
    parser.add_argument("--top-k", type=int, metavar="N", help="sample from the N likeliest tokens only")
    parser.add_argument(
        "--top-p", type=float, metavar="P", help="sample from the likeliest tokens that together reach this probability"
    )
    parser.add_argument(
        "--min-p",
        type=float,
        metavar="P",
        help="sample from tokens with this fraction of the best one's probability",
    )
    parser.add_argument(
        "--repetition-penalty", type=float, metavar="X", help="make earlier tokens less likely (1: off)"
    )
    parser.add_argument("--seed", type=int, metavar="N", help="random seed, to repeat the same choices")
    parser.add_argument("--tokens", action="store_true", help="show where tokens begin and end")
    parser.add_argument(
        "--top-tokens",
        type=positive_int,
        default=0,
        metavar="N",
        help="show a line for each token: its probability, then the N likeliest tokens at this place",
    )


def prepare_process(threads: int | None) -> None:
    """Set up the process for a model's answers, before NumPy is loaded.

    On matrices as small as the shipped model's, one thread is the fastest, and by far if the machine is busy.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(threads or 1))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that the terminal can't show becomes an escape
            stream.reconfigure(errors="backslashreplace")


def given_settings(args: Namespace) -> dict[str, Any]:
    """Return the sampling settings that the command line names."""
    return {name: getattr(args, name) for name in SETTINGS if getattr(args, name) is not None}


def open_session(
    args: Namespace, *, template: str | None = None, system: str | None = None, asks: bool = False
) -> "ChatSession":
    """Open the model that the arguments name; at a terminal, say what is loaded, and what runs it.

    With `asks`, raise BPELabError for a model without a template, before it's loaded. Ctrl-C ends the process soon.
    """
    with leaving_at_interrupt():
        return _open_session(args, template, system, asks)


def _open_session(args: Namespace, template: str | None, system: str | None, asks: bool) -> "ChatSession":
    from ...chat.base_models import has_template
    from ...chat.models.find import find_model
    from ...chat.sampling import Sampling
    from ...chat.session import ChatSession

    sampling = Sampling(**given_settings(args))  # before anything is loaded
    tokenizer = None
    if args.tokenizer is not None:
        from ...tokenizer import open_tokenizer

        tokenizer = open_tokenizer(args.tokenizer)
    told = args.model is not None and sys.stderr.isatty()
    if told:
        look = "Looking at what this machine has, then loading" if args.backend == "auto" else "Loading"
        print(f"{look} {args.model} ...", file=sys.stderr)
    files = find_model(args.model)
    if tokenizer is None and (asks or template is not None):
        tokenizer = files.tokenizer()
    if tokenizer is not None:
        plain = asks and template is None and not has_template(tokenizer)
        if plain and (args.tokenizer is None or not has_template(files.tokenizer())):
            raise BPELabError(NOT_ASKED.format(files.name))
        check_template(files.name, tokenizer, template)
    session = ChatSession(
        files,
        tokenizer=tokenizer,
        backend=args.backend,
        template=template,
        system=system,
        n_ctx=args.n_ctx,
        n_gpu_layers=args.n_gpu_layers,
        threads=args.threads,
        device=args.device,
        sampling=sampling,
    )
    if told and session.choice is not None:
        print(f"Took {session.choice.backend} on {session.backend.device}: {session.choice.why}.", file=sys.stderr)
    session.top_tokens = args.top_tokens
    if args.max_new_tokens is not None:
        session.max_new_tokens = args.max_new_tokens
    return session


def check_template(model: str, tokenizer: "BPETokenizer", template: str | None) -> None:
    """Raise BPELabError for a named template whose special tokens `model` lacks, with the names of others."""
    from ...chat_templates.builtin import NAMED

    if template in NAMED and (missing := NAMED[template].missing_tokens(tokenizer)):
        others = [name for name, each in NAMED.items() if not each.missing_tokens(tokenizer)]
        raise BPELabError(
            f"the template {template} needs tokens that {model} doesn't have: {', '.join(missing)}. "
            f"It has those of {', '.join(others)}"
        )


def template_source(name: str | None) -> str | None:
    """Return a template's name or source; for the name of a file, return the file's content."""
    from ...chat_templates.builtin import NAMED

    if name is None or name in NAMED or not os.path.isfile(name):  # Jinja may be too long to be a path
        return name
    try:
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BPELabError(f"{name}: can't be read as a template: {error}") from error
