"""Batches against one text after the other: the same ids, whatever the blocks, the threads and what is in the texts."""

import os
import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from bpelab import BPEModel, BPETokenizer, SpecialTokenError, TemplateProcessing, native
from bpelab._support.textio import valid_text
from bpelab.core import batch
from bpelab.normalizers import Strip
from bpelab.notebook import book_text
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.char_types import Digits, WhitespaceSplit
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, encoding, fuzz_text

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")

OPTIONS = (
    {},
    {"pattern": "gpt2", "special_tokens": ["<|end|>", "<|en"]},
    {"normalizer": "NFC", "special_tokens": ["<|end|>"]},
    {"pattern": None},
    {"pattern": r"(?<=a)b|\w+"},  # split in Python
    {"pattern": "a*b|a| +"},  # with gaps and too much look-ahead
)


@pytest.fixture(scope="module")
def pairs():
    """Tokenizers that encode in Python, and the same in C."""
    slow = [BPETokenizer.train(book_text()[:20_000], 500, **options) for options in OPTIONS]
    added = [
        AddedToken("<x>", 600, special=False, lstrip=True),
        AddedToken("the", 601, special=False, normalized=True, single_word=True),
        AddedToken("é<", 602, special=False, normalized=True),
        AddedToken("<|end|>", 603, rstrip=True),
    ]
    slow.append(slow[0].with_options(special_tokens=SpecialTokens(added), normalizer="NFD"))
    slow.append(slow[0].with_options(pattern=None, pre_tokenizer=ByteLevel()))
    slow.append(slow[0].with_options(pattern=None, pre_tokenizer=PreTokenizerSequence([WhitespaceSplit(), Digits()])))
    first = Metaspace(prepend_scheme="first")
    slow += [slow[2].with_options(pattern=None, pre_tokenizer=first, normalizer=kind) for kind in (None, Strip())]
    return [(one.with_options(encoder="heap"), one.with_options(encoder="native")) for one in slow]


def random_texts(rng: random.Random) -> list[str]:
    texts = []
    for _ in range(rng.choice([0, 1, 2, 7, 40])):
        kind = rng.random()
        if kind < 0.4:
            texts.append(fuzz_text(rng))
        elif kind < 0.7:
            start = rng.randrange(100_000)
            texts.append(book_text()[start : start + rng.choice([0, 1, 3, 50, 900])])
        else:
            words = ["<|end|>", "<|en", "<x>", " the ", "the", "é<", " ", "e\u0301", "aab", "\ud800", "x", "'s"]
            texts.append("".join(rng.choices(words, k=rng.randint(0, 9))))
    return texts


def check(tokenizer, texts, expected, threads, allowed):
    assert tokenizer.encode_batch(texts, allowed_special=allowed, threads=threads) == expected
    ids, offsets = tokenizer.encode_batch_array(iter(texts), allowed_special=allowed, threads=threads)
    assert (ids.dtype, offsets.dtype, len(offsets)) == (np.uint32, np.int64, len(texts) + 1)
    assert [ids[a:b].tolist() for a, b in zip(offsets, offsets[1:])] == expected
    assert offsets[0] == 0 and offsets[-1] == len(ids)


def test_as_one_by_one(pairs, monkeypatch):
    rng = random.Random(1)
    for _ in range(amount(25, 1_000)):
        texts = random_texts(rng)
        monkeypatch.setattr(batch, "MIN_BLOCK_CHARS", rng.choice([1, 50, 1_000, 100_000]))
        for slow, in_c in pairs:
            for allowed in ((), "all"):
                expected = [slow.encode(text, allowed_special=allowed) for text in texts]
                check(in_c, texts, expected, rng.choice([None, 1, 2, 5]), allowed)
        slow, _ = pairs[0]
        check(slow, texts, list(map(slow.encode, texts)), 3, ())


def test_too_much_lookahead(pairs):
    slow, in_c = pairs[5]
    texts = ["a" * 20_000, "ab", "b" + "a" * 15_000, "", "a b"]
    check(in_c, texts, [slow.encode(text) for text in texts], 2, ())


def test_blocks():
    rng = random.Random(2)
    for _ in range(300):
        texts = ["x" * rng.choice([0, 0, 1, 5, 30]) for _ in range(rng.randint(0, 30))]
        found = batch.group_by_size(texts, 20)
        assert [text for block in found for text in block] == texts
        assert all(found) and all(sum(map(len, block)) >= 20 for block in found[:-1])
        assert all(sum(map(len, block[:-1])) < 20 for block in found)


