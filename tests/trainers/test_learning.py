"""`train_model` itself: what it takes for granted, refuses and shows, in which words, and what a cluster is given."""

import math
import re
import warnings

import pytest

from bpelab import BPETokenizer, SpecialTokenError, TrainingError
from bpelab.pretokenizers import Split
from bpelab.trainers import train as module, train_incremental, train_native
from bpelab.trainers.counting import local
from bpelab.trainers.counting.pre_token_counts import PreTokenCounts
from bpelab.trainers.train import TrainingOptions, TrainingStopped, train_model

from ..conftest import needs_extension
from ..shards.corpora import write

GPT2 = Split("gpt2")


def learned(corpus, vocab_size, special_tokens=(), **options):
    return train_model(corpus, vocab_size, TrainingOptions(**{"pre_tokenizer": GPT2, **options}), special_tokens)


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingStopped)
        return learned(*arguments, **options)


def test_what_is_taken_for_granted():
    model, special = quietly("ab ab cd", 258)
    assert list(model.merges) == [(97, 98)]  # what occurs twice
    assert special == {}
    model, special = quietly("ab ab cd", 259, special_tokens=["<a>", "<b>"])
    assert (len(model.merges), special) == (1, {"<a>": 257, "<b>": 258})
    model, special = quietly("ab ab cd", 259, special_tokens={"<a>": 256, "<b>": 9_000})
    assert (model.tokens[257], special) == (b"ab", {"<a>": 256, "<b>": 9_000})
    assert quietly("ab", 256)[0].merges == {}
    assert len(quietly("ab ab cd", 300, min_frequency=1)[0].merges) == 4


@pytest.mark.parametrize("trainer", ["naive", "incremental", "native", "auto"])
def test_every_trainer_is_given_the_same(trainer):
    if trainer == "native":
        needs_extension()
    corpus = ["AB AB<a> ab", "ab abab"]
    options = {"special_tokens": ["<a>"], "normalize": str.lower, "min_frequency": 2}
    model, special = quietly(corpus, 270, trainer=trainer, **options)
    assert (model, special) == quietly(corpus, 270, trainer="naive", **options)
    assert [model.tokens[256 + n] for n in range(len(model.merges))] == [b"ab", b" ab"]


def test_who_counts_and_who_merges(monkeypatch):
    """Who is named is taken. Words for the trainer in C are counted in C, but for ties of another kind."""
    needs_extension()
    done = []

    def watch(name):
        original = getattr(local, name)
        monkeypatch.setattr(local, name, lambda *given, **options: done.append(name) or original(*given, **options))

    watch("count_pre_tokens")
    watch("count_native")
    for options, expected in (
        ({}, "count_native"),
        ({"trainer": "native"}, "count_native"),
        ({"trainer": "naive"}, "count_pre_tokens"),
        ({"ties": "cs336"}, "count_pre_tokens"),
    ):
        done.clear()
        quietly("ab ab", 257, **options)
        assert done == [expected]


def refused(kind, message, *arguments, **options):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        quietly(*arguments, **options)


def test_what_is_refused():
    refused(ValueError, "worker_timeout is for a cluster: pass client, too", "ab", 300, worker_timeout=1)
    message = "ties='minbpe' is for texts in their order, which a cluster loses: leave out client"
    refused(ValueError, message, "none.txt", 300, client="local", ties="minbpe")
    for value in (-1, math.nan, "60", True):
        message = f"worker_timeout is a number of seconds, 0 or more, or None, not {value!r}"
        refused(ValueError, message, "none.txt", 300, client="local", worker_timeout=value)
    forms = "text, text.gz, text.zst, jsonl, jsonl.gz, jsonl.zst, parquet"
    refused(ValueError, f"input_format is one of {forms}, not 'csv'", "ab", 300, input_format="csv")
    for value in (True, 300.0, "300", None):
        refused(TypeError, f"vocab_size must be an integer, not {value!r}", "ab", value)
        refused(TypeError, f"min_frequency must be an integer, not {value!r}", "ab", 300, min_frequency=value)
    refused(TrainingError, "vocab_size must be at least 1, not 0", "ab", 0)
    refused(TrainingError, "min_frequency must be at least 1, not 0", "ab", 300, min_frequency=0)
    message = "vocab_size=1 is too small: 256 bytes and 0 special tokens are 256 tokens before any merge"
    refused(TrainingError, message, "ab", 1)
    message = "vocab_size=257 is too small: 256 bytes and 2 special tokens are 258 tokens before any merge"
    refused(TrainingError, message, "ab", 257, special_tokens=["<a>", "<b>"])
    message = "special_tokens is a list of names or a dict of ids, not the string '<a>'"
    refused(SpecialTokenError, message, "ab", 300, special_tokens="<a>")
    message = "special_tokens names one token twice: ['<a>', '<a>']"
    refused(SpecialTokenError, message, "ab", 300, special_tokens=["<a>", "<a>"])
    for trainer in ("naive", "auto"):
        message = "the corpus is empty: there is no text to learn merges from"
        refused(TrainingError, message, ["", ""], 300, trainer=trainer)
    with pytest.raises(ValueError, match="there is no trainer 'quick'"):
        quietly("ab", 300, trainer="quick")


