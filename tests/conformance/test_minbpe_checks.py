"""What minbpe's tests check, on bpelab behind minbpe's names (adapters/minbpe.py), with texts of our own.

Its test file itself runs too where a checkout is named in BPELAB_MINBPE. Deliberate differences: none.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bpelab.notebook import book_text, passages

from ..conftest import ROOT, encoding
from .adapters.minbpe import BasicTokenizer, GPT4Tokenizer, RegexTokenizer

TEXTS = ["", "?", "hello world!!!? (안녕하세요!) lol123 \U0001f609", passages("stories")["the-misprint"]]
SPECIAL = {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260,
           "<|endofprompt|>": 100276}  # fmt: skip
DOCUMENTS = (
    "<|endoftext|>The harbour lies still.\n<|endoftext|><|fim_prefix|>One part<|fim_suffix|> and the end"
    "<|fim_middle|>, joined\n<|endoftext|>The last one \U0001f44b<|endofprompt|>"
)


@pytest.mark.parametrize("kind", [BasicTokenizer, RegexTokenizer, GPT4Tokenizer])
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_there_and_back(kind, text):
    if kind is GPT4Tokenizer:
        encoding("cl100k_base")
    tokenizer = kind()
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_gpt4(text):
    theirs = encoding("cl100k_base")
    assert GPT4Tokenizer().encode(text) == theirs.encode(text)


def test_gpt4_special_tokens():
    theirs = encoding("cl100k_base")
    ours = GPT4Tokenizer().encode(DOCUMENTS, allowed_special="all")
    assert ours == theirs.encode(DOCUMENTS, allowed_special="all")
    with pytest.raises(ValueError, match="endoftext"):  # minbpe's default, "none_raise"
        GPT4Tokenizer().encode(DOCUMENTS)


@pytest.mark.parametrize("kind", [BasicTokenizer, RegexTokenizer])
def test_wikipedia(kind):
    """The example of Wikipedia's article on byte-pair encoding: three merges make XdXac of aaabdaaabac."""
    tokenizer = kind()
    tokenizer.train("aaabdaaabac", 256 + 3)
    assert tokenizer.encode("aaabdaaabac") == [258, 100, 258, 97, 99]
    assert tokenizer.decode([258, 100, 258, 97, 99]) == "aaabdaaabac"


@pytest.mark.parametrize("special", [{}, SPECIAL], ids=["plain", "special"])
def test_saved_and_loaded(special, tmp_path):
    text = DOCUMENTS + book_text()[:3_000]
    tokenizer = RegexTokenizer()
    tokenizer.train(text, 256 + 64)
    tokenizer.register_special_tokens(special)
    ids = tokenizer.encode(text, "all")
    assert tokenizer.decode(ids) == text
    tokenizer.save(tmp_path / "saved")
    again = RegexTokenizer()
    again.load(tmp_path / "saved.model")
    assert again.encode(text, "all") == ids
    assert again.decode(ids) == text


@pytest.mark.slow
def test_its_own_file(tmp_path):
    checkout = os.environ.get("BPELAB_MINBPE")
    if not checkout:
        pytest.skip("minbpe is on no index: BPELAB_MINBPE names a checkout of it")
    encoding("cl100k_base")
    shutil.copytree(Path(checkout) / "tests", tmp_path / "tests")
    shutil.copy(Path(__file__).parent / "adapters" / "minbpe.py", tmp_path / "minbpe.py")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        tmp_path,
        tmp_path / "tests",
    ]
    path = os.pathsep.join((str(tmp_path), str(ROOT)))
    done = subprocess.run(
        [*command, "--ignore=tests/test_merge.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    assert re.search(r"\d+ passed", done.stdout)
