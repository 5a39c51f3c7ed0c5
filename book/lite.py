"""Build what runs the chapters in a reader's browser, into _build/vendor/lite. `python book/lite.py [--notebooks]`

JupyterLite, with Pyodide (CPython for browsers) and every wheel beside it, so that a reader's browser asks no other
host: Pyodide comes from npm, as MathJax does, the wheels from pip, in the versions of constraints.txt, and bpelab's own
is built here. Where they can't be had the book is built without, and this says so. With `--notebooks` a site that is
there gets the chapters as they are now, and the rest of it stays.
"""

import json
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from vendor import BUILD, npm_install, pip
from vocabulary import write_vocabulary

ROOT = BUILD.parent
SITE = BUILD / "vendor" / "lite"
WORK = BUILD / "lite"
PYODIDE = "pyodide@314.0.6"  # the one that constraints.txt's jupyterlite-pyodide-kernel is made for
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
# What notebooks, their figures and chat templates need, in pure Python. Pyodide's builds of numpy, matplotlib, regex
# and tiktoken are neither on npm nor, as wheels for `pyemscripten_2026_0_wasm32`, where pip finds them.
WHEELS = (
    "anywidget asttokens comm executing ipython ipython_pygments_lexers ipywidgets jedi jinja2 matplotlib_inline "
    "micropip packaging parso prompt_toolkit psygnal pure_eval pygments stack_data tqdm traitlets typing_extensions "
    "wcwidth"
)
PURE_AT_NEED = "markupsafe"  # its sources make a wheel of pure Python where there is no compiler
# The chapters that run there, and for the others why not. In those that run, the cells with a tag such as
# `needs-tokenizers` are left out there, and say so.
CHAPTERS = [
    "start", "bytes", "subwords", "training", "encoding", "regex", "tiktoken", "special_tokens", "chat_templates",
    "drift", "wordpiece_unigram", "heap", "incremental", "trie", "superwords", "streaming", "measuring",
    "what_comes_next",
]  # fmt: skip
NEEDS = {
    "native": "the encoder in C, a C compiler and numpy",
    "kernels": "the encoder in C, a C compiler and numpy",
    "details": "regex, tiktoken, tokenizers and the encoder in C",
    "distributed": "dask, numpy and a C compiler",
    "corpus_cost": "dask, numpy and a C compiler",
    "formats": "tokenizers and transformers",
    "new_words": "numpy and safetensors",
    "formats_reference": "tokenizers and sentencepiece",
    "one_byte": "numpy",
    "claims": "tokenizers and tiktoken",
    "claims_evidence": "tokenizers and tiktoken",
    "model_answers": "numpy",
    "chat": "numpy and transformers",
    "language_model": "numpy",
    "capstone": "tiktoken, tokenizers and transformers",
    "production": "the encoder in C, threads and processes",
}
TAG = "needs-"


