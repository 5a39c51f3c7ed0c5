"""README's lines, run as printed and in their order, by somebody who has an empty home and an empty folder.

Python's blocks are one session, the command line's another. What stands for something that the reader has, or for
something out of reach here, is listed with its reason (`ELSEWHERE`, `NOT_RUN`); all else is not touched. The slow tests
do it as a newcomer: from a copy of the sources and from the wheel, each pip line in an environment with nothing in it,
and the book from a copy of the sources.
"""

import json
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

from bpelab import BPETokenizer, __version__, native
from bpelab.formats.minbpe import save as save_minbpe
from bpelab.notebook import book_text

from .conftest import ROOT, SOAK, encoding
from .shards import corpora

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    (README.count("\n", 0, found.start(2)), found[1], found[2])  # its first line is number + 1
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
]


def block(words: str) -> list[str]:
    """The lines of the only block that has these words."""
    (text,) = (text for _, _, text in BLOCKS if words in text)
    return text.splitlines()


MAKE = [line for _, _, text in BLOCKS if text.startswith("make ") for line in text.splitlines()]
USE = block("&& . .venv/bin/activate\npip install -e")
BOOK_BY_HAND, TESTS_BY_HAND, WINDOWS = block('".[book]"'), block("&& pytest -c"), block("Activate.ps1")
(ALL_EXTRAS,) = block("[bench,chat,files,tiktoken]")
LINES = block("tail -f")
WHEEL = re.search(r'`pip install "(dist/(bpelab-.*?\.whl))\[tiktoken\]"`', README)

# What isn't a name of README's own: what is put in its place, and why.
ELSEWHERE = {
    "Qwen/Qwen2.5-0.5B": ("my-tokenizer", "the Hub may be out of reach: a folder here goes the same way"),
    "tcp://scheduler:8786": ("{scheduler}", "that machine is yours: a cluster of two processes here"),
    "s3://bucket/*.parquet": ("bucket/*.parquet", "nobody has that bucket: a folder here"),
    "/shared/shards": ("shared-shards", "a file system that machines share: a folder here"),
}
HIDDEN = {"mutation", "backends", "real"}
"""Extras of make's targets that a reader of README has no use for."""
NOT_RUN = {
    "make test": "is what runs this",
    "pytest": "is what runs this",
    "conda": "needs conda; tests/test_workflows.py reads environment.yml",
}
SHOWN = {
    'hf.decode(hf("naïve 日本 😀")["input_ids"])': "'naïve 日本 😀'",
    'hf(["the lowest newcomer", "newest"])["attention_mask"]': str([[1] * 10, [1] * 3]),
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
    """An environment with nothing of this user's but what needs the network once: vocabularies, pip's downloads."""
    home = folder.parent / "home"
    home.mkdir(exist_ok=True)
    kept = (
        "TIKTOKEN_CACHE_DIR",
        "SYSTEMROOT",
        "PIP_INDEX_URL",
        "PIP_CERT",
        "PIP_CONFIG_FILE",
        "PIP_FIND_LINKS",
        "NPM_CONFIG_REGISTRY",
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
        program, input=sent, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=2_000
    )
    shown = json.loads(said(done).splitlines()[-1])
    for line, value in SHOWN.items():
        assert shown.get(line, value) == value, line
    assert not {line for line in SHOWN if any(line in text for _, text in blocks)} - set(shown)


def shell(line: str, folder: Path, env: dict[str, str], timeout: int = 2_000) -> str:
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
    served = native.extension() is not None
    python_session(folder, env, scheduler, [one for one in python_blocks() if served or "accelerate" not in one[1]])
    assert (folder / "shards").exists() and (folder / "shared-shards").exists()


@pytest.mark.slow
def test_the_command_line_of_readme(folder, env):
    encoding("cl100k_base")
    command_line(folder, env, without=["pip", "bpelab bench"])  # minutes: in the soak


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    table = re.search(r"^\|.*?\n\n", README.partition(f"### {heading}\n")[2], re.MULTILINE | re.DOTALL)
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in table[0].splitlines()[2:-1]]