def test_a_cache_that_grows_amid_a_block():
    tokenizer = BPETokenizer(BPEModel.from_merges([(b"a", b"b")]), encoder="native")
    rng = random.Random(3)
    texts = [" ".join(f"{rng.randrange(10**9):x}ab" for _ in range(200)) for _ in range(100)]
    slow = tokenizer.with_options(encoder="heap")
    check(tokenizer, texts, [slow.encode(text) for text in texts], 1, ())


def test_real_vocabulary():
    reference = encoding("cl100k_base")
    tokenizer = BPETokenizer.from_tiktoken(reference, encoder="native")
    rng = random.Random(4)
    text = book_text()
    texts = [text[start : start + rng.randint(0, 4_000)] for start in rng.sample(range(len(text)), amount(300, 5_000))]
    check(tokenizer, texts, reference.encode_ordinary_batch(texts), 2, ())
    assert tokenizer.encode(text) == reference.encode_ordinary(text)


@pytest.fixture(scope="module")
def gpt2():
    tokenizer = BPETokenizer.train(book_text()[:60_000], 900, pattern="gpt2")
    return tokenizer.with_options(encoder="heap"), tokenizer


@settings(max_examples=amount(40, 2_000), deadline=None)
@given(
    st.lists(st.sampled_from([0, 0, 1, 3, 15, 16, 31, 32, 63, 64, 100, 511, 512, 900]), max_size=200), st.integers(0)
)
@example([0] * 300, 0)  # more texts than ever wait, and nothing in them
@example([7] * 300, 1)  # each with something that waits
@example([100] * 40 + [0], 2)
def test_misses_wait_across_texts(gpt2, sizes, seed):
    """A batch of words that are new, some of them in other scripts, is what its texts are one by one."""
    slow, known = gpt2
    rng = random.Random(seed)
    texts = ["".join(rng.choices("abcdefgh  éя日本語\n", k=size)) for size in sizes]
    check(known.with_options(encoder="native"), texts, list(map(slow.encode, texts)), 1, ())


@pytest.mark.parametrize("pieces", [1023, 1024, 1025, 2047, 2048, 2049, 5000])
def test_texts_that_end_where_a_chunk_does(gpt2, pieces):
    slow, known = gpt2
    rng = random.Random(pieces)
    texts = [" " + " ".join("".join(rng.choices("abcde", k=3)) for _ in range(pieces)) for _ in range(3)]
    check(known.with_options(encoder="native"), [*texts, ""], [*map(slow.encode, texts), []], 1, ())


def test_a_batch_too_large_to_be_joined(gpt2):
    """Above 8 MB texts are encoded one by one."""
    _, fast = gpt2
    texts = [book_text()[:400_000]] * 25
    ids, stops = fast.pipeline.native.encode_texts(texts)
    expected = fast.encode_array(texts[0])
    assert np.array_equal(np.frombuffer(ids, np.uint32), np.tile(expected, 25))
    assert np.array_equal(np.frombuffer(stops, np.int64), np.arange(26) * len(expected))


def test_options(pairs):
    slow, in_c = pairs[1]
    wrapped = in_c.with_options(post_processor=TemplateProcessing(("<|en", "$A", "<|end|>")))
    texts = ["a<|end|>", "", "the"]
    assert wrapped.encode_batch(texts) == list(map(wrapped.encode, texts))
    assert wrapped.encode_batch(texts, add_special_tokens=False) == [slow.encode(text) for text in texts]
    with pytest.raises(SpecialTokenError, match="character 1"):
        in_c.encode_batch(texts, disallowed_special="all")
    with pytest.raises(SpecialTokenError, match="allowed_special names"):
        in_c.encode_batch_array(texts, allowed_special=["<nothing>"])
    for method in (in_c.encode_batch, in_c.encode_batch_array, slow.encode_batch):
        for wrong in ("ab", b"ab"):
            with pytest.raises(TypeError, match="several texts"):
                method(wrong)
        with pytest.raises(TypeError, match=r"texts\[1\] must be a str, not NoneType"):
            method(["a", None])
        with pytest.raises(TypeError):
            method(5)
        for threads in (0, -1, True, 1.0, "2"):
            with pytest.raises(ValueError, match="threads is a whole number from 1 up"):
                method(texts, threads=threads)


def test_ids_without_a_search_are_those_with_one(pairs):
    """Where no added token can be found nothing is searched; the ids are the same, also of a text that vanishes."""
    rng = random.Random(6)
    texts = ["", " ", "  a b ", "é<", "e\u0301", "<|end|>", *(fuzz_text(rng) for _ in range(amount(40, 2_000)))]
    for slow, in_c in pairs:
        pipeline = slow.pipeline
        if not all(token.special for token in pipeline.special.tokens):
            continue
        for text in map(valid_text, texts):
            segments = [(segment, first) for segment, _, first in pipeline.segments(text, frozenset())]
            expected = pipeline.encode_pieces([piece for each in segments for piece in pipeline.pre_tokenize(*each)])
            assert slow.encode_ordinary(text) == in_c.encode_ordinary(text) == expected
            assert slow.encode_array(text).tolist() == in_c.encode_array(text).tolist() == expected


