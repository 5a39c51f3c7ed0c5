"""The command-line parser: argparse with suggestions for misspelt names, and argument types."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from .._support.textio import STANDARD_INPUT, names_file, text_blocks
from ..errors import BPELabError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, NoReturn

    from ..tokenizer import BPETokenizer

CommandMaker = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]
"""What makes a command's parser of its name, a line of help, and the function to run, which returns the exit code."""

DEFAULT = "cl100k_base"
"""The tokenizer of commands that are called without naming one."""

SYNONYMS = {"tokenize": "encode", "tokenise": "encode", "detokenize": "decode", "tokens": "count"}
"""The name of a command in other tools -> its name here."""

ROLES = {"bos": "begins a text", "eos": "ends a text", "pad": "pads a batch", "unk": "stands for unknown text"}
"""The role of a special token -> what a token with that role does."""


class Parser(argparse.ArgumentParser):
    """A parser that, like the parsers of its commands, suggests the nearest name for a misspelt one.

    >>> parser = Parser("bpelab")
    >>> _ = parser.add_argument("--tokenizer")
    >>> parser.suggestion("unrecognized arguments: --tokeniser gpt2")
    ': did you mean --tokenizer?'
    """

    def parse_args(self, args: Iterable[str] | None = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but report an unknown argument as an error of its command."""
        parsed, unknown = self.parse_known_args(None if args is None else [*args], namespace)
        if unknown:
            getattr(parsed, "parser", self).error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed

    def error(self, message: str) -> NoReturn:
        """Exit with the usage, the message and a suggestion."""
        super().error(message + self.suggestion(message))

    def suggestion(self, message: str) -> str:
        """Return a suggestion to add to argparse's message; "" if no name is similar."""
        from .._support.nearest_name import nearest

        if choice := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            meant = nearest(SYNONYMS.get(choice[1], choice[1]), re.findall(r"[\w-]+", choice[2]))
        elif unknown := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            for action in self._actions:
                if not action.option_strings and f"--{action.dest}" == unknown[1]:
                    return f": {action.metavar or action.dest} is given without {unknown[1]}"
            meant = nearest(unknown[1], [option for action in self._actions for option in action.option_strings])
        else:
            meant = None
        return f": did you mean {meant}?" if meant else ""


def positive_int(word: str) -> int:
    """Convert an argument to a number. Raises ArgumentTypeError for one below 1."""
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not at least 1")
    return number


positive_int.__name__ = "number"  # argparse shows this name in errors


def nonempty_path(text: str) -> Path:
    """Convert an argument to a path. Raises ArgumentTypeError for an empty one, which would be the current folder.

    >>> nonempty_path("mine").name
    'mine'
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name is neither a file nor a folder; . is the current folder")
    return Path(text)


def utf8_text(text: str) -> str:
    """Return a text argument unchanged.

    Raises BPELabError for bytes that aren't UTF-8, which Python passes on as surrogates.

    >>> utf8_text("naïve")
    'naïve'
    """
    wrong = next((index for index, char in enumerate(text) if "\udc80" <= char <= "\udcff"), None)
    if wrong is not None:
        raise BPELabError(f"the text is not UTF-8: byte 0x{ord(text[wrong]) - 0xDC00:02x} at character {wrong:,}")
    return text


def add_roles(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--bos`, `--eos`, `--pad` and `--unk`, each the name of a special token; their help texts end with `what`."""
    for role, does in ROLES.items():
        parser.add_argument(f"--{role}", metavar="NAME", help=f"the special token that {does}{what}")


def roles(args: argparse.Namespace) -> dict[str, str]:
    """Return the roles given on the command line as options of BPETokenizer: eos_token -> name."""
    return {f"{role}_token": name for role in ROLES if (name := getattr(args, role)) is not None}


def add_input_tokenizer(parser: argparse.ArgumentParser, what: str = "what to read; see `bpelab --help`") -> None:
    """Add the tokenizer to read, as an argument IN and as `-t`, and `--pattern`."""
    parser.add_argument("tokenizer", nargs="?", metavar="IN", help=what)
    parser.add_argument(
        "-t", "--tokenizer", dest="named", metavar="TOKENIZER", help="the same as IN, as in other commands"
    )
    parser.add_argument("--pattern", help="the split pattern, for files that don't contain one")


def open_input_tokenizer(args: argparse.Namespace, default: str | None = None) -> BPETokenizer:
    """Open the tokenizer named by IN or by `-t`, else the default; its name is `args.tokenizer` from then on.

    Raises BPELabError if both name one, or neither does and there is no default.
    """
    if args.tokenizer is not None and args.named is not None:
        raise BPELabError(f"a tokenizer was named twice, {args.tokenizer} and {args.named}: leave out IN or -t")
    names = [name for name in (args.tokenizer, args.named, default) if name is not None]
    if not names:
        raise BPELabError("no tokenizer was named: give IN, or -t TOKENIZER")
    args.tokenizer = names[0]
    return open_named_tokenizer(args)


def add_input_format(parser: argparse.ArgumentParser) -> None:
    """Add `--input-format` and `--field`, which say how corpus files are read."""
    parser.add_argument(
        "--input-format", metavar="FORMAT", help="text, jsonl, parquet, text.gz ... (default: by file name)"
    )
    parser.add_argument(
        "--field", default="text", help="the field of JSON Lines, the column of Parquet (default: text)"
    )


def add_summary_options(parser: argparse.ArgumentParser) -> None:
    """Add `--quiet` and `--json`, for commands that print a summary at the end."""
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no summary")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def add_tokenizer_options(parser: argparse.ArgumentParser) -> None:
    """Add the tokenizer, the options for opening it, and `--json`."""
    parser.add_argument("--tokenizer", "-t", default=DEFAULT, help=f"see `bpelab --help` (default: {DEFAULT})")
    parser.add_argument("--pattern", help="the split pattern, for a .tiktoken file")
    parser.add_argument(
        "--encoder", default="auto", help="auto, native, naive, heap, buckets or trie; all return the same ids"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_text_source(parser: argparse.ArgumentParser) -> None:
    """Add the text, and the options for its source."""
    parser.add_argument("text", nargs="?", help="the text; - or nothing for standard input")
    parser.add_argument("--file", type=Path, help="read the text from a file instead")
    parser.add_argument("--text", dest="literal", metavar="TEXT", help="the text, even if a file has that name")


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the text, the options for its source, and the tokenizer."""
    add_text_source(parser)
    parser.add_argument("--special", action="store_true", help="encode special tokens in the text as such")
    add_tokenizer_options(parser)


def open_named_tokenizer(args: argparse.Namespace) -> BPETokenizer:
    """Open the tokenizer that the arguments name."""
    from ..tokenizer import open_tokenizer

    return open_tokenizer(args.tokenizer, pattern=args.pattern, encoder=getattr(args, "encoder", "auto"))


def read_text_argument(args: argparse.Namespace) -> str:
    """Return the text that the arguments give. Raises BPELabError for more than one text, and for a file's name."""
    return "".join(text_argument(args))


def text_argument(args: argparse.Namespace) -> str | Iterator[str]:
    """Return what `read_text_argument` returns or, for a file or standard input, an iterator over its blocks."""
    if sum(given is not None for given in (args.text, args.file, args.literal)) > 1:
        raise BPELabError("give only one of the text, --text and --file")
    if args.literal is not None:
        return utf8_text(args.literal)
    if args.file is not None or args.text in (None, STANDARD_INPUT):
        return text_blocks(args.file or STANDARD_INPUT)
    text = utf8_text(args.text)
    if names_file(text):
        raise BPELabError(f"{text!r} is the name of a file: --file reads its content, --text takes the name as text")
    return text
