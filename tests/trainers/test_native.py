"""The trainer in C against the others: the same merges in the same order with the same counts, from any corpus."""

import random
import subprocess
import sys
import threading
from array import array
from collections import Counter
from concurrent.futures import Future
from functools import partial

import pytest

from bpelab import BPETokenizer, MissingDependencyError, TrainingError, native
from bpelab.model.trace import trace_train
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.trainers import find_trainer, train_incremental, train_naive, train_native
from bpelab.trainers.counting import corpus, native as trainer
from bpelab.trainers.counting.corpus import count_pre_tokens, training_texts
from bpelab.trainers.counting.native import NativeCounter, count_native
from bpelab.trainers.counting.pre_token_counts import PreTokenCounts
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, fuzz_text
from .test_trainers import random_corpus

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")
_core = pytest.importorskip("bpelab.native._core") if native.extension() else None
COUNT_ROWS = 1 << 14  # of a new counter


def agree(words, merges, least=1, reference=train_incremental):
    assert list(train_native(words, merges, least)) == list(reference(words, merges, least)), words


def test_small_corpora_full_of_ties():
    rng = random.Random(11)
    for _ in range(amount(400, 20_000)):
        agree(random_corpus(rng), 60, rng.choice((1, 1, 2, 3)), train_naive)


def test_runs_and_overlaps():
    for text in (b"a", b"aa", b"aaa", b"aaaa", b"aaaaaaaaab", b"abababab", b"aabaabaa" * 7, bytes(range(256)) * 3):
        agree({text: 3}, 60, 1, train_naive)
    rng = random.Random(12)
    for _ in range(amount(200, 5_000)):
        agree({bytes(rng.choices(b"aab", k=rng.randint(1, 300))): rng.randint(1, 3)}, 100, 1, train_naive)


@pytest.mark.slow
def test_the_book_and_larger_corpora():
    words = Counter(piece.encode() for piece in Split("cl100k").split(book_text()))
    for least in (1, 2, 5):
        agree(words, 10_000, least)
    rng = random.Random(13)
    for letters, number in (("ab", 3_000), ("abcdefghij", 20_000), ("aé日😀 ", 5_000)):
        made = ("".join(rng.choices(letters, k=rng.randint(1, 14))) for _ in range(number))
        agree(Counter(word.encode() for word in made), 4_000)


def test_counts_beyond_32_bits():
    steps = list(train_native({b"ab": 1 << 40, b"abc": 7, b"xy": 1 << 60}, 3, 2))
    assert [step.count for step in steps] == [1 << 60, (1 << 40) + 7, 7]
    with pytest.raises(TrainingError, match="64 bits"):
        list(train_native({b"abc": 1 << 61}, 3, 2))
    with pytest.raises(TrainingError, match="64 bits"):
        list(train_native({b"abc": 1 << 64}, 3, 2))
    counter = NativeCounter(Split("gpt2"))
    for _ in range(3):
        counter.add(PreTokenCounts.of({b"ab": 1 << 40, b"x" * 40: 1 << 41}))
    counter.feed(["ab ab"])
    assert counter.table().as_dict() == {b"ab": 3 * (1 << 40) + 1, b"x" * 40: 3 << 41, b" ab": 1}


def test_sums_beyond_64_bits():
    counter = NativeCounter(None)
    for word in (b"ab", b"x" * 40):
        counter.add(PreTokenCounts.of({word: 1 << 62}))
        with pytest.raises(TrainingError, match="64 bits"):
            counter.add(PreTokenCounts.of({word: 1}))
    assert counter.table().as_dict() == {b"ab": 1 << 62, b"x" * 40: 1 << 62}
    assert counter.table(1 << 99).as_dict() == counter.table().as_dict()
    assert not NativeCounter(None).table().as_dict()


def test_odd_numbers():
    words = {b"low": 5, b"lower": 2, b"": 4, b"l": 9}
    for merges, least in ((0, 1), (-1, 1), (3, 0), (10**12, 1), (3, 10**30), (1, 1)):
        assert list(train_native(words, merges, least)) == list(train_incremental(words, merges, least))
    for none in ({}, {b"": 3}, {b"a": 3}):
        assert list(train_native(none, 5)) == []


