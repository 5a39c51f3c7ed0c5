"""The conformance kit: recorded cases, fuzzing against the reference, hostile files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import SHARED, amount, shared

ADAPTER = Path(__file__).with_name("adapter.py")


def listed(folder: str) -> list[str]:
    """What the kit has in one of its folders; one name that is skipped where there is no kit."""
    found = sorted(entry.name for entry in (SHARED / "conformance" / folder).glob("*/"))
    return found or ["(the kit is not here)"]


TOKENIZERS = listed("tokenizers")


def kit(root: Path, *words: str) -> str:
    """Run a command of the kit, which looks for everything, tiktoken's vocabularies too, under one folder."""
    script = shared("conformance/conformance.py")
    for entry in script.parent.iterdir():
        (root / entry.name).symlink_to(entry)
    if cache := os.environ.get("TIKTOKEN_CACHE_DIR"):
        (root / "tiktoken_cache").symlink_to(cache)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "REL_ROOT": str(root)}
    done = subprocess.run(
        [sys.executable, str(script), words[0], "--adapter", str(ADAPTER), *words[1:]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-2_000:]
    return done.stdout


@pytest.mark.parametrize("name", TOKENIZERS)
def test_recorded_cases(name, tmp_path):
    assert "TOTAL" in kit(tmp_path, "check", "--only", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENIZERS)
def test_fuzz(name, tmp_path):
    pytest.importorskip("tiktoken")
    pytest.importorskip("tokenizers")
    iterations = amount(300, 5_000)
    assert f"TOTAL {iterations}/{iterations}" in kit(tmp_path, "fuzz", "--only", name, "--iters", str(iterations))


@pytest.mark.parametrize("name", listed("hostile"))
def test_hostile(name, tmp_path):
    assert "bad: 0" in kit(tmp_path, "hostile", "--only", name)
