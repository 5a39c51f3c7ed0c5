"""`bpelab count`: its arguments, and the function that runs it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..errors import BPELabError
from .arguments import CommandMaker, add_text_options, open_named_tokenizer, text_argument
from .stdio import print_json


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    count = command("count", "count tokens", run_count)
    add_text_options(count)
    count.add_argument("--limit", type=int, help="stop counting beyond it; exit code 1 if there are more")
    count.add_argument(
        "--chat",
        type=Path,
        metavar="FILE",
        help="count a conversation, JSON: a list of messages, or an object with messages and perhaps tools",
    )
    count.add_argument("--template", help="for --chat: a template's name (chatml, llama3 ...), its source, or a file")


def run_count(args: Namespace) -> int:
    if args.chat is not None:
        if args.special or any(given is not None for given in (args.text, args.file, args.literal)):
            raise BPELabError("--chat counts the messages of its file: leave out the text, --file and --special")
        number = _count_conversation(args)
    else:
        if args.template is not None:
            raise BPELabError("--template is for a conversation: --chat FILE names one")
        number = _count_text(args)
    more = args.limit is not None and number > args.limit
    if args.json:
        print_json({"count": number, "at_least": more})
    else:
        print(f"more than {args.limit}" if more else number)
    return int(more)


def _count_text(args: Namespace) -> int:
    text, tokenizer, special = text_argument(args), open_named_tokenizer(args), "all" if args.special else ()
    if isinstance(text, str):
        return tokenizer.count_tokens(text, args.limit, allowed_special=special)
    from ..core.token_limit import count_capped
    from ..streaming import StreamEncoder

    counts = map(len, StreamEncoder(tokenizer, allowed_special=special).stream(text))
    return sum(counts) if args.limit is None else count_capped(counts, args.limit)


def _count_conversation(args: Namespace) -> int:
    from ..chat import NAMED, count_conversation
    from .chat.conversation_file import read_conversation
    from .chat.options import template_source

    tokenizer, template = open_named_tokenizer(args), template_source(args.template)
    if template in NAMED:  # a control token that the tokenizer lacks counts as one id, whichever it is
        tokenizer = tokenizer.with_special_tokens(NAMED[template].missing_tokens(tokenizer))
    messages, tools = read_conversation(args.chat)
    return count_conversation(tokenizer, messages, template, tools=tools)
