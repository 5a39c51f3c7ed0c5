"""What follows printed lines as a reader would: README's, and those of the pages *Using the library* and *Installing*.

Python's blocks are one session, the command line's another, by somebody who has an empty home and an empty folder. What
stands for something that the reader has, or for something out of reach here, is listed with its reason (`ELSEWHERE`);
all else is not touched.
"""

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bpelab import BPETokenizer

from .conftest import ROOT
from .shards import corpora

PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("README.md", "book/using.md", "book/installing.md")}
README, USING, INSTALLING = PAGES.values()


class Block(NamedTuple):
    """Lines of a page in one frame; the first of them is line `above` + 1."""

    page: str
    above: int
    language: str
    text: str


BLOCKS = [
    Block(name, page.count("\n", 0, found.start(2)), found[1], found[2])
    for name, page in PAGES.items()
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
]


def block(words: str) -> list[str]:
    """The lines of the only block that has these words."""
    (text,) = (one.text for one in BLOCKS if words in one.text)
    return text.splitlines()


def python_blocks(page: str) -> list[Block]:
    return [one for one in BLOCKS if one.page == page and one.language == "python"]


MAKE = [line for one in BLOCKS if one.text.startswith("make ") for line in one.text.splitlines()]
(USE,) = block("&& . .venv/bin/activate && pip install -e")
BOOK_BY_HAND, TESTS_BY_HAND, WINDOWS = block('".[book]"'), block("&& pytest -c"), block("Activate.ps1")
(ALL_EXTRAS,) = block("[bench,chat,files,tiktoken]")
(FROM_WHEEL,) = block(".whl[tiktoken]")
WHEEL = Path(re.search(r'"(dist/.*\.whl)\[tiktoken\]"', FROM_WHEEL)[1])
LINES = [line for one in BLOCKS if "\nbpelab " in f"\n{one.text}" for line in one.text.splitlines()]

# What isn't a name of the pages' own: what is put in its place, and why.
ELSEWHERE = {
    "Qwen/Qwen2.5-0.5B": ("my-tokenizer", "the Hub may be out of reach: a folder here goes the same way"),
    "tcp://scheduler:8786": ("{scheduler}", "that machine is yours: a cluster of two processes here"),
    "s3://bucket/*.parquet": ("bucket/*.parquet", "nobody has that bucket: a folder here"),
    "/shared/shards": ("shared-shards", "a file system that machines share: a folder here"),
}
SHOWN = {
    'gpt4o.encode("How many tokens is this?")': "[5299, 1991, 20290, 382, 495, 30]",
    "gpt4o.decode([5299, 1991, 20290, 382, 495, 30])": "'How many tokens is this?'",
    'gpt4o.tokenize("strawberry")': "[b'st', b'raw', b'berry']",
    'tokenizer.decode(tokenizer.encode("naïve 日本 😀"))': "'naïve 日本 😀'",
    '"".join(decoder.push(i) for i in tokenizer.encode("naïve 日本 😀")) + decoder.finish()': "'naïve 日本 😀'",
    "prune(more, keep=270).tokenizer == tokenizer": "True",
    'gpt4.count_tokens("How many tokens is this?")': "6",
    'gpt4.truncate("The longest prefix that fits into five tokens.", 5)': "'The longest prefix that fits'",
}

SESSION = """
import ast, json, sys

blocks, shown, names = json.load(sys.stdin), {}, {}
for page, first, text in blocks:  # errors name the page's lines
    for node in ast.parse(text).body:
        line = ast.get_source_segment(text, node)
        sys.displayhook = lambda value: shown.__setitem__(line, repr(value))
        module = ast.increment_lineno(ast.Interactive([node]), first)
        exec(compile(module, page, "single"), names)
print("\\n" + json.dumps(shown))
"""


@functools.cache
def pip_cache() -> dict[str, str]:
    """Where this user's pip keeps what it downloaded: no need to ask the network for the same again."""
    asked = [sys.executable, "-m", "pip", "cache", "dir"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return {"PIP_CACHE_DIR": done.stdout.strip()} if done.returncode == 0 else {}


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
        **pip_cache(),
        "HOME": str(home),
        "PATH": os.pathsep.join([str(programs), "/usr/local/bin", "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_COMPILE": "no",  # which means yes: pip takes the value for the opposite option's
    }


def put_yours(folder: Path) -> None:
    """The files that the pages' Python takes for the reader's."""
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


def output_of(done: subprocess.CompletedProcess[str]) -> str:
    """What a program printed, which printed nothing that would puzzle."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"Traceback|Warning|Exception|Error", done.stderr), done.stderr
    return done.stdout


def python_session(folder: Path, env: dict[str, str], scheduler: str, blocks: list[Block]) -> None:
    sent = json.dumps([(one.page, one.above, one.text) for one in blocks], ensure_ascii=False)
    for name, (instead, _) in ELSEWHERE.items():
        sent = sent.replace(name, instead.format(scheduler=scheduler))
    program = [shutil.which("python", path=env["PATH"]), "-c", SESSION]
    done = subprocess.run(
        program, input=sent, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=2_000
    )
    shown = json.loads(output_of(done).splitlines()[-1])
    assert not {line for line in SHOWN if any(line in one.text for one in blocks)} - set(shown)
    for line in SHOWN.keys() & shown.keys():
        assert shown[line] == SHOWN[line], line


def shell(line: str, folder: Path, env: dict[str, str], timeout: int = 2_000) -> str:
    words = ["bash", "-c", line]
    # Its error output goes with the rest: pip and npm write there what is no error.
    return output_of(
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


def command_line(folder: Path, env: dict[str, str], without: tuple[str, ...] = ()) -> None:
    printed = {}
    for line in LINES:
        if line.startswith("tail -f"):
            follow(line, folder, env)
        elif not line.startswith(without):
            printed[line] = shell(line, folder, env)
    assert printed['bpelab count "How many tokens is this?"'] == "6\n"
    assert printed["echo 15339 1917 | bpelab decode"] == "hello world"
    assert printed["bpelab count --chat conversation.json --template chatml"].strip().isdigit()
    assert "token" in next(text for line, text in printed.items() if line.startswith("bpelab chat"))
    for name in ("my-tokenizer/tokenizer.json", "out.gguf", "report.html", "shards"):
        assert (folder / name).exists()
