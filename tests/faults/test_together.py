"""Threads, forks and processes on one tokenizer, and tokenizers that travel between processes."""

import copy
import json
import multiprocessing
import os
import pickle
import random
import shutil
import subprocess
import sys
import sysconfig

import pytest

from bpelab import BPETokenizer, native
from bpelab.encoders import ENCODERS
from bpelab.formats.tokenizer_json_save import tokenizer_json
from bpelab.notebook import book_text

from ..conftest import ROOT, amount
from ..formats import random_zoo
from ..formats.families import families
from . import together
from .test_killed import drive


@pytest.mark.slow
@pytest.mark.parametrize("encoder", [*ENCODERS, "auto", "native"])
def test_sixteen_threads(encoder):
    if encoder == "native" and native.extension() is None:
        pytest.skip("the extension was not built: no C compiler")
    together.threads(amount(32, 3_000), [encoder])


@pytest.mark.slow
def test_threads_without_the_interpreters_lock():
    """By a Python that has none, where there is one; it needs nothing but the standard library and what is here."""
    found = [shutil.which(f"python3.{minor}t") for minor in (13, 14, 15)]
    here = sys.executable if sysconfig.get_config_var("Py_GIL_DISABLED") else None
    python = next(filter(None, [here, *found]), None)
    if python is None:
        pytest.skip("there is no free-threaded Python here (python3.13t or later on the PATH)")
    words = [python, "-W", "ignore", "-m", "tests.faults.together", str(amount(48, 3_000)), *ENCODERS]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHON_GIL": "0"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "the same\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
def test_forks_amid_threads(tmp_path):
    drive("together:forks", tmp_path, amount(6, 500))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
def test_a_fork_waits_for_what_another_thread_imports():
    """In the child nobody would let go of the lock of a module."""
    program = """
import os, threading, time
from bpelab._support.fork_safety import fork_guard as lock
begun, forking, imported = threading.Event(), threading.Event(), []
def imports():
    with lock:
        begun.set()
        forking.wait()
        time.sleep(0.3)  # a fork that doesn't wait has happened by then, most likely
        imported.append("a module")
threading.Thread(target=imports).start()
begun.wait()
forking.set()
number = os.fork()
free = lock.acquire(timeout=0 if number else 300)
if not number:
    os._exit(0 if free and imported else 1)
print(imported, os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "['a module'] 0\n"


# -- there and back ----------------------------------------------------------------------------------------------------

CONVERSATION = [{"role": "user", "content": "a<s> low"}, {"role": "assistant", "content": "b"}]
TEMPLATE = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}"


def opened(data: dict, folder, encoder: str = "auto") -> BPETokenizer:
    path = folder / "one.json"
    path.write_text(json.dumps(data))
    return BPETokenizer.from_pretrained(path, encoder=encoder)


def answers(tokenizer: BPETokenizer, texts: list[str]) -> list[object]:
    """What a tokenizer says about texts, and what it would be saved as."""
    found: list[object] = [tokenizer_json(tokenizer.spec), tokenizer.spec.metadata, tokenizer.n_vocab]
    found += [tokenizer.eos_token, tokenizer.bos_token]
    for text in texts:
        ids = tokenizer.encode(text, allowed_special="all")
        found += [ids, tokenizer.encode_ordinary(text)]
        # A file drawn at random may have a post-processor that adds an id without a token.
        found += [tokenizer.decode(ids, unknown="skip"), tokenizer.decode_bytes(ids, unknown="skip")]
    if "chat_template" in tokenizer.spec.metadata:
        found.append(tokenizer.apply_chat_template(CONVERSATION, tokenize=False))
    return found


def _elsewhere(given: tuple[BPETokenizer, list[str]]) -> tuple[list[object], BPETokenizer]:
    return answers(*given), given[0]


@pytest.fixture(scope="module")
def travellers(tmp_path_factory):
    """(tokenizer, texts) for each family and for files drawn at random: every part that a tokenizer can have."""
    folder, found = tmp_path_factory.mktemp("travellers"), []
    files = [*families().values(), *map(random_zoo.draw, range(amount(16, 1_500)))]
    in_c = "auto" if native.extension() is None else "native"
    for number, data in enumerate(files):
        encoder = ("auto", "heap", "trie", in_c)[number % 4]
        tokenizer = opened(data, folder, encoder)
        if number % 3 == 0:
            tokenizer = tokenizer.with_options(metadata={"chat_template": TEMPLATE, "model_max_length": 9})
        found.append((tokenizer, random_zoo.texts(random.Random(number), data, 2)))
    return found


@pytest.mark.slow
def test_pickles_and_copies(travellers):
    for tokenizer, texts in travellers:
        unused = pickle.dumps(tokenizer)
        expected = answers(tokenizer, texts)
        used = pickle.dumps(tokenizer)
        assert abs(len(used) - len(unused)) < 2_000  # caches and engines stay at home
        for data in (unused, used, pickle.dumps(tokenizer, 2)):
            assert answers(pickle.loads(data), texts) == expected
        for again in (copy.copy(tokenizer), copy.deepcopy(tokenizer)):
            assert answers(again, texts) == expected


@pytest.mark.slow
def test_to_another_process_and_back(travellers):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for (there, back), (tokenizer, texts) in zip(pool.map(_elsewhere, travellers), travellers):
            assert there == answers(back, texts) == answers(tokenizer, texts)


FORKED = """
import sys

if "logging" in sys.modules:
    sys.exit("logging is imported already: this can't fail")
import multiprocessing
import threading

from bpelab import BPETokenizer

tokenizer = BPETokenizer.from_pretrained(sys.argv[1])
text = ("the harbour and the sea, na\\u00efve 12 " * 300)[:9_000]
thread = threading.Thread(target=lambda: [tokenizer.encode(text[at:]) for at in range(120)], daemon=True)
thread.start()
context = multiprocessing.get_context("fork")
for _ in range(40):
    child = context.Process(target=tokenizer.encode, args=("the harbour",))
    child.start()
    child.join(60)
    if child.exitcode != 0:
        child.kill()
        sys.exit(f"a child {'hangs' if child.exitcode is None else 'fails'}")
thread.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="this system doesn't fork")
@pytest.mark.parametrize("run", range(3))
def test_forks_while_a_thread_encodes_for_the_first_time(run, tmp_path):
    """What the thread imports has locks of its own; logging has one that every fork takes, too."""
    BPETokenizer.train(book_text()[:50_000], 800, progress=False).save(tmp_path)
    words = [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path)]
    environment = {**os.environ, "BPELAB_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, "")
