"""No room and no leave to write: an error that names the file, the old files as they were, nothing left behind."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ..conftest import amount
from .test_killed import drive

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="ends children, which needs fork"),
]


@pytest.fixture
def disk(tmp_path):
    """A disk of 100 kB."""
    if not sys.platform.startswith("linux") or shutil.which("mount") is None:
        pytest.skip("a small disk is mounted as Linux does it")
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=100k", "none", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk can't be mounted here: {done.stderr.strip()[:200]}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=False)


def test_files_that_cannot_grow(tmp_path):
    drive("disks:sizes", tmp_path, amount(8, 1_000))


def test_a_full_disk(disk):
    drive("disks:full", disk, amount(6, 100), BPELAB_CACHE="")


def test_a_cache_on_a_full_disk(disk):
    drive("disks:no_cache", disk, 1)


def test_a_read_only_file_system(disk):
    subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
    drive("disks:closed", disk, 1)


def test_folders_of_another_user():
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can become a user who has no leave to write")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are for one user alone, from the top on
        Path(folder).chmod(0o755)
        drive("disks:closed", Path(folder), 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_standard_output_without_room(tmp_path):
    drive("disks:speechless", tmp_path, amount(3, 8))


@pytest.mark.parametrize("buffered", ["0", ""])
def test_standard_output_that_was_closed(buffered):
    """What is printed is lost, and that is said; a standard input that was closed is an empty one."""
    words = f"{sys.executable} -m bpelab doctor >&- <&-"
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr.startswith("bpelab: standard output can't be written: ") and done.stderr.count("\n") == 1
