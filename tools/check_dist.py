"""Check the archives that `python -m build` made, before they are published: `python tools/check_dist.py dist`

The metadata must be valid and complete, the archives must contain what they should and nothing else, and the wheel,
installed with its dependencies into an empty environment outside the sources, must work. With `--no-deps` it has to
work without them.
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
from bpelab import BPETokenizer
from bpelab.notebook import book_text

package = pathlib.Path(bpelab.__file__).parent
assert package.is_relative_to(sys.prefix), package
tokenizer = BPETokenizer.train(book_text()[:20_000], 400, special_tokens=["<x>"])
tokenizer.save("out")
ids = BPETokenizer.from_pretrained("out").encode("the harbour")
assert ids == tokenizer.encode("the harbour") and tokenizer.decode(ids) == "the harbour"
print(bpelab.__version__)
"""
FILES = ("py.typed", "data/book.txt", "data/passages/", "data/tiny_chat/", "widgets/js/", "widgets/css/")


def check_metadata(raw: bytes) -> str:
    """Return the version in METADATA or PKG-INFO. Raises AssertionError, or `packaging`'s errors, if they are wrong."""
    metadata = Metadata.from_email(raw, validate=True)
    assert metadata.name == "bpelab" and metadata.requires_python and metadata.license_expression
    assert (metadata.description_content_type or "").startswith("text/markdown")
    assert len(email.message_from_bytes(raw).get_payload()) > 1_000, "README is not in the metadata"
    return str(metadata.version)


def check_archives(folder: Path) -> tuple[Path, str]:
    """Return the wheel and its version. Raises AssertionError if an archive lacks a file or has one too many."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (notes,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        version = check_metadata(archive.read(notes))
    strange = [name for name in names if not re.match(r"bpelab(/|-[^/]*\.dist-info/)", name)]
    assert not strange, f"{wheel.name} would install {strange}"
    lacking = [file for file in FILES if not any(name.startswith(f"bpelab/{file}") for name in names)]
    assert not lacking, f"{wheel.name} lacks {lacking}"
    with tarfile.open(sdist) as archive:
        top = f"bpelab-{version}"
        assert check_metadata(archive.extractfile(f"{top}/PKG-INFO").read()) == version
        for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py", "bpelab/py.typed", "bpelab/native/module.c"):
            assert f"{top}/{name}" in archive.getnames(), f"{sdist.name} lacks {name}"
        assert f"{top}/tests" not in archive.getnames(), f"{sdist.name} has tests that don't run without the others"
    return wheel, version


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
        assert run(programs / "python", "-c", SMOKE) == version
        assert run(programs / "bpelab", "count", "low lower", "--tokenizer", "out").isdigit()


def main(folder: str, *options: str) -> None:
    wheel, version = check_archives(Path(folder))
    try_wheel(wheel, version, list(options))
    print(f"bpelab {version}: the archives in {folder} are complete, and the wheel works in an empty environment.")


if __name__ == "__main__":
    main(*sys.argv[1:])