def test_kept_counts_are_those_of_the_incremental_trainer():
    words = {b"low": 5, b"lower": 2, b"newest": 6}
    assert list(trace_train(train_native, words, 6)) == list(trace_train(train_incremental, words, 6))
    assert list(train_native(PreTokenCounts.of(words), 6, 1, True)) == list(train_incremental(words, 6, 1, True))


def test_tables_that_have_to_grow():
    """Many pairs at first, and many more that merges make: what became rare is left out of a new table."""
    rng = random.Random(14)
    words = Counter(bytes(rng.choices(range(256), k=rng.randint(1, 9))) for _ in range(amount(6_000, 60_000)))
    for least in (1, 2, 3):
        agree(words, 6_000, least)
    agree({bytes(rng.choices(b"ab", k=50_000)): 1, **words}, 6_000, 1)


def long_words():
    rng = random.Random(15)
    yield b"a" * 1_000_000
    yield bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=1_000_000))
    yield b"ab" * 500_000
    yield b" " * 999_999 + b"x"


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_one_word_of_a_megabyte(number):
    word = list(long_words())[number]
    steps = list(train_native({word: 1}, 2_000))  # a tenth of a second; a quadratic way would take hours
    few = amount(3, 2_000)
    assert steps[:few] == list(train_incremental({word: 1}, few))


def count(texts, split, threads=1):
    return count_native(texts, split, threads).as_dict()


def expected(texts, split):
    return dict(count_pre_tokens(list(texts), split, SpecialTokens({})))


@pytest.mark.parametrize("pattern", [*PATTERNS, "(?<=a)b|\\w+", "[a-z]+", "a*b|a", "x*", None])
def test_words_are_counted_as_in_python(pattern):
    """Named patterns, some with gaps, ones that look behind or match nothing, and none at all."""
    rng, split = random.Random(16), pattern and Split(pattern)
    for _ in range(amount(20, 2_000)):
        texts = [fuzz_text(rng) for _ in range(rng.randint(0, 30))]
        for threads in (1, 2):
            assert count(texts, split, threads) == expected(texts, split)


def test_behaviours_are_left_to_python():
    for split in (Split("-", "MergedWithPrevious"), Split("[a-z]", "Isolated", invert=True), Split("-", "Removed")):
        assert count(["a-b--c", "b"], split) == expected(["a-b--c", "b"], split)


def test_a_scan_that_reads_in_vain_goes_on_in_python():
    texts = ["ab aab", "a" * 30_000, "ab" * 3_000 + "a" * 30_000 + "b", "aab"]
    assert count(texts, Split("a*b|a")) == expected(texts, Split("a*b|a"))


def test_many_distinct_words_and_long_ones():
    rng = random.Random(17)
    bits = (8, 40, 60, 64, 90, 300)
    texts = [" ".join(f"{rng.getrandbits(rng.choice(bits)):x}" for _ in range(3_000)) for _ in range(20)]
    texts += [texts[0], "é" * 50_000, "é" * 50_000, "x" * 15 + " " + "x" * 16 + " " + "x" * 14]
    split = Split(r"\S+|\s+")
    found = expected(texts, split)
    assert len(found) > COUNT_ROWS
    for threads in (1, 2, 5):
        assert count(texts, split, threads) == found


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::bpelab.trainers.counting.corpus.PatternMatchesLittle"
)  # no letter of the pattern is left
@pytest.mark.parametrize("threads", [1, 2])
def test_every_form_of_a_corpus(threads, tmp_path, monkeypatch):
    rng = random.Random(18)
    text = book_text()[:60_000] + "".join(fuzz_text(rng) + "<|end|>" for _ in range(300))
    text = text.encode("utf-8", "replace").decode()
    file, special = tmp_path / "a.txt", SpecialTokens({"<|end|>": 1, " a": 2})
    file.write_bytes(text.encode())
    for split in (Split("cl100k"), Split("[a-z]+"), None):
        for normalize in (None, str.upper):
            whole = dict(count_pre_tokens(text, split, special, normalize))
            for block in (100, 5_000):
                monkeypatch.setattr(corpus, "BLOCK", block)
                monkeypatch.setattr(trainer, "BLOCK", block)
                for form in (text, file, [text], [file], iter([text])):
                    texts = training_texts(form, split, special, normalize)
                    assert count_native(texts, split, threads).as_dict() == whole
            monkeypatch.undo()


