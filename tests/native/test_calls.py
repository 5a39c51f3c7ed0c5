"""Short texts straight to lists: the same ids as the pure-Python encoder's, whoever calls and whatever the text."""

import gc
import os
import random
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.compiled.calls import MOST
from bpelab.compiled.encode import encode_at
from bpelab.compiled.engine import Engine
from bpelab.compiled.handle import kind, numbers
from bpelab.compiled.parts import BUSY
from bpelab.notebook import book_text

from ..conftest import amount, fuzz_text

pytestmark = pytest.mark.slow  # numba's kernels are compiled: half a minute


def pair(**options) -> tuple[BPETokenizer, BPETokenizer]:
    """One text's tokenizer in Python, and the same compiled."""
    slow = BPETokenizer.train(book_text()[:60_000], 900, special_tokens=["<|end|>"], **options)
    return slow, slow.with_options(encoder="compiled")


@pytest.fixture(scope="module")
def both() -> tuple[BPETokenizer, BPETokenizer]:
    return pair()


def shared_handle(tokenizer: BPETokenizer):
    return tokenizer._pipeline._engine._shared


def test_texts_of_all_kinds(both):
    slow, fast = both
    rng = random.Random(1)
    texts = ["", "a", "é", "日", "😀", "\x00", "\xff", "\u07ff", "\u0800", "\uffff", "\U0010ffff", "a\ud800b", "\udc00"]
    texts += [fuzz_text(rng) for _ in range(amount(2_000, 100_000))]
    for text in texts:
        expected = slow.encode(text)
        assert fast.encode(text) == fast.encode_ordinary(text) == expected, text
    brief = fast._pipeline.brief
    assert brief("é日😀 a") == slow.encode("é日😀 a")
    assert brief("a\ud800b") is None


def test_texts_around_the_longest(both):
    slow, fast = both
    text = book_text()[:40_000]
    for size in (MOST - 1, MOST, MOST + 1, 3 * MOST):
        for end in ("", "é", "😀"):
            assert fast.encode(text[:size] + end) == slow.encode(text[:size] + end)
    assert fast._pipeline.brief(text[: MOST + 1]) is None
    worst = "\U0010ffff" * MOST  # the most bytes, and as many ids
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


def test_ids_without_a_kept_int(monkeypatch):
    """Ids beyond those whose ints are kept."""
    monkeypatch.setattr("bpelab.compiled.engine.MOST_INTS", 100)
    slow, fast = pair()
    text = book_text()[:5_000]
    for _ in range(2):
        assert fast.encode(text) == slow.encode(text)
    assert fast.encode(text * 5) == slow.encode(text * 5)


def test_ints_are_counted_right(both):
    """Every list owns its ints, and giving lists up gives these back."""
    _, fast = both
    ids = fast.encode("the low lowest tower")
    known = shared_handle(fast)._ints
    large = next(number for number in ids if number > 256)
    before = sys.getrefcount(known[large])
    kept = [fast.encode("the low lowest tower") for _ in range(50)]
    during = sys.getrefcount(known[large])
    del kept
    after = sys.getrefcount(known[large])
    assert (during, after) == (before + 50 * ids.count(large), before)


def test_a_cache_that_is_full_grows(both):
    slow, _ = both
    fast = slow.with_options(encoder="compiled")
    handle, address = shared_handle(fast), shared_handle(fast).address
    rows = len(handle.parts.cache.narrow)
    rng = random.Random(3)
    for _ in range(100):
        text = " ".join("".join(rng.choices("bcdfghjklmnpqrstvwxz", k=3)) for _ in range(100))
        assert fast.encode(text) == slow.encode(text)
    assert len(handle.parts.cache.narrow) > rows
    assert handle.address == address == handle.slots.ctypes.data


def test_a_handle_in_use_is_left_alone(both):
    """What a collection runs in the middle of a call may encode too."""
    slow, fast = both
    slots = shared_handle(fast).slots
    slots[BUSY] = 1
    try:
        assert fast._pipeline.brief("low") is None
        assert fast.encode("low lower") == slow.encode("low lower")
    finally:
        slots[BUSY] = 0

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
    fast = slow.with_options(encoder="compiled")
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
    assert len(fast._pipeline._engine._free) == 1


def test_numbers_and_kinds_of_arrays():
    array = np.zeros((3, 2), np.uint32)
    assert list(numbers((array, 5, np.uint64(7), True))) == [array.ctypes.data, 3, 2, 5, 7, 1]
    assert kind(np.frombuffer(b"ab", np.uint8)) == kind(np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="gaps"):
        list(numbers(np.zeros((4, 4))[:, 1]))


def test_an_engine_outlives_its_owner():
    model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    fast = BPETokenizer(model, encoder="compiled")
    brief = fast._pipeline.brief
    del fast
    gc.collect()
    assert brief("low") == [257]
    assert Engine(model, None).brief() is None
    assert encode_at() == encode_at()