def test_what_is_expected_is_checked_first():
    expected = []
    for size, special in ((259, ["<a>", "<b>"]), (258, {"<a>": 7})):
        train_model("ab ab", size, TrainingOptions(GPT2), special, lambda _, ids: expected.append(ids))
    assert expected == [{"<a>": 257, "<b>": 258}, {"<a>": 7}]


def test_a_training_that_stops_names_its_caller():
    with pytest.warns(TrainingStopped) as told:
        BPETokenizer.train("ab ab", 300)
    assert told[0].filename == __file__


def test_a_training_that_stops_is_told():
    with pytest.warns(TrainingStopped) as told:
        learned("ab ab", 300, ["<a>"], min_frequency=2)
    message = "training stopped at 258 tokens instead of 300: no pair of tokens is left that occurs at least 2 times"
    assert str(told[0].message) == message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned("ab ab", 257)


def test_what_is_shown(monkeypatch, tmp_path):
    """Reading, in bytes, and merging: how much there is, and how much is done."""
    bars = []

    class Bar:
        def __init__(self, *arguments):
            bars.append([*arguments, 0])

        def __enter__(self):
            return lambda size: bars[-1].__setitem__(-1, bars[-1][-1] + size)

        def __exit__(self, *error):
            pass

    for file in (module, local):
        monkeypatch.setattr(file, "progress_bar", Bar)
    (tmp_path / "a.txt").write_bytes("ab ab é".encode())
    for corpus, size, read, trainer in (
        ("ab ab é", 8, 8, "naive"),
        (tmp_path / "a.txt", 8, 8, "incremental"),
        (["ab ab", "é"], None, 7, "naive"),
        ("ab ab é", 8, 8, "auto"),
        (write(tmp_path / "a.jsonl", ["ab ab", "é"]), None, 7, "naive"),
        (write(tmp_path / "a.txt.gz", ["ab ab é"]), None, 8, "auto"),
    ):
        bars.clear()
        quietly(corpus, 257, progress=True, trainer=trainer)
        assert bars == [[True, size, "reading", "B", read], [True, 1, "merging", " merges", 1]]
    bars.clear()
    quietly(tmp_path / "a.jsonl", 257, progress=True, input_format="text")
    assert bars[0][1] == (tmp_path / "a.jsonl").stat().st_size
    assert local.corpus_size(tmp_path / "none", None) is None
    assert local.corpus_size(tmp_path / "a.jsonl", "text") == (tmp_path / "a.jsonl").stat().st_size
    assert local.corpus_size(tmp_path / "a.txt", "jsonl") is None


@pytest.mark.parametrize("built", [True, False])
def test_what_a_cluster_is_given(monkeypatch, built):
    if built:
        needs_extension()
    else:
        monkeypatch.setattr("bpelab.native.extension", lambda: None)
    distributed = pytest.importorskip("bpelab.trainers.counting.distributed")
    asked = []

    def count_files(corpus, job, cluster, **options):
        asked.append((corpus, job, cluster, options))
        return PreTokenCounts.of({b"ab": 2, b"c": 1} if corpus != "none" else {})

    monkeypatch.setattr(distributed, "count_files", count_files)
    trained = []
    find = module.find_trainer
    monkeypatch.setattr(module, "find_trainer", lambda name: trained.append(find(name)) or trained[-1])
    options = {"special_tokens": ["<a>"], "normalize": str.lower, "client": "local"}
    model, special = quietly(
        "a.txt",
        258,
        input_format="text",
        field="body",
        progress=False,
        min_pre_token_frequency=2,
        worker_timeout=90,
        **options,
    )
    assert (dict(model.merges), special) == ({(97, 98): (0, 256)}, {"<a>": 257})
    ((corpus, job, client, rest),) = asked
    given = {
        "form": "text",
        "progress": False,
        "least": 2,
        "client_memory": distributed.CLIENT_MEMORY,
        "worker_timeout": 90,
    }
    assert (corpus, client, rest) == ("a.txt", "local", given)
    assert (job.split, job.special.ids, job.normalize, job.field) == (GPT2, {"<a>": 0}, str.lower, "body")
    assert set(trained) == {train_native if built else train_incremental}
    quietly("a.txt", 258, **options)
    assert asked[1][1].field == "text"
    for trainer in ("naive", "incremental", *(["native"] if built else [])):  # who counts says nothing of who learns
        assert quietly("a.txt", 258, trainer=trainer, **options) == (model, special)
        assert trained[-1] is find(trainer)
    with pytest.raises(TrainingError, match="the corpus is empty"):
        quietly("none", 258, **options)
