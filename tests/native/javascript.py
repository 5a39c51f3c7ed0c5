"""The library in JavaScript, run by node: what the tests of its ids share."""

import hashlib
import json
import shutil
import subprocess
import tarfile
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pytest

from bpelab import native

from ..conftest import shared

PACKAGE = Path(native.__file__).parent / "javascript"
CALLS = Path(__file__).with_name("calls.mjs")
OLDEST = 20


@lru_cache(1)
def node() -> str:
    """The path of node; the test is skipped where there is none that is new enough."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").split(".")[0]) < OLDEST:
        pytest.skip(f"node is {version.strip()}; the library in JavaScript needs {OLDEST}")
    return found


def packed(folder: Path) -> Path:
    """What npm makes of the package, unpacked into a folder as npm installs it; the test is skipped where npm isn't."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    command = [npm, "pack", "--json", "--pack-destination", str(folder)]
    about = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=True).stdout
    installed = folder / "node_modules"
    with tarfile.open(folder / json.loads(about)[0]["filename"]) as archive:
        archive.extractall(installed, filter="data")
    return (installed / "package").rename(installed / "bpelab")


def valid(text: str) -> str:
    """The text as JavaScript encodes it: pairs of surrogates are characters, others U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def conformance_texts() -> list[str]:
    """The texts of the conformance kit, or a skip that says why."""
    lines = shared("conformance/cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case | case.get("gen", {}) for case in map(json.loads, lines)]
    return [valid(case["text"] if "text" in case else case["repeat"] * case["n"]) for case in cases]


def rank_file(name: str, folder: Path) -> Path:
    """A copy of an encoding's published rank file, from tiktoken's cache, or a skip that says why."""
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    cached = shared("tiktoken-cache") / hashlib.sha1(address.encode()).hexdigest()
    if not cached.exists():
        pytest.skip(f"the rank file of {name} is not in tiktoken's cache")
    return Path(shutil.copy(cached, folder / f"{name}.tiktoken"))


@contextmanager
def library(folder: Path = PACKAGE):
    """A function that asks the library in `folder`: see calls.mjs."""
    command = [node(), str(CALLS), str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:

        def ask(**job):
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, "the library in JavaScript broke off"
            return json.loads(line)

        yield ask
        process.stdin.close()


def differences(ask, path, tokenizer, texts, **options):
    """What differs between the two libraries for the texts, in a few words; empty if nothing does."""
    common = {"path": str(path), "options": options, "texts": texts}
    encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
    allowed = tokenizer.encode_batch(texts, add_special_tokens=False, allowed_special="all")
    wanted = {
        "encode": (encoded, {}),
        "count": (list(map(len, encoded)), {}),
        "encode, all allowed": (allowed, {"allowed": "all"}),
        "decode": (list(map(tokenizer.decode, allowed)), {"texts": allowed}),
    }
    found = []
    for name, (results, more) in wanted.items():
        answer = ask(**common | more, method=name.split(",")[0])
        if "refused" in answer:
            return [answer["refused"]]
        wrong = [text for text, one, other in zip(texts, answer["results"], results) if one != other]
        found += [f"{name}: {len(wrong)} of {len(texts)}, the first {wrong[0][:80]!r}"] if wrong else []
    return found
