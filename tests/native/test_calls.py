"""Short texts straight to lists: the same ids as the pure-Python encoder's, for any caller and any text."""

import gc
import os
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bpelab import BPEModel, BPETokenizer, native
from bpelab.notebook import book_text

from ..conftest import amount, fuzz_text

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")

MAX_SHORT_TEXT = 4096
"""Bytes of the longest text that is encoded without releasing the interpreter's lock; see module.c."""


def pair(**options) -> tuple[BPETokenizer, BPETokenizer]:
    """One text's tokenizer in Python, and the same in C."""
    slow = BPETokenizer.train(book_text()[:60_000], 900, special_tokens=["<|end|>"], **options)
    return slow.with_options(encoder="heap"), slow.with_options(encoder="native")


@pytest.fixture(scope="module")
def both() -> tuple[BPETokenizer, BPETokenizer]:
    return pair()


def test_texts_of_all_kinds(both):
    slow, fast = both
    rng = random.Random(1)
    texts = ["", "a", "é", "日", "😀", "\x00", "\xff", "\u07ff", "\u0800", "\uffff", "\U0010ffff", "a\ud800b", "\udc00"]
    texts += [fuzz_text(rng) for _ in range(amount(2_000, 100_000))]
    for text in texts:
        expected = slow.encode(text)
        assert fast.encode(text) == fast.encode_ordinary(text) == expected, text
    encode_short = fast.pipeline.encode_short
    assert encode_short("é日😀 a") == slow.encode("é日😀 a")
    assert encode_short("a\ud800b") is None


def test_texts_around_the_longest(both):
    slow, fast = both
    text = book_text()[:40_000]
    for size in (
        MAX_SHORT_TEXT - 64,
        MAX_SHORT_TEXT - 1,
        MAX_SHORT_TEXT,
        MAX_SHORT_TEXT + 1,
        MAX_SHORT_TEXT + 64,
        3 * MAX_SHORT_TEXT,
    ):
        for end in ("", "é", "😀"):
            assert fast.encode(text[:size] + end) == slow.encode(text[:size] + end)
    worst = "\U0010ffff" * MAX_SHORT_TEXT  # the most bytes, and as many ids
    assert fast.encode(worst) == slow.encode(worst)


def test_special_tokens_and_what_is_put_around(both):
    slow, fast = both
    text = "a<|end|>b"
    for options in ({}, {"allowed_special": "all"}, {"allowed_special": ["<|end|>"]}, {"allowed_special": []}):
        assert fast.encode(text, **options) == slow.encode(text, **options)
    with pytest.raises(ValueError, match=r"<\|end\|>"):
        fast.encode(text, disallowed_special="all")
    with pytest.raises(TypeError, match="not bytes"):
        fast.encode(b"a")
    with pytest.raises(ValueError, match="collection"):
        fast.encode("a", allowed_special="")

    class Text(str):
        pass

    assert fast.encode(Text("low")) == slow.encode("low")


def test_ids_without_a_kept_int():
    """Ids beyond those whose ints are kept."""
    model = BPEModel.from_ranks({bytes([n]): n for n in range(256)} | {b"lo": 3_000_000, b"low": (1 << 28) - 1})
    slow, fast = (BPETokenizer(model, encoder=encoder) for encoder in ("heap", "native"))
    for _ in range(2):
        assert fast.encode("low lower lo" * 9) == slow.encode("low lower lo" * 9)


def test_ints_are_counted_right(both):
    """Every list owns its ints, and giving lists up gives these back."""
    _, fast = both
    ids = fast.encode("the low lowest tower")
    large = next(number for number in ids if number > 256)
    before = sys.getrefcount(large)
    kept = [fast.encode("the low lowest tower") for _ in range(50)]
    during = sys.getrefcount(large)
    del kept
    after = sys.getrefcount(large)
    assert (during, after) == (before + 50 * ids.count(large), before)


def test_a_cache_that_is_full_grows(both):
    slow, _ = both
    fast = slow.with_options(encoder="native")
    rng = random.Random(3)
    for _ in range(100):
        text = " ".join("".join(rng.choices("bcdfghjklmnpqrstvwxz", k=3)) for _ in range(100))
        assert fast.encode(text) == slow.encode(text)


def test_what_a_collection_runs_may_encode_too(both):
    slow, fast = both

    class Loop:
        def __init__(self):
            self.me = self

        def __del__(self):
            assert fast.encode("low lower") == expected

    expected = slow.encode("low lower")
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(300):
            Loop()
            assert fast.encode("low lower") == expected
    finally:
        gc.set_threshold(*thresholds)


def test_threads_on_short_texts(both):
    slow, _ = both
    fast = slow.with_options(encoder="native")
    rng = random.Random(2)
    texts = [book_text()[start : start + rng.randint(0, 300)] for start in rng.sample(range(200_000), 300)]
    expected = list(map(slow.encode, texts))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(16) as pool:
            assert list(pool.map(fast.encode, texts * amount(4, 100))) == expected * amount(4, 100)
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.slow
def test_after_a_fork(both):
    slow, fast = both
    text = book_text()[:500]
    fast.encode(text)
    child = os.fork()
    if child == 0:
        os._exit(0 if fast.encode(text) == fast.encode(text * 1) == slow.encode(text) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert fast.encode(text) == slow.encode(text)


def test_many_short_threads_that_end():
    """Caches of threads that are gone are used by others."""
    slow, fast = pair()
    text = book_text()[:20_000]
    expected = slow.encode(text)
    results: list[list[int]] = []
    for _ in range(5):
        thread = threading.Thread(target=lambda: results.append(fast.encode(text)))
        thread.start()
        thread.join()
    assert results == [expected] * 5


def test_what_encodes_outlives_its_owner():
    model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    fast = BPETokenizer(model, encoder="native")
    assert fast.encode("lo") == [256]
    encode_short = fast.pipeline.encode_short
    del fast
    gc.collect()
    assert encode_short("low") == [257]
