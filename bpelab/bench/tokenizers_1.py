"""tokenizers 1.0, a release candidate, beside the installed tokenizers: one environment can't have two versions.

It lies in a folder of its own, and is imported from there under the same name, for encoding and decoding only.
"""

import os
import sys
from functools import cache
from importlib import import_module, metadata
from typing import Any

from .library import Library

VERSION_1 = "1.0.0rc3"
"""The version that was tried."""
FOLDER_1 = "BPELAB_BENCH_TOKENIZERS_1"
"""The environment variable for its folder."""


class Tokenizers1(Library):
    """The library, whose version and whose files are in that folder."""

    def version(self) -> str | None:
        folder = os.environ.get(FOLDER_1)
        installed = metadata.distributions(name="tokenizers", path=[folder]) if folder else ()
        return next((one.version for one in installed if one.version.startswith("1.")), None)

    def why_unavailable(self) -> str | None:
        if self.version() is not None:
            return None
        return f"not installed: pip install --no-deps --target FOLDER tokenizers=={VERSION_1}, and {FOLDER_1}=FOLDER"


@cache
def tokenizers_1() -> Any:
    """Import tokenizers 1.0; the installed version keeps the name `tokenizers`."""
    folder = os.environ[FOLDER_1]
    others = _take_modules()
    sys.path.insert(0, folder)
    try:
        return import_module("tokenizers")
    finally:
        sys.path.remove(folder)
        _take_modules()
        sys.modules.update(others)


def _take_modules() -> dict[str, Any]:
    """Remove tokenizers and its submodules from the imported modules, and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] == "tokenizers"]
    return {name: sys.modules.pop(name) for name in names}
