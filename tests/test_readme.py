"""README is short; its lines, and those of *Using the library* and *Installing*, run as printed and in their order.

The slow tests do it as a newcomer: from a copy of the sources and from the wheel, in environments with nothing in them,
and the book from a copy of the sources. An environment is made once for all that can be tried in it.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
import venv
from pathlib import Path

import pytest

from bpelab import __version__, native
from bpelab.cli.main import COMMANDS

from . import printed_lines as printed
from .conftest import ROOT, SOAK, encoding
from .printed_lines import INSTALLING, README, USING
from .real import record

HIDDEN = {"mutation", "backends", "real"}
"""Extras of make's targets that a reader has no use for."""
NOT_RUN = {
    "make test": "is what runs this",
    "pytest": "is what runs this",
    "conda": "needs conda; tests/test_workflows.py reads environment.yml",
}


@pytest.fixture
def folder(tmp_path):
    """Where the reader stands: the file that the lines take as a text is there, and nothing else."""
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.copy(ROOT / "CONTRIBUTING.md", folder)
    return folder


@pytest.fixture
def env(folder):
    """This environment's packages; what is compiled is compiled once in a run of the tests."""
    here = {"PYTHONPATH": str(ROOT), "BPELAB_CACHE": os.environ["BPELAB_CACHE"]}
    return printed.surroundings(folder, Path(sys.executable).parent) | here


