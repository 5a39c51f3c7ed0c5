"""Adapting a model while the process is ended, on full disks and in closed folders: a whole folder or none."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from ..conftest import amount
from .test_disks import disk  # noqa: F401 - a fixture
from .test_killed import drive

pytest.importorskip("safetensors")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="ends children, which needs fork"),
]


def test_processes_that_are_ended(tmp_path):
    drive("adapting:killed", tmp_path, amount(10, 400))


def test_files_that_cannot_grow(tmp_path):
    drive("adapting:sizes", tmp_path, amount(6, 300))


def test_a_full_disk(disk):  # noqa: F811
    drive("adapting:full", disk, amount(10, 200))


def test_a_read_only_file_system(disk):  # noqa: F811
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
    drive("adapting:closed", disk, 1)


def test_a_folder_of_another_user():
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can become a user who has no leave to write")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are for one user alone, from the top on
        Path(folder).chmod(0o755)
        drive("adapting:closed", Path(folder), 0)
