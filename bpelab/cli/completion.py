"""`bpelab completion`: prints a shell script that completes commands, options and files, written by shtab."""

import argparse
from collections.abc import Callable
from typing import Any

from .._support.install import install_command
from ..errors import MissingDependencyError

SHELLS = ("bash", "zsh", "tcsh")
EXAMPLES = """\
examples:
  bpelab completion bash > ~/.local/share/bash-completion/completions/bpelab
  bpelab completion zsh > ~/.zsh/_bpelab    # a folder of $fpath, before compinit
  eval "$(bpelab completion bash)"          # in this shell alone

Open a new shell after the first two. Then Tab completes commands, options and the names of files.
"""


def add_commands(command: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes its parser from a name, a line of help, and the function to run."""
    completion = command("completion", "print a script that completes bpelab's commands in a shell", run_completion)
    completion.epilog = EXAMPLES
    completion.add_argument("shell", choices=SHELLS, help="the shell that reads it")


def run_completion(args: argparse.Namespace) -> int:
    """Print the script; return the exit code. Raises MissingDependencyError without shtab."""
    from .main import build_parser

    try:
        import shtab
    except ImportError as error:
        raise MissingDependencyError(f"shtab is not installed: {install_command('completion')}") from error
    print(shtab.complete(build_parser(), shell=args.shell))
    return 0
