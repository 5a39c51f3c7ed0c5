"""Long runs and endless variety: the same ids as in Python, no failure, and memory that stays flat."""

import base64
import random
import subprocess
import sys

import pytest

from bpelab import BPEModel, BPETokenizer, native
from bpelab.notebook import book_text
from bpelab.regex.patterns import PATTERNS

from ..conftest import amount

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler"),
]

GROWTH = 100_000_000
"""Bytes that memory may grow by while new text comes and comes."""


@pytest.fixture(scope="module")
def model() -> BPEModel:
    runs = "".join(unit * length for unit in ("a", " ", "\n", "-", "=", "7", "^", "日") for length in (3, 9, 40, 200))
    return BPETokenizer.train(book_text() + runs * 30, 1_500).model


@pytest.mark.parametrize("name", PATTERNS)
def test_a_run_of_one_character(model, name):
    """Quadratic merging and a stack that overflows are what others met here."""
    slow = BPETokenizer(model, pattern=name, encoder="buckets")
    quick = slow.with_options(encoder="native")
    size = amount(20_000, 1_000_000)
    for unit in ["a", "A", " ", "\n", "^", "-", "=", "7", "日", "ab", "\r\n", " a"]:
        text = unit * (size // len(unit))
        assert quick.encode(text) == slow.encode(text), (name, unit)
        assert quick.encode(text + "x") == slow.encode(text + "x"), (name, unit)


@pytest.mark.parametrize("letters", ["abcdefghijklmnopqrstuvwxyz", "ACGT", "-=", "日本語中文", "аб"])
def test_a_word_without_an_end(model, letters):
    text = "".join(random.Random(5).choices(letters, k=amount(20_000, 1_000_000)))
    slow = BPETokenizer(model, pattern=None, encoder="buckets")
    assert slow.with_options(encoder="native").encode(text) == slow.encode(text)


def test_base64(model):
    text = base64.b64encode(random.Random(6).randbytes(amount(20_000, 750_000))).decode()
    slow = BPETokenizer(model, encoder="buckets")
    assert slow.with_options(encoder="native").encode(text) == slow.encode(text)


ENDLESS = """
import random, resource, sys
from bpelab import BPETokenizer
from bpelab.notebook import book_text
encoder, pattern, kind, amount = sys.argv[1], sys.argv[2] or None, sys.argv[3], int(sys.argv[4])
tokenizer = BPETokenizer.train(book_text(), 400, pattern=pattern, trainer="incremental").with_options(encoder=encoder)
rng = random.Random(1)
def texts():
    if kind == "words":  # pre-tokens that never come again
        for start in range(0, amount, 10_000):
            yield " ".join(f"{number:x}w{number * 7919:x}" for number in range(start, start + 10_000))
    else:  # documents that are one piece each
        for number in range(amount):
            yield f"{number}" + "".join(rng.choices("abcdefgh", k=50)) * 2_000
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
begun = None
for number, text in enumerate(texts()):
    tokenizer.encode(text)
    if number == 5:
        begun = peak()
print(peak() - begun)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
@pytest.mark.parametrize("encoder", ["native", "auto", "heap"])
@pytest.mark.parametrize(
    ("pattern", "kind", "short", "full"), [("cl100k", "words", 300_000, 2_000_000), ("", "documents", 60, 10_000)]
)
def test_memory_stays_flat_however_much_comes(encoder, pattern, kind, short, full):
    count = amount(short, full)
    if encoder == "heap" and kind == "documents":
        count = amount(20, 1_000)  # in Python a tenth of a second each
    command = [sys.executable, "-c", ENDLESS, encoder, pattern, kind, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < GROWTH