def test_what_readme_names_is_there():
    """Files, make's targets, extras, commands, options of the environment, the version."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {line.split()[1] for line in MAKE} | set(re.findall(r"`make ([\w-]+)", README)) <= targets
    for target in re.findall(r"\]\(([\w./]+)\)", README):
        assert (ROOT / target).exists(), target
    where = README.partition("## Where things are")[2]
    for path in re.findall(r"`((?:bpelab|book|tests|formats|encoders|trainers|pretokenizers)/|\w+\.py)`", where):
        assert (ROOT / path).exists() or (ROOT / "bpelab" / path).exists(), path
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {name for first, _ in rows("Extras") for name in re.findall(r"`(\w+)`", first)} == set(extras) - HIDDEN
    named = {extra for found in re.findall(r"\[([a-z]+(?:,[a-z]+)*)\]\"", README) for extra in found.split(",")}
    assert named and named <= set(extras)
    for command in set(re.findall(r"`bpelab ([\w-]+)", README)):
        done = subprocess.run([sys.executable, "-m", "bpelab", command, "--help"], capture_output=True, check=False)
        assert done.returncode == 0, command
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bpelab").rglob("*.py"))
    for variable in re.findall(r"`(BPELAB_\w+)=", README):
        assert variable in sources, variable
    assert WHEEL[2] == f"bpelab-{__version__}-py3-none-any.whl"
    assert f"This is {__version__}." in README


def test_windows_gets_the_same_lines():
    """Where there is no PowerShell, its block is compared with the ones that are run."""
    made, activated, *others = WINDOWS
    assert (made, activated) == ("py -3.11 -m venv .venv", r".venv\Scripts\Activate.ps1")
    here = [part for line in BOOK_BY_HAND[1:] for part in line.split(" && ")]
    here[0] = TESTS_BY_HAND[1]
    assert others == [*here, TESTS_BY_HAND[2].partition(" && ")[0]]
    assert not any("&&" in line or "*" in line for line in WINDOWS)  # its older version has no &&, none expands *


def names_of_the_table(folder: Path) -> dict[str, object]:
    """What the cells of the table take for given."""
    tiktoken, transformers = pytest.importorskip("tiktoken"), pytest.importorskip("transformers")
    text = "the harbour <|end|> naïve 日本"
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|end|>\n{% endfor %}"
    t = BPETokenizer.train(book_text()[:20_000], 400, special_tokens=["<|end|>"], progress=False)
    t = t.with_options(metadata={"chat_template": template})
    t.save(folder / "folder")
    save_minbpe(t.spec, folder / "mb.model")
    hf = transformers.AutoTokenizer.from_pretrained(folder / "folder")
    names = {"text": text, "texts": ["lower", "the harbour"], "ids": t.encode(text, allowed_special="all")}
    names |= {"t": t, "enc": t.to_tiktoken(), "hf": hf, "chat": [{"role": "user", "content": "How deep is it?"}]}
    return names | {"tiktoken": tiktoken, "AutoTokenizer": transformers.AutoTokenizer, "BPETokenizer": BPETokenizer}


def comparable(what: str, value: object, names: dict[str, object]) -> object:
    """A value of a row as the row's other values are: tokenizers by what they do, and not what saves or trains."""
    if what == "open":
        return value.decode(value.encode(names["text"]))
    if what in ("train", "save"):
        return True
    if what == "where each token starts":  # tiktoken says where a token begins
        return [place if isinstance(place, int) else place[0] for place in value]
    return value


@pytest.mark.filterwarnings("ignore")  # of the other libraries
def test_the_names_that_others_have_for_it(tmp_path, monkeypatch):
    """Each expression of the table is evaluated, and those of a row agree."""
    encoding("cl100k_base")
    names = names_of_the_table(tmp_path)
    monkeypatch.chdir(tmp_path)
    table = rows("What you know, and what it is called here")
    assert len(table) > 9
    for what, tiktoken, hugging_face, _, ours in table:
        values = [
            comparable(what, eval(expression, names), names)
            for expression in re.findall("`(.*?)`", f"{tiktoken} {hugging_face} {ours}")
        ]
        assert len(values) >= 2 and all(value == values[0] for value in values), (what, values)


def test_minbpes_names_for_it(tmp_path, monkeypatch):
    """The same for minbpe, which is no package: PYTHONPATH=a copy of it."""
    minbpe = pytest.importorskip("minbpe", reason="minbpe is not at hand")
    names = names_of_the_table(tmp_path)
    monkeypatch.chdir(tmp_path)
    for what, _, _, theirs, ours in rows("What you know, and what it is called here"):
        names["mb"] = minbpe.RegexTokenizer()
        names["mb"].load("mb.model")
        names["mb"].register_special_tokens(names["t"].special_tokens)
        for expression in re.findall("`(.*?)`", theirs):
            value = eval(expression, names)
            if what in ("train", "save", "open"):
                continue
            first = eval(re.search("`(.*?)`", ours)[1], names)
            assert value == first - ("vocab" in expression and what.startswith("size")), what


