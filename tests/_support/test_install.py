"""What `install_command` tells to type, for each way in which a copy of bpelab can have got where it is."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ..conftest import ROOT

ADDRESS = "https://git.example/somebody/bpelab"
UNKNOWN = 'pip install ".[chat]"  # in a clone of bpelab\'s repository'


def put_sources(folder: Path) -> None:
    """As much of a clone as decides."""
    (folder / "bpelab").mkdir(parents=True)
    shutil.copytree(ROOT / "bpelab" / "_support", folder / "bpelab" / "_support")
    (folder / "bpelab" / "__init__.py").touch()
    (folder / "pyproject.toml").write_text('[project]\nname = "bpelab"\n', encoding="utf-8")


def put_installed(folder: Path, origin: object = None, link: str = "") -> Path:
    """As much of an installed package, with what pip and the wheel say of it."""
    put_sources(folder)
    (folder / "pyproject.toml").unlink()
    notes = folder / "bpelab-0.1.0.dist-info"
    notes.mkdir()
    notes.joinpath("METADATA").write_text(f"Name: bpelab\nVersion: 0.1.0\n{link}", encoding="utf-8")
    if origin:
        notes.joinpath("direct_url.json").write_text(json.dumps(origin), encoding="utf-8")
    return folder


def told(package: Path, here: Path, change: str = "", extras: str = '"chat"') -> str:
    """What the copy in `package` says to somebody who stands in `here`."""
    program = f"import bpelab._support.install as i; {change or 'pass'}; print(i.install_command({extras}))"
    words = [sys.executable, "-S", "-c", program]
    env = {**os.environ, "PYTHONPATH": str(package)}
    return subprocess.run(words, cwd=here, env=env, capture_output=True, text=True, check=True).stdout.rstrip("\n")


def test_a_clone(tmp_path):
    clone = tmp_path / "a clone"
    put_sources(clone)
    assert told(clone, clone) == 'pip install -e ".[chat]"'
    assert told(clone, clone / "bpelab") == 'pip install -e "..[chat]"'
    assert told(clone, tmp_path) == f'pip install -e "{clone}[chat]"'
    assert told(clone, tmp_path, extras="") == f'pip install -e "{clone}"'
    assert told(clone, clone, extras='"chat", "hub", pip="uv pip install"') == 'uv pip install -e ".[chat,hub]"'


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a folder that somebody stands in")
def test_a_folder_that_is_gone(tmp_path):
    clone = tmp_path / "clone"
    put_sources(clone)
    (tmp_path / "gone").mkdir()
    gone = "import os, bpelab; os.rmdir('../gone')"
    assert told(clone, tmp_path / "gone", gone) == f'pip install -e "{clone}[chat]"'


def test_a_copy_inside_another_project(tmp_path):
    """That project's pyproject.toml installs that project."""
    put_sources(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "theirs"\n', encoding="utf-8")
    assert told(tmp_path, tmp_path) == UNKNOWN


def test_from_an_address(tmp_path):
    git = {"url": ADDRESS, "vcs_info": {"vcs": "git", "commit_id": "0" * 40}}
    assert told(put_installed(tmp_path / "git", git), tmp_path) == f'pip install "bpelab[chat] @ git+{ADDRESS}"'
    git["vcs_info"]["requested_revision"] = "v0.1.0"
    assert told(put_installed(tmp_path / "tag", git), tmp_path).endswith(f'@ git+{ADDRESS}@v0.1.0"')
    archive = {"url": f"{ADDRESS}/bpelab-0.1.0.zip", "archive_info": {}}
    assert told(put_installed(tmp_path / "zip", archive), tmp_path) == f'pip install "bpelab[chat] @ {archive["url"]}"'


def test_from_a_wheel_or_a_folder(tmp_path):
    """The wheel, or the folder, if it is still there."""
    wheel, source = tmp_path / "bpelab-0.1.0-py3-none-any.whl", tmp_path / "the source"
    from_wheel = put_installed(tmp_path / "a", {"url": wheel.as_uri(), "archive_info": {}})
    from_folder = put_installed(tmp_path / "b", {"url": source.as_uri(), "dir_info": {}})
    assert told(from_wheel, tmp_path) == told(from_folder, tmp_path) == UNKNOWN
    wheel.touch()
    put_sources(source)
    assert told(from_wheel, tmp_path) == f'pip install "bpelab[chat] @ {wheel.as_uri()}"'
    assert told(from_folder, tmp_path) == f'pip install "{source}[chat]"'


def test_to_be_built(tmp_path):
    """A wheel that has no C is not installed again: its project's address is, or a clone; sources are."""
    wheel, archive = tmp_path / "bpelab-0.1.0-py3-none-any.whl", tmp_path / "bpelab-0.1.0.tar.gz"
    for file, link, command in (
        (wheel, "", 'pip install "."  # in a clone of bpelab\'s repository'),
        (wheel, f"Project-URL: Repository, {ADDRESS}\n", f'pip install "bpelab @ git+{ADDRESS}"'),
        (archive, "", f'pip install "bpelab @ {archive.as_uri()}"'),
    ):
        file.touch()
        package = put_installed(tmp_path / str(len(os.listdir(tmp_path))), {"url": file.as_uri()}, link)
        assert told(package, tmp_path, extras="build=True") == command


def test_from_an_index(tmp_path):
    """The project's address until there is a release, then the name alone."""
    package = put_installed(tmp_path, link=f"Project-URL: Repository, {ADDRESS}\n")
    assert told(package, tmp_path) == f'pip install "bpelab[chat] @ git+{ADDRESS}"'
    assert told(package, tmp_path, "i.PUBLISHED = True") == 'pip install "bpelab[chat]"'
    assert told(package, tmp_path, "i.PUBLISHED = True", extras="") == "pip install bpelab"


def test_every_message_asks_the_one_place():
    """No other file of the library spells the command out, and the extras that are named exist."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = set()
    for path in (ROOT / "bpelab").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert path.name == "install.py" or not re.search(r"pip install .{0,20}bpelab|bpelab\[[\w,]+\]", text), path
        named |= set(re.findall(r"install_command\(['\"](\w+)", text))
    assert {"chat", "tiktoken"} <= named <= set(extras)


def is_pure(package: Path) -> bool:
    program = "import bpelab._support.install as i; print(i.is_pure_wheel())"
    words, env = [sys.executable, "-S", "-c", program], {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(words, cwd=package.parent, env=env, capture_output=True, text=True, check=True)
    return done.stdout == "True\n"


def test_a_wheel_that_runs_anywhere(tmp_path):
    assert not is_pure(put_installed(tmp_path / "unpacked"))
    for pure in (True, False):
        package = put_installed(tmp_path / str(pure))
        (package / "bpelab-0.1.0.dist-info" / "WHEEL").write_text(f"Root-Is-Purelib: {str(pure).lower()}\n")
        assert is_pure(package) == pure
    (tmp_path / "True" / "pyproject.toml").write_text('[project]\nname = "bpelab"\n')
    assert not is_pure(tmp_path / "True")  # a clone


@pytest.mark.parametrize(("pure", "said"), [(True, "with the same ids"), (False, "needs a C compiler")])
def test_doctor_tells_users_of_that_wheel_to_install_nothing(monkeypatch, pure, said):
    from bpelab import native
    from bpelab.chat.hardware import report

    monkeypatch.setattr(native, "extension", lambda: None)
    monkeypatch.setattr(report, "is_pure_wheel", lambda: pure)
    sentence = report._encoder()
    assert sentence.startswith("Text is encoded in Python") and said in sentence
    assert ("pip install" in sentence) != pure
