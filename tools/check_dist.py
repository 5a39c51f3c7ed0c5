"""Check the archives that `python -m build` made, before they are published: `python tools/check_dist.py dist`

The metadata must be valid and complete, the archives must contain what they should and nothing else, and each wheel,
installed with its dependencies into an empty environment outside the sources, must work: the pure one in Python, the
platform's with its C. With `--no-deps` they have to work without them.
"""

import email
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

SMOKE = """
import bpelab, pathlib, sys
from bpelab import BPETokenizer, native
from bpelab.notebook import book_text

package = pathlib.Path(bpelab.__file__).parent
assert package.is_relative_to(sys.prefix), package
assert (native.extension() is None) == (sys.argv[1] == "pure"), sys.argv
tokenizer = BPETokenizer.train(book_text()[:20_000], 400, special_tokens=["<x>"])
tokenizer.save("out")
ids = BPETokenizer.from_pretrained("out").encode("the harbour")
assert ids == tokenizer.encode("the harbour") and tokenizer.decode(ids) == "the harbour"
print(bpelab.__version__)
"""
FILES = (
    "py.typed",
    "analysis/report/page.html",
    "data/book.txt",
    "data/passages/",
    "data/tiny_chat/",
    "widgets/js/",
    "widgets/css/",
)


def check_metadata(raw: bytes) -> str:
    """Return the version in METADATA or PKG-INFO. Raises AssertionError, or `packaging`'s errors, if they are wrong."""
    metadata = Metadata.from_email(raw, validate=True)
    assert metadata.name == "bpelab" and metadata.requires_python and metadata.license_expression
    assert (metadata.description_content_type or "").startswith("text/markdown")
    assert len(email.message_from_bytes(raw).get_payload()) > 1_000, "README is not in the metadata"
    return str(metadata.version)


def is_pure(wheel: Path) -> bool:
    """Whether a wheel says by its name that it runs anywhere."""
    return wheel.name.endswith("-none-any.whl")


def check_wheel(wheel: Path) -> str:
    """Return the version of a wheel. Raises AssertionError if it lacks a file or has one too many."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (notes,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        version = check_metadata(archive.read(notes))
    strange = [name for name in names if not re.match(r"bpelab(/|-[^/]*\.dist-info/)", name)]
    strange += [name for name in names if is_pure(wheel) and name.endswith((".so", ".pyd"))]
    assert not strange, f"{wheel.name} would install {strange}"
    needed = FILES if is_pure(wheel) else (*FILES, "native/_core.c")
    lacking = [file for file in needed if not any(name.startswith(f"bpelab/{file}") for name in names)]
    assert not lacking, f"{wheel.name} lacks {lacking}"
    return version


def check_archives(folder: Path) -> tuple[list[Path], str]:
    """Return the wheels, one of them pure, and their version. Raises AssertionError as `check_wheel`."""
    wheels, (sdist,) = sorted(folder.glob("*.whl")), folder.glob("*.tar.gz")
    assert sum(map(is_pure, wheels)) == 1, f"one wheel has to be pure of {[wheel.name for wheel in wheels]}"
    (version,) = set(map(check_wheel, wheels))
    with tarfile.open(sdist) as archive:
        top = f"bpelab-{version}"
        assert check_metadata(archive.extractfile(f"{top}/PKG-INFO").read()) == version
        for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py", "bpelab/py.typed", "bpelab/native/module.c"):
            assert f"{top}/{name}" in archive.getnames(), f"{sdist.name} lacks {name}"
        assert f"{top}/tests" not in archive.getnames(), f"{sdist.name} has tests that don't run without the others"
    return wheels, version


def try_wheel(wheel: Path, version: str, options: list[str]) -> None:
    """Install the wheel into an empty environment, and train, save, open, encode and count there."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "venv"), with_pip=True)
        programs = Path(folder, "venv", "Scripts" if os.name == "nt" else "bin")

        def run(*words: object) -> str:
            done = subprocess.run(
                list(map(str, words)), cwd=folder, env=env, stdout=subprocess.PIPE, encoding="utf-8", check=True
            )
            return done.stdout.strip()

        run(programs / "python", "-m", "pip", "install", "--quiet", *options, wheel.resolve())
        assert run(programs / "python", "-c", SMOKE, "pure" if is_pure(wheel) else "with C") == version
        assert run(programs / "bpelab", "count", "low lower", "--tokenizer", "out").isdigit()


def main(folder: str, *options: str) -> None:
    wheels, version = check_archives(Path(folder))
    for wheel in wheels:
        try_wheel(wheel, version, list(options))
    names = " and ".join(wheel.name for wheel in wheels)
    print(f"bpelab {version}: the archives in {folder} are complete; in an empty environment the wheel works: {names}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
