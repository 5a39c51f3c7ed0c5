"""Processes that are ended by `kill -9` while they write: before each of their steps, and at random moments."""

import os
import subprocess
import sys

import pytest

from bpelab import native

from ..conftest import ROOT, amount

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="ends children, which needs fork"),
]


def drive(what: str, folder, number: int, **environment: str) -> None:
    """Run `what` in a process of its own, in an empty folder."""
    folder.mkdir(exist_ok=True)
    words = [sys.executable, "-m", "tests.faults.driver", what, str(folder), str(number), "1"]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=3_000,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-5_000:]


def test_saving_in_each_format_and_a_conversation(tmp_path):
    drive("kills:saves", tmp_path, amount(10, 400))


def test_training_from_the_command_line(tmp_path):
    drive("kills:training", tmp_path, amount(5, 300), BPELAB_CACHE="")


def test_encoding_a_corpus_from_the_command_line(tmp_path):
    drive("kills:corpora", tmp_path, amount(3, 60), BPELAB_CACHE="")


@pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")
def test_kept_tables(tmp_path):
    drive("kills:tables", tmp_path, amount(5, 200))


def test_what_was_solved(tmp_path):
    drive("kills:progress", tmp_path, amount(10, 400))