def copy_of_the_sources(folder: Path) -> Path:
    """What a clone would hold, with what is not committed yet."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of the sources, in which a wheel is built."""
    folder = copy_of_the_sources(tmp_path_factory.mktemp("clones") / "clone")
    pure = {**os.environ, "BPELAB_NO_EXTENSION": "1"}  # as `make dist` builds it
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", "dist", "."]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, env=pure)
    shutil.rmtree(folder / "build")
    return folder


@pytest.fixture
def newcomer(folder):
    """The surroundings of somebody who has just made and activated an environment."""
    programs = folder.parent / "venv" / "bin"
    venv.create(programs.parent, with_pip=True)
    return surroundings(folder, programs) | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1"}


def install(way: str, extras: str, clone: Path, env: dict[str, str]) -> None:
    """The install line of README for these extras, from the clone or, as it says, from the wheel."""
    line = ALL_EXTRAS.replace("bench,chat,files,tiktoken", extras)
    if way == "wheel":
        line = WHEEL[0].strip("`").replace("tiktoken", extras)
    shell(line, clone, env)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["clone", "wheel"])
def test_installed_as_readme_says(way, folder, clone, newcomer, scheduler):
    """The first block of Python with one extra, and the command line, speed measured, with all that it needs."""
    encoding("cl100k_base")
    put_yours(folder)
    install(way, "tiktoken", clone, newcomer)
    python_session(folder, newcomer, scheduler, python_blocks()[:1])
    shutil.rmtree(folder / "my-tokenizer")
    install(way, "bench,chat,files,tiktoken", clone, newcomer)
    command_line(folder, newcomer, without=[] if way == "clone" else ["bpelab bench"])  # it measures for a minute


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extras", "numbers"),
    [("hub,tiktoken", [2]), ("chat,tiktoken", [3]), ("chat,tiktoken", [4, 5]), ("files,tiktoken", [6])],
)
def test_an_extra_is_enough_for_its_blocks(extras, numbers, folder, clone, newcomer, scheduler):
    """The first block makes what the others use; `extras` are what README names for the blocks."""
    encoding("cl100k_base")
    put_yours(folder)
    install("wheel", extras, clone, newcomer)
    python_session(folder, newcomer, scheduler, [python_blocks()[number] for number in (0, *numbers)])


@pytest.mark.slow
@pytest.mark.parametrize("way", ["clone", "wheel"])
def test_what_an_error_says_to_type_can_be_typed(way, folder, clone, newcomer):
    """Where an extra is missing, the command of the message, typed as it is, brings it."""
    shell(f"pip install {'-e .' if way == 'clone' else WHEEL[1]}", clone, newcomer)
    program = (
        "from bpelab import BPETokenizer, MissingDependencyError as M\n"
        "try: print(BPETokenizer.from_tiktoken('gpt2').n_vocab)\n"
        "except M as error: print(str(error).partition(': ')[2])"
    )
    encoding("gpt2")
    line = f'python -c "{program}"'
    told = shell(line, folder, newcomer).strip()
    assert told.startswith("pip install") and str(clone) in told and "[tiktoken]" in told
    shell(told, folder, newcomer)
    assert shell(line, folder, newcomer).strip() == "50257"


@pytest.mark.slow
def test_the_lines_to_use_it(tmp_path):
    encoding("cl100k_base")
    folder = copy_of_the_sources(tmp_path / "clone")
    env = surroundings(folder, Path(sys.base_prefix, "bin"))
    assert shell("\n".join(USE), folder, env).endswith("\n6\n")


@pytest.mark.slow
def test_the_book_from_a_copy_of_the_sources(tmp_path):
    """The lines that build and serve it by hand, in a folder where nothing was built."""
    folder = copy_of_the_sources(tmp_path / "clone")
    build_and_serve(BOOK_BY_HAND, folder, surroundings(folder, Path(sys.base_prefix, "bin")))


@pytest.mark.slow
def test_the_book_as_make_builds_it(tmp_path):
    """Here, where `make test-all` has built it in this way before it ran the tests."""
    if not (ROOT / "_build" / "html" / "index.html").exists():
        pytest.skip("the book has not been built: run `make book` first")
    env = surroundings(tmp_path / "folder", Path(sys.base_prefix, "bin"))
    build_and_serve(MAKE, ROOT, env | {"PYTHON": sys.executable})


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
    env = surroundings(folder, Path(sys.base_prefix, "bin"))
    collect = "pytest --collect-only -q -n 0"
    shell("\n".join(["set -e", *TESTS_BY_HAND[:-1], collect]), folder, env, timeout=3_600)


def page(address: str) -> bytes:
    with urllib.request.urlopen(address) as opened:
        return opened.read()
