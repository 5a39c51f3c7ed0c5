"""The package: quick to import, nothing heavy, nothing foreign. What is built of it: tests/test_tools.py."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import bpelab

from .conftest import ROOT, encoding, needs_extension


def python(program: str, *, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
    )
    return done.stdout


def test_importing_costs_nothing():
    program = (
        "import sys, time; before = set(sys.modules); start = time.process_time(); import bpelab;"
        "print(time.process_time() - start); print(*sorted(set(sys.modules) - before))"
    )
    seconds, modules = python(program).splitlines()
    assert float(seconds) < 1  # of processor time; it takes 0.03
    assert {name.partition(".")[0] for name in modules.split()} - sys.stdlib_module_names == {"bpelab"}


def test_using_it_pulls_in_nothing_heavy():
    program = (
        "import sys; from bpelab import BPETokenizer; BPETokenizer.train('abab', 257).encode('ab');"
        "print(*{'numpy', 'torch', 'IPython', 'matplotlib', 'tiktoken', 'tokenizers'} & set(sys.modules))"
    )
    assert python(program) == "\n"


FIRST_TEXT = """
import sys
sys.path[:] = {path!r}
from bpelab import BPETokenizer

assert BPETokenizer.from_tiktoken("cl100k_base").encode("hello world") == [15339, 1917]
print(*sys.modules)
"""
SLOW_TO_IMPORT = {
    *("ast", "bisect", "contextlib", "dataclasses", "enum", "hashlib", "importlib.metadata", "inspect", "json"),
    *("logging", "numpy", "pathlib"),
    *("re", "regex", "tempfile", "tiktoken", "tqdm", "typing", "urllib"),
}
OURS_FOR_LATER = {
    *("bpelab._support.install", "bpelab._support.migration_hints", "bpelab.encoders", "bpelab.model.initial_symbols"),
    *("bpelab.model.merge_recovery", "bpelab.regex.dfa_construction", "bpelab.regex.matchers", "bpelab.unicode.tables"),
    *("bpelab.vocab.added_token_matcher", "bpelab.corpus", "bpelab.decoders", "bpelab.formats.tokenizer_json"),
}


def test_the_first_text_imports_little():
    """Most of what a short program waits for is imports, of which these took two thirds."""
    needs_extension()
    encoding("cl100k_base")
    first_text = FIRST_TEXT.format(path=[str(ROOT), *sys.path])
    for _ in range(2):  # the second time it reads what the first has kept
        done = subprocess.run([sys.executable, "-S", "-c", first_text], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert not modules & (SLOW_TO_IMPORT | OURS_FOR_LATER)
    assert all(map(find_spec, OURS_FOR_LATER))


def test_the_standard_library_is_enough():
    """As in a browser's Python: neither regex nor tqdm."""
    program = (
        "import sys; sys.modules['regex'] = sys.modules['tqdm'] = None\n"
        "from bpelab import BPETokenizer\nfrom bpelab.notebook import book_text\n"
        "t = BPETokenizer.train(book_text()[:30_000], 500, progress=True)\n"
        "print(t.decode(t.encode('the harbour, 日本, 12345')), *t.encode(book_text()[:2_000]))"
    )
    ours = bpelab.BPETokenizer.train
    from bpelab.notebook import book_text

    tokenizer = ours(book_text()[:30_000], 500)
    assert python(program).split("12345 ")[1].split() == [str(i) for i in tokenizer.encode(book_text()[:2_000])]


def test_every_public_name_is_there():
    for name in bpelab.__all__:
        assert getattr(bpelab, name) is not None
    assert set(bpelab.__all__) <= set(dir(bpelab))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bpelab.nothing  # noqa: B018


def test_the_book_text_is_what_its_script_writes():
    subprocess.run([sys.executable, "-m", "tools.make_book_text", "--check"], check=True, cwd=ROOT)


def test_the_project_speaks_of_itself_alone():
    """No registry's address, no path of a machine, in any file of the project."""
    names = ["py" + "pi.org", "pythonho" + "sted", "npm" + "js", "deb.deb" + "ian"]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout, so there is no list of the project's files")
    for name in tracked:
        path = ROOT / name
        if path.suffix[1:] in {"py", "md", "ipynb", "toml", "txt", "yml", "ini", "js", "css", "html"} and path.exists():
            text = path.read_text(encoding="utf-8", errors="ignore")
            assert not [word for word in names if word in text], name
            assert "/wo" + "rk/" not in text, name
            assert "/ro" + "ot/" not in text, name
