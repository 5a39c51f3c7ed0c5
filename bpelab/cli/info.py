"""`bpelab info`: its arguments, and the function that runs it."""

from __future__ import annotations

import json
from argparse import Namespace

from .arguments import DEFAULT, CommandMaker, add_input_tokenizer, open_input_tokenizer


def add_commands(command: CommandMaker) -> None:
    """Add the command."""
    info = command("info", "describe a tokenizer", run_info)
    add_input_tokenizer(info, f"the tokenizer to describe (default: {DEFAULT})")
    info.add_argument("--show-tokens", action="store_true", help="list every token with its id, rank and parts")
    info.add_argument("--json", action="store_true", help="print JSON")


def run_info(args: Namespace) -> int:
    from ..analysis.describe import describe
    from ..formats.listing import listing

    tokenizer = open_input_tokenizer(args, DEFAULT)
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
    lost = facts.pop("losses")
    facts["lossless"] = f"no: {'; '.join(lost)}" if lost else "yes"
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
