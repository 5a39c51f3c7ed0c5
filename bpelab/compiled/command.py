"""`bpelab warmup`: compile now what would be compiled later, say while a container's image is built."""

import argparse
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

from ..errors import BPELabError
from ..install import install_command
from .background import writable
from .kernel_folder import kernel_folder, numba_version


def add_command(command: Callable[[str, str, Any], argparse.ArgumentParser]) -> None:
    """Add the command; `command` makes a parser of a name, a line of help, and what to run."""
    warmup = command("warmup", "compile what encoding needs, and keep it for later runs", run_warmup)
    warmup.add_argument(
        "--tokenizer",
        "-t",
        nargs="+",
        default=[],
        metavar="NAME",
        help="tokenizers to make ready too",
    )


def run_warmup(args: argparse.Namespace) -> int:
    """Compile, and say what was done. Raises BPELabError where nothing can be kept."""
    from ..formats.detect import open_tokenizer

    if numba_version() is None:
        raise BPELabError(f"there is nothing to compile without numba: {install_command('fast')}")
    folder = kernel_folder()
    if folder is None:
        raise BPELabError("nothing is kept while BPELAB_CACHE is empty: name a folder, or unset it")
    if not writable(folder):
        raise BPELabError(f"{folder} can't be written to: name another folder in BPELAB_CACHE")
    from .warm import warm

    started = perf_counter(), process_time()
    done = warm()
    print(f"kernels for {' and '.join(done)}: {_took(*started)}, kept in {folder}")
    for name in args.tokenizer:
        started = perf_counter(), process_time()
        tokenizer = open_tokenizer(name, encoder="compiled")
        tokenizer.encode("a")
        print(f"{name}: {len(tokenizer):,} tokens, {_took(*started)}")
    return 0


def _took(wall: float, cpu: float) -> str:
    return f"{perf_counter() - wall:.1f} s ({process_time() - cpu:.1f} s of CPU time)"