def test_rows_are_those_of_encode(pairs):
    for slow, in_c in pairs:
        assert in_c(book_text()[:9_000].split("\n")) == slow(book_text()[:9_000].split("\n"))


def test_sixteen_threads_at_once(pairs):
    slow, in_c = pairs[0]
    rng = random.Random(5)
    batches = [[book_text()[s : s + rng.randint(0, 3_000)] for s in rng.sample(range(200_000), 40)] for _ in range(16)]
    expected = [[slow.encode(text) for text in texts] for texts in batches]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda texts: in_c.encode_batch(texts, threads=2), batches * 2)) == expected * 2
        assert list(pool.map(lambda texts: list(map(in_c.encode, texts)), batches)) == expected


@pytest.mark.parametrize("wrong", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_what_goes_wrong_in_a_thread_comes_out(wrong):
    main, done = threading.get_ident(), []
    other = threading.Event()

    def work(number):
        if threading.get_ident() == main:
            other.wait(300)
        else:
            other.set()
            raise wrong("here")
        done.append(number)

    with pytest.raises(wrong, match="here"):
        batch.map_in_threads(work, range(100), 3)
    assert len(done) <= 3


def test_no_thread_to_be_had(monkeypatch):
    def submit(self, work):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    assert batch.map_in_threads(lambda number: number + 1, range(9), 4) == list(range(1, 10))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
def test_a_fork_after_threads():
    code = """
import os, sys, warnings
from bpelab import BPETokenizer
from bpelab.core import batch
warnings.simplefilter("ignore")  # that of Python 3.12 on about a fork amid threads
batch.MIN_BLOCK_CHARS = 1000
t = BPETokenizer.train("low lower lowest " * 9, 262, encoder="native")
texts = ["lowest newer " * 90] * 20
expected = t.encode_batch(texts, threads=4)
child = os.fork()
if not child:
    os._exit(t.encode_batch(texts, threads=4) != expected)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or expected[0] != t.encode(texts[0]))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=600).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.slow
def test_ctrl_c_ends_a_batch():
    """Sent while several threads work; the batch ends early, and the tokenizer is as good as before."""
    code = """
import os, signal, threading
from bpelab import BPETokenizer
from bpelab.core import batch
t = BPETokenizer.train("low lower lowest " * 9, 262, encoder="native")
texts, begun, undivided = ["lowest newer " * 900] * 200_000, threading.Event(), batch.batch_for_native
t.encode_batch_array(texts[:99], threads=3)  # all that is loaded for it is there
def watched(*given):
    if threading.current_thread() is not threading.main_thread():
        begun.set()
    return undivided(*given)
def press():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)
batch.batch_for_native = watched
threading.Thread(target=press).start()
try:
    t.encode_batch_array(texts, threads=3)
except KeyboardInterrupt:
    print(t.encode_batch(texts[:2], threads=2) == [t.encode(texts[0])] * 2)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_lists_of_ints(pairs):
    _, in_c = pairs[0]
    encoder = in_c.pipeline.native
    for ids in ([], [0], [255] * 300, [*range(400), 2**32 - 1]):  # the last one is no id of the tokenizer's
        array, stops = np.array(ids, np.uint32), np.array([0, 0, len(ids) // 2, len(ids)])
        (listed,) = encoder.lists(array, stops[[0, 3]])
        assert listed == ids and all(type(number) is int for number in listed)
        assert encoder.lists(array, stops) == [[], ids[: len(ids) // 2], ids[len(ids) // 2 :]]
    ((first, *_), (second, *_)) = encoder.lists(np.array([300] * 200, np.uint32), np.array([0, 100, 200]))
    assert first is second


def test_ids_that_no_array_holds():
    ranks = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 2**33}
    tokenizer = BPETokenizer(BPEModel.from_ranks(ranks), encoder="native")
    assert tokenizer.encode_batch(["abc"]) == [[2**33, 99]]
    with pytest.raises(OverflowError):
        tokenizer.encode_batch_array(["abc"])


def test_pickled(pairs):
    assert pickle.loads(pickle.dumps(pairs[6][1])).encode_batch(["the <x>"]) == pairs[6][0].encode_batch(["the <x>"])
