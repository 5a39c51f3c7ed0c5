"""nbval, strict: every stored output is compared. One exemption, decided here and for one reason only.

Cells tagged `tiktoken` compare with OpenAI's published vocabularies. Where those are neither cached nor reachable the
cells are skipped, with this reason; no other cell needs what they make.
"""

import os
from functools import lru_cache
from pathlib import Path

import pytest

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


def pytest_collection_modifyitems(items):
    for item in items:
        cell = getattr(item, "cell", None)
        tagged = cell is not None and "tiktoken" in cell.metadata.get("tags", [])
        if tagged and not vocabularies_are_here():
            item.add_marker(pytest.mark.skip("tiktoken's published vocabularies are neither cached nor reachable"))
