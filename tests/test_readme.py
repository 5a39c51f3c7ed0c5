"""README's lines, run as printed and in their order, by somebody who has an empty home and an empty folder.

Python's blocks are one session, the command line's another. What stands for something that the reader has, or for
something out of reach here, is listed with its reason (`YOURS`, `ELSEWHERE`, `NOT_RUN`); all else is not touched. The
soak does it as a newcomer: a wheel, each pip line in an environment with nothing in it, the book from a copy of the
sources.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import urllib.request
import venv
from pathlib import Path

import pytest

from bpelab import BPETokenizer

from .conftest import ROOT, SOAK, encoding
from .shards import corpora

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    (README.count("\n", 0, found.start(2)), found[1], found[2])  # its first line is number + 1
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
]
WHOLE, BY_HAND = (text.splitlines() for _, _, text in BLOCKS[:2])
INSTALL = [text.strip() for _, _, text in BLOCKS if text.startswith("pip install")]
LINES = next(text for _, _, text in BLOCKS if text.startswith("bpelab count")).splitlines()
soak = pytest.mark.skipif(not SOAK, reason="installs and builds for many minutes: `make soak`")

# What isn't a name of README's own: what is put in its place, and why.
ELSEWHERE = {
    "Qwen/Qwen2.5-0.5B": ("my-tokenizer", "the Hub may be out of reach: a folder here goes the same way"),
    "tcp://scheduler:8786": ("{scheduler}", "that machine is yours: a cluster of two processes here"),
    "s3://bucket/*.parquet": ("bucket/*.parquet", "nobody has that bucket: a folder here"),
    "/shared/shards": ("shared-shards", "a file system that machines share: a folder here"),
}
NOT_RUN = {
    "make test": "is what runs this",
    "make test-backends": "compiles llama.cpp, and has a job of its own",
    "pytest &&": "is what runs this",
}
SHOWN = {
    'tokenizer.decode(tokenizer.encode("naïve 日本 😀"))': "'naïve 日本 😀'",
    '"".join(decoder.push(i) for i in tokenizer.encode("naïve 日本 😀")) + decoder.finish()': "'naïve 日本 😀'",
    'gpt4.count_tokens("How many tokens is this?")': "6",
    'gpt4.truncate("The longest prefix that fits into so many tokens.", 5)': "'The longest prefix that fits'",
}

SESSION = """
import ast, json, sys

blocks, shown = json.load(sys.stdin), {}
for first, text in blocks:  # errors name README's lines
    for node in ast.parse(text).body:
        line = ast.get_source_segment(text, node)
        sys.displayhook = lambda value: shown.__setitem__(line, repr(value))
        module = ast.increment_lineno(ast.Interactive([node]), first)
        exec(compile(module, "README.md", "single"))
print("\\n" + json.dumps(shown))
"""


def surroundings(folder: Path, programs: Path) -> dict[str, str]:
    """An environment with nothing of this user's; tiktoken's vocabularies, which need the network once, excepted."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    kept = (
        "TIKTOKEN_CACHE_DIR",
        "SYSTEMROOT",
        "PIP_INDEX_URL",
        "PIP_CERT",
        "PIP_CONFIG_FILE",
        "SSL_CERT_FILE",
        "NODE_EXTRA_CA_CERTS",
    )
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(programs), "/usr/local/bin", "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8",
    }


@pytest.fixture
def folder(tmp_path):
    """Where the reader stands: README is there, and nothing else."""
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.copy(ROOT / "README.md", folder)
    return folder


@pytest.fixture
def env(folder):
    """This environment's packages; what is compiled is compiled once in a run of the tests."""
    here = {"PYTHONPATH": str(ROOT), "BPELAB_CACHE": os.environ["BPELAB_CACHE"]}
    return surroundings(folder, Path(sys.executable).parent) | here


@pytest.fixture(scope="module")
def scheduler():
    """The address of a cluster on this machine."""
    dask = pytest.importorskip("dask.distributed", reason="dask is not installed")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "protocol": "tcp"}
    with dask.LocalCluster(**settings) as cluster:
        yield cluster.scheduler_address


