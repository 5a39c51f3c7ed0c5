"""`bpelab complete`: a model continues a text. Its arguments, and the function that runs it."""

import sys
from argparse import Namespace

from ...errors import BPELabError
from ..arguments import CommandMaker, add_text_source, read_text_argument
from .options import MODEL, add_answer_options, add_model_options, open_session, prepare_process

EXAMPLES = """\
examples:
  bpelab complete ./gemma-3-270m.gguf "Once upon a time"
  bpelab complete ./gemma-3-270m.gguf "def area(radius):" --max-new-tokens 40 --tokens
  bpelab complete ./gemma-3-270m.gguf "The weather" --temperature 0.8 --top-p 0.95 --seed 1
  bpelab complete ./gemma-3-270m.gguf "https://www.wiki" --exact
  printf 'One, two, three,' | bpelab complete ./gemma-3-270m.gguf

Only what the model adds is printed, or, with --json, one line of JSON. No chat template is used, so this is for base
models, which know none; a model for conversations continues a text, too. At temperature 0, the default, base models
often repeat themselves. A text that ends inside a word or after a space needs --exact, or the model goes on from tokens
that it may never have seen there; its cost in calls of the model is part of --json. `echo` ends a text with a line
feed, which the model reads; `printf` doesn't.
"""


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    complete = command("complete", "let a language model continue a text", run_complete)
    complete.epilog = EXAMPLES
    complete.add_argument("model", metavar="MODEL", help=MODEL)
    add_text_source(complete)
    add_model_options(complete)
    add_answer_options(complete, "completion")
    complete.add_argument(
        "--exact", action="store_true", help="choose the text's last tokens, too; it may end anywhere"
    )
    complete.add_argument("--json", action="store_true", help="print one line of JSON")


def run_complete(args: Namespace) -> int:
    text = read_text_argument(args)
    prepare_process(args.threads)
    from .batch import show
    from .output import Screen, one_line_error

    try:
        session = open_session(args)
        pieces = session.stream_completion(text, exact=args.exact)
        return show(session, pieces, Screen(sys.stdout, tokens=args.tokens), as_json=args.json)
    except (BPELabError, ValueError) as error:
        raise BPELabError(one_line_error(error)) from error  # the message may contain anything from a file
