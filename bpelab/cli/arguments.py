"""The parser of the command line: argparse, with the nearest name for a misspelt one, and types of arguments."""

import argparse
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from .errors import BPELabError
from .nearest import nearest

ROLES = {"bos": "begins a text", "eos": "ends a text", "pad": "fills up a batch", "unk": "is for what is missing"}
"""What a special token may be to a model, and what that one does."""


class Parser(argparse.ArgumentParser):
    """A parser, and the parsers of its commands, that say what may have been meant.

    >>> parser = Parser("bpelab")
    >>> _ = parser.add_argument("--tokenizer")
    >>> parser.suggestion("unrecognized arguments: --tokeniser gpt2")
    ': did you mean --tokenizer?'
    """

    def parse_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """As argparse does, but what is unknown is an error of the command that it was written after."""
        parsed, unknown = self.parse_known_args(None if args is None else [*args], namespace)
        if unknown:
            getattr(parsed, "parser", self).error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed

    def error(self, message: str) -> NoReturn:
        """End with the usage, the message, and what may have been meant."""
        super().error(message + self.suggestion(message))

    def suggestion(self, message: str) -> str:
        """What may have been meant where argparse has this message; "" where nothing is near."""
        if choice := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            meant = nearest(choice[1], re.findall(r"[\w-]+", choice[2]))
        elif unknown := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            meant = nearest(unknown[1], [option for action in self._actions for option in action.option_strings])
        else:
            meant = None
        return f": did you mean {meant}?" if meant else ""


def some_path(text: str) -> Path:
    """A path. Raises ArgumentTypeError for an empty one, which would be the current folder.

    >>> some_path("mine").name
    'mine'
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name is no file and no folder; . is the current one")
    return Path(text)


def some_text(text: str) -> str:
    """An argument that is text. Raises BPELabError for bytes that are not UTF-8, which Python hands on as surrogates.

    >>> some_text("naïve")
    'naïve'
    """
    wrong = next((place for place, char in enumerate(text) if "\udc80" <= char <= "\udcff"), None)
    if wrong is not None:
        raise BPELabError(f"the text is not UTF-8: byte 0x{ord(text[wrong]) - 0xDC00:02x} at character {wrong:,}")
    return text


def add_roles(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--bos`, `--eos`, `--pad` and `--unk`, each the name of a special token; `what` says where it comes from."""
    for role, does in ROLES.items():
        parser.add_argument(f"--{role}", metavar="NAME", help=f"the special token that {does}{what}")


def roles(args: argparse.Namespace) -> dict[str, str]:
    """The roles that were given, as options of a BPETokenizer: eos_token -> name."""
    return {f"{role}_token": name for role in ROLES if (name := getattr(args, role)) is not None}


def add_named(parser: argparse.ArgumentParser, positional: str) -> None:
    """Add `-t`, `--tokenizer` to a command that takes a tokenizer as its argument `positional`, too."""
    parser.add_argument(
        "-t", "--tokenizer", dest="named", metavar="TOKENIZER", help=f"the same as {positional}, as in other commands"
    )


def tokenizer_named(args: argparse.Namespace, positional: str, default: str | None = None) -> str:
    """The tokenizer that was named once, either way; else the default.

    Raises BPELabError where it was named twice, and where it wasn't and there is no default.
    """
    given: str | None = args.tokenizer
    if given is not None and args.named is not None:
        raise BPELabError(f"a tokenizer was named twice, {given} and {args.named}: leave out {positional} or -t")
    found = given if args.named is None else args.named
    if found is None and default is None:
        raise BPELabError(f"no tokenizer was named: give {positional}, or -t TOKENIZER")
    return str(default if found is None else found)