def put_yours(folder: Path) -> None:
    """The files that README's Python takes for the reader's."""
    texts = [f"Page {number}. The harbour sleeps, and the bell counts to {number}." for number in range(40)]
    tokenizer = BPETokenizer.train(texts, 300, pattern="llama3", progress=False)
    tokenizer.save(folder / "some-model")
    subprocess.run(
        [sys.executable, "-m", "bpelab", "convert", "some-model", "model.gguf", "--to", "gguf"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    for name in ("web/a.jsonl.zst", "books/b.txt", "bucket/c.parquet"):
        (folder / name).parent.mkdir()
        corpora.write(folder / name, texts)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a program printed, which said nothing that would puzzle."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"Traceback|Warning|Exception|Error", done.stderr), done.stderr
    return done.stdout


def python_session(folder, env, scheduler, blocks) -> None:
    sent = json.dumps(blocks, ensure_ascii=False)
    for name, (instead, _) in ELSEWHERE.items():
        sent = sent.replace(name, instead.format(scheduler=scheduler))
    program = [shutil.which("python", path=env["PATH"]), "-c", SESSION]
    done = subprocess.run(
        program, input=sent, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600
    )
    shown = json.loads(said(done).splitlines()[-1])
    for line, value in SHOWN.items():
        assert shown.get(line, value) == value, line
    assert not {line for line in SHOWN if any(line in text for _, text in blocks)} - set(shown)


def shell(line: str, folder: Path, env: dict[str, str], timeout: int = 600) -> str:
    words = ["bash", "-c", line]
    # Its error output goes with the rest: pip and npm write there what is no error.
    return said(
        subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=timeout)
    )


def follow(line: str, folder: Path, env: dict[str, str]) -> None:
    """A line that goes on until it is stopped: it answers while what it reads grows."""
    words, shown = ["bash", "-c", line], []
    with subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, start_new_session=True) as tail:
        try:
            for added in ("", "GET /second 404\n" * 3):
                with (folder / "server.log").open("a", encoding="utf-8") as log:
                    log.write(added)
                shown.append(tail.stdout.readline().split())
        finally:
            os.killpg(tail.pid, signal.SIGKILL)
    assert all(ids and all(map(bytes.isdigit, ids)) for ids in shown)


def command_line(folder, env, without=()) -> None:
    printed = {}
    for line in LINES:
        if line.startswith("tail -f"):
            follow(line, folder, env)
        elif not line.startswith(tuple(without)):
            printed[line.partition("#")[0].strip()] = shell(line, folder, env)
    assert printed['bpelab count "How many tokens is this?"'] == "6\n"
    assert printed["echo 15339 1917 | bpelab decode"] == "hello world"
    assert printed["bpelab count --chat conversation.json --template chatml"].strip().isdigit()
    assert "token" in next(text for line, text in printed.items() if line.startswith("bpelab chat"))
    for name in ("my-tokenizer/tokenizer.json", "out.gguf", "report.html", "shards"):
        assert (folder / name).exists()


def python_blocks():
    return [(first, text) for first, language, text in BLOCKS if language == "python"]


def test_the_python_of_readme(folder, env, scheduler):
    encoding("cl100k_base")
    pytest.importorskip("zstandard"), pytest.importorskip("pyarrow")
    put_yours(folder)
    for name in ELSEWHERE:
        assert name in README
    python_session(folder, env, scheduler, python_blocks())
    assert (folder / "shards").exists() and (folder / "shared-shards").exists()


def test_the_command_line_of_readme(folder, env):
    encoding("cl100k_base")
    command_line(folder, env, without=["pip", "bpelab bench"])  # minutes: in the soak


