"""Try an installed wheel: `python tools/try_wheel.py`, from any folder; it prints the package's path.

A wheel for one platform contains the C extension, whose ids are compared with those of the encoders in Python.
"""

import sys
import tempfile
from pathlib import Path

import bpelab
from bpelab import BPETokenizer, native
from bpelab.notebook import book_text


def main() -> None:
    """Train, save, open, encode and decode. Raises AssertionError if a check fails."""
    package = Path(bpelab.__file__).parent
    assert package.is_relative_to(sys.prefix), f"{package} is not what was installed"
    assert native.extension() is not None, "this wheel came without its extension"
    tokenizer = BPETokenizer.train(book_text()[:20_000], 400, special_tokens=["<x>"])
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(folder)
        opened = BPETokenizer.from_pretrained(folder)
    in_c, in_python = opened.with_options(encoder="native"), opened.with_options(encoder="heap")
    ids = in_python.encode(book_text())
    assert in_c.encode(book_text()) == tokenizer.encode(book_text()) == ids
    assert opened.decode(ids) == book_text()
    print(f"bpelab {bpelab.__version__} works on Python {sys.version.split()[0]}: {package}")


if __name__ == "__main__":
    main()