def get_wheels(folder: Path) -> None:
    """Everybody else's wheels from pip, and ours from a copy of the sources, since building leaves folders there."""
    versions = ROOT / "constraints.txt"
    kept = BUILD / "wheels" / sha256(versions.read_bytes() + (WHEELS + PURE_AT_NEED).encode()).hexdigest()[:12]
    if not kept.exists():
        pure = ("--only-binary", ":all:", "--platform", "any", "--python-version", "3.14")
        pip("download", "--no-deps", *pure, "--constraint", versions, "--dest", WORK / "wheels", *WHEELS.split())
        built = ("--no-binary", ":all:", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", WORK / "wheels")
        pip("wheel", "--no-deps", *built, "--constraint", versions, PURE_AT_NEED, CC="false")
        shutil.copytree(WORK / "wheels", kept)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    source = WORK / "source"
    shutil.copytree(ROOT / "bpelab", source / "bpelab", ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source)


def entry(wheel: Path) -> dict[str, object]:
    """How Pyodide's list of packages describes a wheel. All are loaded at the start, so none names what it needs."""
    name, version, *_ = wheel.name.split("-")
    names = {path.split("/")[0].removesuffix(".py") for path in zipfile.ZipFile(wheel).namelist() if ".py" in path}
    return {
        "name": name.lower().replace("_", "-"),
        "version": version,
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(filter(str.isidentifier, names)),
        "depends": [],
    }


def write_pyodide(folder: Path) -> list[str]:
    """Pyodide's core, the wheels, and a list of these instead of Pyodide's own. Returns the packages' names."""
    folder.mkdir(parents=True)
    core = BUILD / "npm" / "node_modules" / "pyodide"
    for name in FILES:
        shutil.copy(core / name, folder)
    get_wheels(folder)
    lock = json.loads((core / "pyodide-lock.json").read_text(encoding="utf-8"))
    entries = [entry(wheel) for wheel in sorted(folder.glob("*.whl"))]
    lock["packages"] = {str(package["name"]): package for package in entries}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    return list(lock["packages"])


def read_cells(chapter: str) -> list[dict[str, Any]]:
    """Return the code cells of a chapter."""
    notebook = json.loads((ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def lacking(cell: dict[str, Any]) -> list[str]:
    """Return the packages that a cell needs and a browser has not, from its tags."""
    tags = cell["metadata"].get("tags", ())
    return [tag.removeprefix(TAG) for tag in tags if tag.startswith(TAG)]


def left_out(chapter: str) -> list[str]:
    """Return the packages whose cells are left out of a chapter that runs in a browser."""
    return sorted({name for cell in read_cells(chapter) for name in lacking(cell)})


def for_browsers(cell: dict[str, Any]) -> None:
    """Take the outputs from a cell: what is seen there was computed there. One that can't run becomes a comment."""
    cell["outputs"], cell["execution_count"] = [], None
    if names := lacking(cell):
        reason = (
            f"Left out: needs {', '.join(names)}, not to be had in a browser. The chapter's page has what it gives."
        )
        lines = [reason, "", *"".join(cell["source"]).splitlines()]
        cell["source"] = "\n".join(f"# {line}".rstrip() for line in lines)


def write_notebooks(folder: Path) -> None:
    """Write the chapters as a browser runs them, and the records that they show."""
    folder.mkdir(exist_ok=True)
    for chapter in CHAPTERS:
        notebook = json.loads((ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                for_browsers(cell)
        (folder / f"{chapter}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    for record in (ROOT / "book").glob("*_record.json"):
        shutil.copy(record, folder)


def build() -> None:
    if not (BUILD / "npm" / "node_modules" / "pyodide" / FILES[0]).exists():
        npm_install(PYODIDE, BUILD / "npm")
    packages = write_pyodide(WORK / "static" / "pyodide")
    write_notebooks(WORK / "notebooks")
    write_vocabulary(WORK / "notebooks")
    settings = {KERNEL: {"disablePyPIFallback": True, "loadPyodideOptions": {"packages": packages}}}
    config = {"jupyter-lite-schema-version": 0, "jupyter-config-data": {"litePluginSettings": settings}}
    (WORK / "jupyter-lite.json").write_text(json.dumps(config), encoding="utf-8")
    # Cells that were scrolled away stay where they are, and so do the figures in them.
    overrides = {
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
        "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},  # dark where the reader's system is
    }
    (WORK / "overrides.json").write_text(json.dumps(overrides), encoding="utf-8")
    words = ["build", "--lite-dir", WORK, "--contents", WORK / "notebooks", "--output-dir", SITE]
    words += ["--apps", "notebooks", "--no-unused-shared-packages", "--no-sourcemaps"]
    words = [sys.executable, "-m", "jupyterlite_core", *words]
    log = subprocess.run(words, cwd=WORK, capture_output=True, text=True, check=False)
    if log.returncode:
        raise OSError(f"jupyter lite build failed:\n{log.stdout}{log.stderr}")


def main() -> None:
    if sys.argv[1:] == ["--notebooks"]:
        if SITE.exists():
            write_notebooks(SITE / "files")
        return
    for folder in (WORK, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    WORK.mkdir(parents=True)
    try:
        build()
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(SITE, ignore_errors=True)
        print(f"The book is built without chapters that run in the browser: {error}", file=sys.stderr)
    shutil.rmtree(WORK)


if __name__ == "__main__":
    main()