def test_training_is_the_same_whatever_the_trainer(tmp_path):
    text = book_text()[:100_000] + "<|end|>" * 9
    for options in (
        {},
        {"pattern": "gpt2", "min_frequency": 5},
        {"pattern": r"\w+|[^\w]", "special_tokens": ["<|end|>"]},
        {"pattern": None, "normalizer": "NFKC"},
        {"pattern": "(?<=a)b|\\w+", "special_tokens": {"<|end|>": 300}},
    ):
        ours = BPETokenizer.train(text, 700, trainer="native", **options)
        theirs = BPETokenizer.train(text, 700, trainer="incremental", **options)
        assert ours.model == theirs.model and ours.special_tokens == theirs.special_tokens
    for empty in ("", [], ["", ""], iter([])):
        with pytest.raises(TrainingError, match="empty"):
            BPETokenizer.train(empty, 300, trainer="native")
    for threads in (1, 2):
        with pytest.raises(TrainingError, match="can't be read"):
            count_native(training_texts(tmp_path / "none", None, SpecialTokens({})), None, threads)
        with pytest.raises(TypeError, match="item 1 of the corpus"):
            count_native(training_texts(["a", 7], None, SpecialTokens({})), None, threads)


def test_auto_takes_it_from_the_first_character(monkeypatch):
    counted = []

    def count(*given, **options):
        counted.append(given)
        return count_native(*given, **options)

    monkeypatch.setattr("bpelab.trainers.counting.local.count_native", count)
    assert BPETokenizer.train("ab ab", 257).model == BPETokenizer.train("ab ab", 257, trainer="naive").model
    assert len(counted) == 1


def test_it_is_found_by_name():
    assert find_trainer("native") is train_native


@pytest.mark.slow
def test_ctrl_c_stops_counting_and_merging():
    """Delivered while kernels run: it arrives within a moment, and no thread is left behind."""
    program = """
import signal, sys, threading, time
from bpelab import BPETokenizer, Split
from bpelab.trainers.counting.native import count_native
from bpelab.trainers.native import train_native
import random
rng = random.Random(1)
train = lambda: list(train_native({bytes(rng.choices(b"abcdefghij", k=3_000_000)): 1}, 10**6, 1))
text = "".join(rng.choices("abcdefghij  ", k=1_000_000))
counting = lambda: count_native(iter(lambda: text, None), Split("gpt2"), 2)
list(train_native({b"ab": 3}, 1)), count_native(["a b"], Split("gpt2"))
for work in (train, counting):
    try:
        threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
        work()
        print("not stopped")
    except KeyboardInterrupt:
        print("stopped", threading.active_count() <= 2)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=600)
    assert done.stdout == "stopped True\nstopped True\n", done


def test_a_counter_that_is_stopped_returns():
    counter = NativeCounter(Split("gpt2"))
    counter.stop()
    counter.feed(["ab " * 1_000])
    assert counter.table().as_dict() == {}


def test_without_the_extension(monkeypatch):
    monkeypatch.setattr(native, "extension", lambda: None)
    with pytest.raises(
        MissingDependencyError, match=r"^the extension in C was not built: it needs a C compiler .* pip install"
    ):
        BPETokenizer.train("low lower lowest " * 9, 262, trainer="native")
    for ask in (lambda: list(train_native({b"ab": 2}, 1)), lambda: count_native(["ab"], None)):
        with pytest.raises(MissingDependencyError, match="was not built"):
            ask()
    assert len(BPETokenizer.train("low lower lowest " * 9, 262)) == 262


def test_training_needs_no_other_package():
    program = """
import sys
sys.modules["numpy"] = None
from bpelab import BPETokenizer
tokenizer = BPETokenizer.train("low lower lowest " * 9, 262, trainer="native", min_pre_token_frequency=2)
print(len(tokenizer))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "262\n", done


def test_words_too_large_for_the_arrays(monkeypatch):
    monkeypatch.setattr("bpelab.trainers.native.MAX_BYTES", 100)
    with pytest.raises(TrainingError, match="distinct pre-tokens have"):
        list(train_native({b"ab" * 60: 1}, 3))


