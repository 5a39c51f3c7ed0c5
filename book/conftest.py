"""nbval, strict: every stored output is compared. Three exemptions, decided here and for these reasons only.

Cells tagged `tiktoken` compare with OpenAI's published vocabularies, those tagged `compiler` print what C does that
they compile, and those tagged `extension` run the library's own C. Where there are no such vocabularies, cached or
reachable, no C compiler and no headers of Python, or the extension was not built, they are skipped, with this reason;
no other cell needs what they make.
"""

import os
import shutil
import sysconfig
from functools import lru_cache
from pathlib import Path

import pytest

from bpelab.native import extension

os.environ["BPELAB_NO_PROGRESS"] = "1"  # solving the book's own solutions is nobody's progress
os.environ["BPELAB_MEASURE_ONCE"] = "1"  # cells that print what they measured are run, not compared
CACHED = Path(__file__).resolve().parents[2] / "shared" / "tiktoken-cache"
if CACHED.is_dir():
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(CACHED))


@lru_cache(1)
def vocabularies_are_here() -> bool:
    try:
        import tiktoken

        return tiktoken.get_encoding("cl100k_base").n_vocab > 0
    except Exception:
        return False


def a_compiler_is_here() -> bool:
    return shutil.which("cc") is not None and Path(sysconfig.get_paths()["include"], "Python.h").exists()


def pytest_collection_modifyitems(items):
    for item in items:
        cell = getattr(item, "cell", None)
        tags = [] if cell is None else cell.metadata.get("tags", [])
        if "tiktoken" in tags and not vocabularies_are_here():
            item.add_marker(pytest.mark.skip("tiktoken's published vocabularies are neither cached nor reachable"))
        if "compiler" in tags and not a_compiler_is_here():
            item.add_marker(pytest.mark.skip("there is no C compiler, or no Python.h"))
        if "extension" in tags and extension() is None:
            item.add_marker(pytest.mark.skip("the extension was not built: no C compiler"))
