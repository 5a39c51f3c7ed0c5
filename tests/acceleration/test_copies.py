"""An accelerated tokenizer that is copied, pickled, saved, trained anew, forked, or used by many threads."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import pytest

import bpelab
from bpelab.notebook import book_text

from ..conftest import ROOT, amount, needs_extension
from ..formats.families import families
from .twins import Twins, plain, transformers

needs_extension()
TEXTS = [book_text()[place : place + 300] for place in range(0, 60_000, 1_500)]


@pytest.fixture
def pair():
    return Twins(families()["gpt2"], pad_token="<|endoftext|>")


def equal(one, other):
    assert type(one).__name__ == type(other).__name__
    for options in ({}, {"padding": True, "return_tensors": "np"}):
        assert plain(one(TEXTS, **options)) == plain(other(TEXTS, **options))
    rows = one(TEXTS)["input_ids"]
    assert one.batch_decode(rows) == other.batch_decode(rows) == TEXTS


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda t: pickle.loads(pickle.dumps(t)),
    "pickle 2": lambda t: pickle.loads(pickle.dumps(t, 2)),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("used", [False, True])
def test_copies(pair, how, used):
    if used:
        pair.fast(TEXTS)
    other = COPIES[how](pair.fast)
    assert type(other) is type(pair.fast)
    equal(other, pair.plain)
    if how != "copy":  # which has the same backend
        other.add_tokens(["harbour"])
        assert "harbour" in other.tokenize("the harbour") and "harbour" not in pair.fast.tokenize("the harbour")
    equal(pair.fast, pair.plain)


def test_pickled_for_another_process(pair, tmp_path):
    (tmp_path / "pickled").write_bytes(pickle.dumps(pair.fast))
    program = (
        "import pickle, sys; t = pickle.load(open(sys.argv[1], 'rb'));"
        "print(t('The harbour')['input_ids'], t._bpelab_engine()[1] is not None)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "pickled")],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"{pair.plain('The harbour')['input_ids']} True\n"


def test_results_are_pickled(pair):
    found, expected = (pickle.loads(pickle.dumps(tokenizer(TEXTS))) for tokenizer in (pair.fast, pair.plain))
    assert found.data == expected.data and plain(found.encodings) == plain(expected.encodings)


def test_saved_and_opened(pair, tmp_path):
    pair.change(lambda t: t.add_tokens(["harbour"]))
    for name in ("plain", "fast"):
        getattr(pair, name)("the harbour", truncation=True, max_length=3)  # which a backend keeps
        getattr(pair, name).save_pretrained(tmp_path / name)
    assert sorted(os.listdir(tmp_path / "fast")) == sorted(os.listdir(tmp_path / "plain"))
    for file in (tmp_path / "plain").iterdir():
        assert (tmp_path / "fast" / file.name).read_bytes() == file.read_bytes()
    again = pair.fast.from_pretrained(tmp_path / "fast")
    assert type(again) is transformers.PreTrainedTokenizerFast
    equal(bpelab.accelerate(again), pair.plain)
    equal(transformers.AutoTokenizer.from_pretrained(tmp_path / "fast"), pair.plain)


def test_trained_anew(pair):
    equal(pair.fast.train_new_from_iterator(TEXTS, 400), pair.plain.train_new_from_iterator(TEXTS, 400))


def test_a_subclass_of_the_accelerated_class(pair):
    """As inference engines make them, to keep what is asked often."""
    kind = type(pair.fast)

    class Cached(kind):
        def __len__(self):
            return 7

        def __reduce__(self):
            return _cached, (self.__dict__,)

    def _cached(state):
        made = Cached.__new__(Cached)
        made.__dict__.update(state)
        return made

    other = copy.copy(pair.fast)
    other.__class__ = Cached
    assert len(other) == 7 and type(copy.copy(other)) is Cached
    other.add_tokens(["harbour"])
    pair.plain.add_tokens(["harbour"])
    assert plain(other(TEXTS)) == plain(pair.fast(TEXTS)) == plain(pair.plain(TEXTS))


def test_threads(pair):
    """Many at once, while one adds tokens: each gets the ids from before or after a token was added."""
    names = [f"word{number}" for number in range(amount(12, 200))]
    text = TEXTS[0] + " ".join(names)
    allowed, wrong, done = set(), [], threading.Event()
    for number in range(len(names) + 1):
        allowed.add(tuple(pair.plain(text)["input_ids"]))
        pair.plain.add_tokens(names[number : number + 1])

    def work():
        try:
            while not done.is_set():
                if tuple(pair.fast(text)["input_ids"]) not in allowed:
                    wrong.append("ids")
                if pair.fast.decode(pair.fast(TEXTS[1])["input_ids"] * 2) != TEXTS[1] * 2:
                    wrong.append("text")
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for name in names:
        pair.fast.add_tokens([name])
    assert pair.fast(text)["input_ids"] == pair.plain(text)["input_ids"]
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong


def add_token(tokenizer, token):
    """`add_tokens` as a program with threads calls it: tokenizers refuses it while another thread reads."""
    while True:
        try:
            return tokenizer.add_tokens([token])
        except RuntimeError as error:
            if str(error) != "Already borrowed":
                raise


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore")  # of threads that the parent has
def test_forks(pair):
    """A child that is forked while threads encode and tokens are added has the ids of its own tokenizer."""
    done = threading.Event()

    def work():
        while not done.is_set():
            pair.fast(TEXTS)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(20):
            pair.change(lambda t, number=number: add_token(t, f"word{number}"))
            expected = pair.plain(TEXTS[0] + f"word{number}")["input_ids"]
            child = os.fork()
            if child == 0:
                found = pair.fast(TEXTS[0] + f"word{number}")["input_ids"]
                os._exit(0 if found == expected else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        done.set()
        for thread in threads:
            thread.join()