def test_the_least_count_and_words_that_are_arrays(monkeypatch):
    assert [step.token for step in train_native({b"ab": 2, b"cd": 1}, 9)] == [b"ab"]
    words = PreTokenCounts.of({b"ab": 2})
    monkeypatch.setattr(PreTokenCounts, "of", None)  # they are not made again
    assert [step.token for step in train_native(words, 9)] == [b"ab"]


def test_what_occurs_often():
    texts = ["a a a bb bb " + "c" * 40] * 2
    for least, expected in ((1, 4), (2, 4), (3, 2), (4, 2), (5, 0)):
        found = count_native(texts, Split("gpt2"), least=least).as_dict()
        assert len(found) == expected, found
        every = count_native(texts, Split("gpt2")).as_dict()
        assert found == {word: count for word, count in every.items() if count >= least}


@pytest.mark.parametrize(
    "words",
    [
        (b"ab", array("q", [3]), array("q", [1])),
        (b"ab", array("q", [0, 2]), array("q", [1, 1])),
        (b"ab", array("q", [2, 1]), array("q", [1, 1])),
        (b"ab", array("q", [-1, 2]), array("q", [1, 1])),
        (b"ab", array("q", [2]), array("q")),
        (b"ab", array("q", [2]), array("q", [-1])),
    ],
)
def test_buffers_that_are_wrong(words):
    """Whatever is handed to C is looked at first: no index leads out of a buffer."""
    with pytest.raises(ValueError, match="impossible ends or counts"):
        _core.PreTokenCounter(None).add(*words)
    with pytest.raises(ValueError, match="impossible ends or counts"):
        _core.MergeLearner(3, 1).add(*words)