@pytest.fixture(scope="module")
def scheduler():
    """The address of a cluster on this machine."""
    dask = pytest.importorskip("dask.distributed", reason="dask is not installed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "protocol": "tcp"}
    with dask.LocalCluster(**settings) as cluster:
        yield cluster.scheduler_address


def test_it_is_one_screen_and_one_more():
    assert len(README.split()) <= 700


def test_the_python_of_readme(folder, env):
    encoding("o200k_base")
    printed.python_session(folder, env, "", printed.python_blocks("README.md"))


def test_the_python_of_the_tour(folder, env, scheduler):
    encoding("cl100k_base")
    pytest.importorskip("zstandard"), pytest.importorskip("pyarrow")
    printed.put_yours(folder)
    for name in printed.ELSEWHERE:
        assert name in USING
    printed.python_session(folder, env, scheduler, printed.python_blocks("book/using.md"))
    assert (folder / "shards").exists() and (folder / "shared-shards").exists()


@pytest.mark.slow
def test_the_command_line(folder, env):
    encoding("cl100k_base")
    printed.command_line(folder, env, without=("bpelab bench",))  # minutes: in the soak


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of *Installing*, without its head."""
    table = re.search(r"^\|.*?\n\n", INSTALLING.partition(f"## {heading}\n")[2], re.MULTILINE | re.DOTALL)
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in table[0].splitlines()[2:-1]]


def test_what_they_name_is_there():
    """Files, make's targets, extras, commands, options of the environment, the version, what is compared."""
    pages = "\n".join(printed.PAGES.values())
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {line.split()[1] for line in printed.MAKE} | set(re.findall(r"`make ([\w-]+)", pages)) <= targets
    for name, page in printed.PAGES.items():
        for target in re.findall(r"\]\((?!https:)([\w./]+)", page):
            assert ((ROOT / name).parent / target).exists(), target
    for heading in re.findall(r"\]\(book/using\.md#([\w-]+)\)", README):  # as GitHub makes anchors
        assert re.search(f"^## {heading.replace('-', ' ')}$", USING, re.MULTILINE | re.IGNORECASE), heading
    for name in re.findall(r"`((?:\w+/)?\w+\.(?:md|py|toml|txt))`", pages):
        assert (ROOT / name).exists() or name == "ids.json", name
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {name for first, _ in rows("Extras") for name in re.findall(r"`(\w+)`", first)} == set(extras) - HIDDEN
    named = {extra for found in re.findall(r"\[([a-z]+(?:,[a-z]+)*)\]\"", pages) for extra in found.split(",")}
    assert named and named <= set(extras)
    assert set(re.findall(r"`bpelab ([a-z-]+)", pages)) <= set(COMMANDS)
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bpelab").rglob("*.py"))
    for variable in re.findall(r"`(BPELAB_\w+)=", pages):
        assert variable in sources, variable
    assert printed.WHEEL.name == f"bpelab-{__version__}-py3-none-any.whl"
    assert f"This is {__version__}." in USING
    assert all(any(line in one.text for one in printed.BLOCKS) for line in printed.SHOWN)


def test_every_command_is_shown():
    """And run, but for the one that needs the Hub, and the one that *Installing* names."""
    shown = {line.partition("bpelab ")[2].split()[0] for line in printed.LINES if "bpelab " in line} - {"--help"}
    assert shown | {"upload", "completion"} == set(COMMANDS) and not shown & {"upload", "completion"}
    assert "`bpelab upload`" in USING and "`bpelab completion bash`" in INSTALLING


def test_windows_gets_the_same_lines():
    """Where there is no PowerShell, its block is compared with the ones that are run."""
    made, activated, *others = printed.WINDOWS
    assert (made, activated) == ("py -3.11 -m venv .venv", r".venv\Scripts\Activate.ps1")
    here = [part for line in printed.BOOK_BY_HAND[1:] for part in line.split(" && ")]
    here[0] = printed.TESTS_BY_HAND[1]
    assert others == [*here, printed.TESTS_BY_HAND[2].partition(" && ")[0]]
    assert not any(
        "&&" in line or "*" in line for line in printed.WINDOWS
    )  # its older version has no &&, none expands *


def test_the_tables_of_real_tokenizers_are_those_of_the_record():
    """`make test-real` writes all three."""
    kept = record.read()
    assert record.PLACE.findall(README) == [record.summary(kept)]
    assert record.PLACE.findall(USING) == [record.table(kept)]
    assert set(record.KNOWN) <= set(kept.tokenizers)


def copy_of_the_sources(folder: Path) -> Path:
    """What a clone would hold, with what is not committed yet."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """A folder in which `dist/` has the wheel that `make dist` builds."""
    folder = copy_of_the_sources(tmp_path_factory.mktemp("clones") / "clone")
    pure = {**os.environ, "BPELAB_NO_EXTENSION": "1"}
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", "dist", "."]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, env=pure)
    shutil.rmtree(folder / "build")
    return folder


@pytest.fixture
def newcomer(folder):
    """The surroundings of somebody who has just made and activated an environment."""
    programs = folder.parent / "venv" / "bin"
    venv.create(programs.parent, with_pip=True)
    return printed.surroundings(folder, programs)


def follow_the_error(folder: Path, env: dict[str, str], origin: Path) -> None:
    """Where an extra is missing, the command of the message, typed as it is, brings it, from where the library came."""
    program = (
        "from bpelab import BPETokenizer, MissingDependencyError as M\n"
        "try: print(BPETokenizer.from_tiktoken('gpt2').n_vocab)\n"
        "except M as error: print(str(error).partition(': ')[2])"
    )
    line = f'python -c "{program}"'
    told = printed.shell(line, folder, env).strip()
    assert told.startswith("pip install") and str(origin) in told and "[tiktoken]" in told
    printed.shell(told, folder, env)
    assert printed.shell(line, folder, env).strip() == "50257"


@pytest.mark.slow
def test_from_a_clone(folder):
    """README's line and its Python; what an error says to type; with all extras the command line, speed measured."""
    for name in ("gpt2", "cl100k_base", "o200k_base"):
        encoding(name)
    clone = copy_of_the_sources(folder.parent / "clone")
    printed.shell(printed.USE, clone, printed.surroundings(folder, Path(sys.base_prefix, "bin")))
    env = printed.surroundings(folder, clone / ".venv" / "bin")
    printed.python_session(folder, env, "", printed.python_blocks("README.md"))
    compiled = [path.name for path in (clone / "bpelab" / "native").glob("_core.*") if path.suffix in (".so", ".pyd")]
    assert bool(compiled) == (native.extension() is not None)
    # What is compiled stays in the clone: further extras bring packages, and there is no need to compile it again.
    env["BPELAB_NO_EXTENSION"] = "1"
    printed.shell("pip uninstall --yes tiktoken", clone, env)
    follow_the_error(folder, env, clone)
    printed.shell(printed.ALL_EXTRAS, clone, env)
    printed.command_line(folder, env)


def install_the_wheel(extras: str, wheels: Path, env: dict[str, str]) -> None:
    printed.shell(printed.FROM_WHEEL.replace("tiktoken", extras), wheels, env)


def blocks_of_the_tour(*names: str) -> list[printed.Block]:
    """The first block, which makes what the others use, and the first that calls each of these names."""
    blocks = printed.python_blocks("book/using.md")
    return [blocks[0], *(next(block for block in blocks if f"{name}(" in block.text) for name in names)]


@pytest.mark.slow
def test_from_a_wheel(folder, wheels, newcomer):
    """The library alone; what an error says to type; the blocks for `chat`, with nothing more; the command line."""
    encoding("gpt2"), encoding("cl100k_base")
    printed.shell(f"pip install {printed.WHEEL}", wheels, newcomer)
    follow_the_error(folder, newcomer, wheels)
    install_the_wheel("tiktoken", wheels, newcomer)
    printed.python_session(folder, newcomer, "", blocks_of_the_tour())
    install_the_wheel("chat,tiktoken", wheels, newcomer)
    printed.python_session(
        folder, newcomer, "", blocks_of_the_tour("StreamDecoder", "ChatSession", "Constraint.choices", "adapt_model")
    )
    shutil.rmtree(folder / "my-tokenizer")
    install_the_wheel("chat,files,tiktoken", wheels, newcomer)
    printed.command_line(folder, newcomer, without=("bpelab bench",))  # which the test above does, with its packages


@pytest.mark.slow
@pytest.mark.parametrize(("extras", "name"), [("hub,tiktoken", "from_huggingface"), ("files,tiktoken", "open_shards")])
def test_an_extra_is_enough_for_its_blocks(extras, name, folder, wheels, newcomer):
    """`extras` are what the page names for the blocks."""
    encoding("cl100k_base")
    printed.put_yours(folder)
    install_the_wheel(extras, wheels, newcomer)
    printed.python_session(folder, newcomer, "", blocks_of_the_tour(name))


@pytest.mark.slow
def test_the_book_from_a_copy_of_the_sources(tmp_path):
    """The lines that build and serve it by hand, in a folder where nothing was built."""
    folder = copy_of_the_sources(tmp_path / "clone")
    build_and_serve(printed.BOOK_BY_HAND, folder, printed.surroundings(folder, Path(sys.base_prefix, "bin")))


@pytest.mark.slow
def test_the_book_as_make_builds_it(tmp_path):
    """Here, where `make test-all` has built it in this way before it ran the tests."""
    if not (ROOT / "_build" / "html" / "index.html").exists():
        pytest.skip("the book has not been built: run `make book` first")
    env = printed.surroundings(tmp_path / "folder", Path(sys.base_prefix, "bin"))
    build_and_serve(printed.MAKE, ROOT, env | {"PYTHON": sys.executable})


def build_and_serve(lines: list[str], folder: Path, env: dict[str, str]) -> None:
    *built, served = [line for line in lines if not line.startswith(tuple(NOT_RUN))]
    script = "\n".join(["set -e", *built, f"exec {served}"])
    words = ["bash", "-c", script]
    with subprocess.Popen(
        words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as server:
        try:
            output = []
            while not (found := re.search(r"served at (\S+)", output[-1] if output else "")):
                output.append(server.stdout.readline())
                assert output[-1], "".join(output)  # ended without serving
            assert b"book/index.html" in page(found[1])  # leads on to
            assert b"bpelab" in page(f"{found[1]}/book/start.html")
        finally:
            os.killpg(server.pid, signal.SIGTERM)


@pytest.mark.skipif(not SOAK, reason="installs for many minutes what the tests run in already: `make soak`")
def test_the_environment_of_the_tests_by_hand(tmp_path):
    folder = copy_of_the_sources(tmp_path / "clone")
    env = printed.surroundings(folder, Path(sys.base_prefix, "bin"))
    collect = "pytest --collect-only -q -n 0"
    printed.shell("\n".join(["set -e", *printed.TESTS_BY_HAND[:-1], collect]), folder, env, timeout=3_600)


def page(address: str) -> bytes:
    with urllib.request.urlopen(address) as opened:
        return opened.read()
