"""Files that are written whole: with the permissions that they had, all of them or none, under a name that is said."""

import os
import stat
from pathlib import Path

import pytest

from bpelab._support.textio import write_all_atomically, write_atomically


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions(tmp_path, mask):
    """New files get what the process gives to new files; a conversation that is the user's alone stays so."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("before")
    old.chmod(0o600)
    before = os.umask(mask)
    try:
        write_all_atomically({old: b"1", new: b"2"})
    finally:
        assert os.umask(before) == mask
    assert (mode(old), mode(new)) == (0o600, 0o666 & ~mask)
    assert (old.read_bytes(), new.read_bytes()) == (b"1", b"2")


def test_all_or_none(tmp_path):
    first, second = tmp_path / "first", tmp_path / "none" / "second"
    first.write_text("before")
    with pytest.raises(FileNotFoundError) as raised:
        write_all_atomically({first: b"1", second: b"2"})
    assert raised.value.filename == str(second)
    assert first.read_text() == "before"
    assert os.listdir(tmp_path) == ["first"]


def test_a_folder_of_that_name(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match=r"a'$") as raised:
        write_atomically(tmp_path / "a", b"1")
    assert raised.value.filename == str(tmp_path / "a")
    assert os.listdir(tmp_path) == ["a"]


def test_what_killed_processes_left_is_deleted(tmp_path):
    """An hour after they wrote last; a younger file may be another process's, and other names are other files."""
    killed, young, *others = (
        tmp_path / name
        for name in (".a.0123abcd", ".a.4567cdef", ".b.0123abcd", ".a.0123abcx", ".a.b.0123abcd", "a.0123abcd")
    )
    for file in (killed, young, *others):
        file.write_bytes(b"part")
        os.utime(file, (0, 0))
    now = os.stat(tmp_path).st_mtime
    os.utime(young, (now - 3_000, now - 3_000))
    write_atomically(tmp_path / "a", b"1")
    assert {tmp_path / name for name in os.listdir(tmp_path)} == {tmp_path / "a", young, *others}


def test_a_folder_that_has_the_name_of_a_temporary_file(tmp_path):
    (tmp_path / ".a.0123abcd").mkdir()
    os.utime(tmp_path / ".a.0123abcd", (0, 0))
    write_atomically(tmp_path / "a", b"1")
    assert sorted(os.listdir(tmp_path)) == [".a.0123abcd", "a"]