def test_arguments_that_are_wrong():
    counter = _core.PreTokenCounter(None)
    for most, least in ((-1, 1), (1, 0)):
        with pytest.raises(ValueError, match="impossible number"):
            _core.MergeLearner(most, least)
    with pytest.raises(TypeError, match="no keyword arguments"):
        _core.MergeLearner(most=1, least=1)
    tokens = b"abc", array("q", [1, 2, 3])
    for initial, error, words in (
        (3, ValueError, "tuple or None"),
        ((*tokens, 1), TypeError, "5 arguments"),
        ((b"ab", *tokens[1:], 1, b"", array("q")), ValueError, "impossible size"),
        ((*tokens, 1, b"a", array("q", [2])), ValueError, "impossible size"),
        ((*tokens, 1, b"a", array("q", [0])), ValueError, "impossible size"),
    ):
        with pytest.raises(error, match=words):
            _core.MergeLearner(1, 1, initial)
    learner = _core.MergeLearner(1, 1, (*tokens, 1, b"", array("q")))
    for sequence in (b"\3\0\0", b"\0\0\1", b"\0\0\0\1"):
        with pytest.raises(ValueError, match="a token that does not exist"):
            learner.add(sequence, array("q", [len(sequence)]), array("q", [1]))
    learner.add(b"\2\0\0\1\0\0", array("q", [6]), array("q", [4]))
    assert learner.learn() == [(2, 1, 4)]
    with pytest.raises(RuntimeError, match="has begun"):
        learner.add(b"\2\0\0", array("q", [3]), array("q", [4]))
    for wrong in ("ab", ("ab",), [3], [bytearray(b"ab")]):
        with pytest.raises(TypeError, match=r"expected a list of texts|text must be a str"):
            counter.feed(wrong)
    with pytest.raises(ValueError, match="tuple or None"):
        _core.PreTokenCounter("gpt2")
    counter.feed(["ab", "", "a\ud800"])
    assert counter.words() == (b"ab", bytearray(array("q", [2])), bytearray(array("q", [1])))
    assert counter.feed(["a\ud800", "b"]) == ["a\ud800"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does it")
def test_memory_that_is_not_there():
    """MemoryError, after which a counter has what it counted, and a smaller learner is made."""
    program = """
import resource
from array import array
from itertools import count
from bpelab.native import _core
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 100_000_000,) * 2)
counter, words = _core.PreTokenCounter(None), 0
def learner(most, word, count=1):
    made = _core.MergeLearner(most, 1)
    made.add(word, array("q", [len(word)]), array("q", [count]))
    return made
try:
    for words in count(0, 1_000):
        counter.feed([f"{number} and more than fifteen bytes" for number in range(words, words + 1_000)])
except MemoryError:
    print(words > 100_000 and len(counter.words(2)[0]) == 0)
del counter
for refused in (
    lambda: _core.PreTokenCounter(None).feed(["a" * 60_000_000]),
    lambda: learner(9, b"ab" * 9_000_000),
    lambda: learner(1 << 40, b"ab" * 3).learn() and 1 / 0,
):
    try:
        print(refused())
    except (MemoryError, ZeroDivisionError) as error:
        print(type(error).__name__)
print(learner(9, b"abab", 3).learn())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
    few = "[(97, 98, 6), (256, 256, 3)]"
    assert done.stdout.splitlines() == ["True", "MemoryError", "MemoryError", "ZeroDivisionError", few], done


def test_a_counter_belongs_to_one_thread():
    """A second call while one is at work is refused; nothing is lost of the first."""
    counter, text = native.counter_for(Split("gpt2")), "ab " * 3_000_000
    thread = threading.Thread(target=counter.feed, args=([text],))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            counter.feed(["x"])
        except RuntimeError as error:
            refused += "another thread is using" in str(error)
    thread.join()
    assert refused
    counts = PreTokenCounts.from_buffers(*counter.words()).as_dict()
    assert (counts[b"ab"], counts[b" ab"]) == (1, 2_999_999)


def test_texts_in_batches(monkeypatch):
    monkeypatch.setattr(trainer, "BLOCK", 5)
    texts = ["ab", "c", "de", "fghij", "k", "l", "mn", "o"]
    assert list(trainer.batches(texts)) == [["ab", "c", "de"], ["fghij"], ["k", "l", "mn", "o"]]
    assert list(trainer.batches(texts[:3])) == [["ab", "c", "de"]]
    assert list(trainer.batches(["ab", "cd", "e"])) == [["ab", "cd", "e"]]
    assert list(trainer.batches([])) == []


class Pool:
    """Threads that work only when they are waited for; then three do at once, one inside of the other."""

    def __init__(self, threads):
        self.threads, self.open, self.most, self.ended = threads, 0, 0, {}
        self.waiting, self.working = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, work, *arguments):
        self.open += 1
        self.most = max(self.most, self.open)
        future = Future()

        def result():
            self.open -= 1
            if work in self.waiting:
                self.work(work)

        work = partial(work, *arguments)
        self.waiting.append(work)
        future.result = result
        return future

    def work(self, work):
        self.waiting.remove(work)
        self.working += 1
        work()
        self.working -= 1

    def meanwhile(self):
        """What other threads do while one is in the middle of its work."""
        if self.waiting and self.working < 3:
            self.work(self.waiting[0])

    def shutdown(self, **options):
        self.ended = options


def test_how_texts_are_shared_out(monkeypatch):
    pools, counters = [], []

    def pool(threads):
        pools.append(Pool(threads))
        return pools[-1]

    class Counted(NativeCounter):
        def __init__(self, split):
            super().__init__(split)
            self.stops = 0
            counters.append(self)

        def stop(self):
            self.stops += 1
            super().stop()

        def feed(self, texts):
            pools[-1].meanwhile()
            super().feed(texts)

    monkeypatch.setattr(trainer, "ThreadPoolExecutor", pool)
    monkeypatch.setattr(trainer, "BLOCK", 1)
    monkeypatch.setattr(trainer, "NativeCounter", Counted)
    texts = ["ab", "c", "ab"] * 20
    for cores, threads, used in ((3, None, 3), (50, None, 8), (50, 2, 2), (50, 20, 20)):
        counters.clear()
        monkeypatch.setattr(trainer, "thread_count", lambda number, cores=cores: number or cores)
        assert count_native(texts, Split("gpt2"), threads).as_dict() == {b"ab": 40, b"c": 20}
        assert (pools[-1].threads, pools[-1].most) == (used, 2 * used + 1)  # no more of a text is held than that
        assert pools[-1].ended == {"cancel_futures": True}
        assert [counter.stops for counter in counters] == [1] * 3
    in_python = Split("-", "Removed")
    assert count_native(["a-b"] * 9, in_python, 5).as_dict() == {b"a": 9, b"b": 9}
    assert pools[-1].threads == 1