def test_what_readme_names_is_there():
    """Files, make's targets, extras, commands, options of the environment."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for line in WHOLE:
        command, name, *_ = line.split()
        assert command == "make" and name in targets
    for target in re.findall(r"\]\(([\w./]+)\)", README):
        assert (ROOT / target).exists(), target
    where = README.partition("## Where things are")[2]
    for path in re.findall(r"`((?:bpelab|book|tests|formats|encoders|trainers|pretokenizers)/|\w+\.py)`", where):
        assert (ROOT / path).exists() or (ROOT / "bpelab" / path).exists(), path
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {extra for found in re.findall(r"bpelab\[([\w,]+)\]", README) for extra in found.split(",")}
    assert named and named <= set(extras)
    for command in set(re.findall(r"`bpelab ([\w-]+)", README)):
        done = subprocess.run([sys.executable, "-m", "bpelab", command, "--help"], capture_output=True, check=False)
        assert done.returncode == 0, command
    assert (ROOT / "environment.yml").exists()
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bpelab").rglob("*.py"))
    for variable in re.findall(r"`(BPELAB_\w+)=", README):
        assert variable in sources, variable


def copy_of_the_sources(folder: Path) -> Path:
    """What a clone would hold, with what is not committed yet."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """pip finds bpelab in this folder, as it would on an index."""
    source = copy_of_the_sources(tmp_path_factory.mktemp("source"))
    out = tmp_path_factory.mktemp("wheels")
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", out, source]
    subprocess.run(words, check=True, capture_output=True)
    return out


@pytest.fixture
def installed(folder, wheel):
    """An empty environment, and pip's lines of README in their order."""
    programs = folder.parent / "venv" / "bin"
    venv.create(programs.parent, with_pip=True)
    env = surroundings(folder, programs)
    find = os.environ.get("PIP_FIND_LINKS", "").split()
    return env | {"PIP_FIND_LINKS": " ".join([*find, str(wheel)]), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


@soak
def test_installed_as_readme_says(folder, installed, scheduler):
    """Each Python block with what was named up to it, and the command line, speed measured, with its pip line."""
    encoding("cl100k_base")
    put_yours(folder)
    first, last = INSTALL
    shell(first, folder, installed)
    python_session(folder, installed, scheduler, python_blocks()[:1])
    shutil.rmtree(folder / "my-tokenizer")
    shell(last, folder, installed)
    command_line(folder, installed)


@soak
@pytest.mark.parametrize(
    ("extras", "block"), [("hub,tiktoken", 1), ("chat,tiktoken", 2), ("chat,tiktoken", 3), ("files,tiktoken", 4)]
)
def test_an_extra_is_enough_for_its_block(extras, block, folder, installed, scheduler):
    """The first block makes what the others use; `extras` are what README names for the block."""
    encoding("cl100k_base")
    put_yours(folder)
    shell(f'pip install "bpelab[{extras}]"', folder, installed)
    python_session(folder, installed, scheduler, [python_blocks()[0], python_blocks()[block]])


@soak
def test_the_book_from_a_copy_of_the_sources(tmp_path):
    """`make book`, `make serve`, and the lines for those without make, in a folder where nothing was built."""
    folder = copy_of_the_sources(tmp_path / "clone")
    env = surroundings(folder, Path("/usr/local/bin")) | {"PIP_FIND_LINKS": os.environ.get("PIP_FIND_LINKS", "")}
    for line in (*WHOLE, *BY_HAND):
        if any(line.startswith(name) for name in NOT_RUN):
            continue
        if line.startswith("make serve"):
            words = ["bash", "-c", line]
            with subprocess.Popen(words, cwd=folder, env=env, start_new_session=True) as server:
                try:
                    assert b"book/index.html" in patiently("http://localhost:8000/")  # leads on to
                    assert b"bpelab" in patiently("http://localhost:8000/book/index.html")
                finally:
                    os.killpg(server.pid, signal.SIGTERM)
        else:
            activate = ". .venv/bin/activate && " if (folder / ".venv").exists() and line in BY_HAND else ""
            shell(activate + line, folder, env, timeout=3_600)
    assert (folder / "_build" / "html" / "book" / "00_start.html").exists()


def patiently(address: str) -> bytes:
    """A page of a server that is being started."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(address, timeout=10) as page:
                return page.read()
        except OSError:
            time.sleep(0.1)
    raise AssertionError(address)
