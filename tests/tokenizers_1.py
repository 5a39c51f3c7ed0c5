"""tokenizers 1.0, the release candidate of Hugging Face's next version, asked in a process of its own.

An environment holds one version of a package, and the tests' has 0.22. This one lies in a folder: that of
`BPELAB_BENCH_TOKENIZERS_1`, or one in the user's cache, where pip puts it once. Where it isn't and can't be fetched,
tests that need it are skipped and say so.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from bpelab.bench.tokenizers_1 import FOLDER_1, VERSION_1

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bpelab" / f"tokenizers-{VERSION_1}"
MINUTES = 2
ASK = """
import json, sys
from tokenizers import Tokenizer
path, texts, around = json.load(sys.stdin)
try:
    tokenizer = Tokenizer.from_file(path)
    tokenizer.padding = tokenizer.truncation = None
    answer = [row.ids for row in tokenizer.encode_batch(texts, add_special_tokens=around)]
except Exception as error:
    answer = str(error)
json.dump(answer, sys.stdout)
"""


class RefusedError(Exception):
    """tokenizers 1.0 doesn't open the file, or can't encode with it."""


@cache
def folder() -> Path:
    """The folder with the package, fetched if need be, or a skip that says why it can't be."""
    if named := os.environ.get(FOLDER_1):
        return Path(named)
    pytest.importorskip("numpy", reason="tokenizers 1.0 needs numpy")
    if not CACHE.exists():
        CACHE.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE.parent) as work:
            target = Path(work, "tokenizers")
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
            command += ["--disable-pip-version-check", "--target", str(target), f"tokenizers=={VERSION_1}"]
            try:
                done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60 * MINUTES)
            except subprocess.TimeoutExpired:
                pytest.skip(f"tokenizers {VERSION_1} didn't arrive within {MINUTES} minutes")
            if done.returncode:
                lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
                pytest.skip(f"tokenizers {VERSION_1} can't be downloaded here: {lines[-1]}")
            try:
                os.rename(target, CACHE)
            except OSError:  # another worker was faster
                if not CACHE.exists():
                    raise
    return CACHE


def encode(path: Path, texts: list[str], add_special_tokens: bool = False) -> list[list[int]]:
    """Each text's ids with a tokenizer.json, without truncation and padding. Raises RefusedError with the reason."""
    environment = {**os.environ, "PYTHONPATH": str(folder())}
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps([str(path), texts, add_special_tokens]),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
    )
    answer = json.loads(done.stdout)
    if isinstance(answer, str):
        raise RefusedError(answer)
    return answer
