"""The test suites of other libraries, as they are, on this library's names for theirs.

`peers/` has their files, with the licence beside them. What is changed on the way is the import, and that hypothesis
draws no text with a special token: it takes strings from our sources, and `encode` refuses such a text by design, here
as there. Deliberate differences are listed here: a test that checks for one is deselected by name, and there is none so
far.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import ROOT, encoding

PEERS = Path(__file__).parent / "peers"
DIFFERENCES: dict[str, list[str]] = {"tiktoken": []}


@pytest.mark.slow
def test_those_of_tiktoken(tmp_path):
    """Of tiktoken 0.14.0. All of its encodings are opened: five files."""
    encoding("o200k_harmony")
    folder = Path(shutil.copytree(PEERS / "tiktoken", tmp_path / "suite"))
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"(?m)^import tiktoken$", "import bpelab.tiktoken as tiktoken", text)
        text = text.replace("st.text()", 'st.text().filter(lambda drawn: "<|" not in drawn)')
        path.write_text(text, encoding="utf-8")
    left_out = [f"--deselect={name}" for name in DIFFERENCES["tiktoken"]]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, *left_out, folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2_000, check=False)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    assert re.search(r"\b3[0-9] passed", done.stdout), done.stdout[-200:]
