"""What backends around other people's engines share, by an engine of paper: their own tests need the engines."""

import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bpelab._support.install import install_command
from bpelab.chat.backends import errors
from bpelab.chat.backends.base import Cancelled
from bpelab.chat.backends.errors import (
    check_memory,
    free_memory,
    import_extra,
    one_line,
    translating_load_errors,
    translating_run_errors,
)
from bpelab.chat.backends.external import ExternalBackend, cache_bytes, float32_bytes, native_tokenizer, quiet
from bpelab.chat.models.find import find_model
from bpelab.errors import BackendError, ConversationError, MissingDependencyError, ModelFileError

from .tiny import tiny_tokenizer, write_tiny_llama


class Paper(ExternalBackend):
    """Holds ids and nothing else; the logits say how many."""

    name = "paper"

    def __init__(self, can_cut: bool) -> None:
        self.held: list[int] = []
        self.can_cut, self.fed, self.freed = can_cut, 0, False
        self.before = lambda: None
        super().__init__(device="paper", context=16)

    def _forward(self, ids, count):
        self.before()
        self.held += ids
        self.fed += len(ids)
        self._count = len(self.held)
        return np.full((count, 7), len(self.held), np.float32)

    def _clear(self):
        self.held.clear()

    def _truncate(self, count):
        if self.can_cut:
            del self.held[count:]
        return self.can_cut

    def _cache_size(self):
        return 24 * len(self.held)

    def _free(self):
        self.freed = True


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return find_model(write_tiny_llama(tmp_path_factory.mktemp("tiny"), hidden=16, layers=3))


def test_the_first_use_says_what_a_model_is():
    engine = Paper(can_cut=True)
    assert (engine.vocab_size, engine.kv_bytes, engine.held) == (7, 24, [])


def test_what_two_prompts_share_is_held_where_a_model_can_forget_a_part():
    for can_cut, reused, fed in ((True, 2, 1 + 4 + 1), (False, 0, 1 + 4 + 3)):
        engine = Paper(can_cut)
        engine.next_logits([1, 2, 3, 4])
        assert engine.next_logits([1, 2, 5])[0] == 3
        assert (engine.reused, engine.fed, engine.held) == (reused, fed, [1, 2, 5])


def test_nothing_is_forgotten_where_a_prompt_goes_on():
    engine = Paper(can_cut=False)
    engine.next_logits([1, 2])
    assert engine.next_logits([1, 2, 3])[0] == 3
    assert (engine.reused, engine.fed) == (2, 4)


@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt])
def test_who_waits_for_an_engine_can_leave(error):
    """The engine goes on for a while, and knows that nobody waits any more."""
    engine, begun, go_on = Paper(can_cut=True), threading.Event(), threading.Event()

    def before():
        begun.set()
        assert go_on.wait(60)

    def cancelled():
        if begun.is_set() and error is KeyboardInterrupt:
            raise KeyboardInterrupt
        return begun.is_set()

    engine.before = before
    with pytest.raises(error):
        engine.next_logits([1, 2, 3, 4, 5, 6] * 2, cancelled)
    assert engine._cancelled() and engine.fed == 1
    engine.before = lambda: None
    go_on.set()
    assert engine.next_logits([1, 2, 3])[0] == 3
    assert engine.reused == 2 and not engine._cancelled()


def test_a_model_is_given_back_once_and_then_refuses():
    with Paper(can_cut=True) as engine, pytest.raises(ConversationError, match="the id 7"):
        engine.next_logits([7])
    assert engine.freed
    with pytest.raises(BackendError, match=r"paper: this model was closed"):
        engine.next_logits([1])


def test_what_a_model_takes(files):
    """Its weights are of 16 bits: in 32 they take twice the file's data. Two heads of 8 numbers, keys and values."""
    assert float32_bytes(files) == 4 * sum(np.prod(shape) for shape in _shapes(files))
    assert cache_bytes(files, 100) == 3 * 2 * 2 * 8 * 4 * 100
    few = replace(files, config={"text_config": {"num_hidden_layers": 1, "num_attention_heads": 4, "hidden_size": 32}})
    assert cache_bytes(few, 1) == 2 * 4 * 8 * 4
    assert cache_bytes(replace(files, config={}), 100) == 0


def _shapes(files):
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(files.safetensors[0], "np") as weights:
        return [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118 - it is no dict


def test_the_tokenizer_of_transformers_is_quiet(files, tmp_path, capsys):
    logging = pytest.importorskip("transformers").utils.logging
    text = "<|im_start|>user\nthe harbour"
    theirs = native_tokenizer(files)
    assert theirs.encode(text, add_special_tokens=False) == tiny_tokenizer().encode(text, allowed_special="all")
    assert native_tokenizer(replace(files, folder=tmp_path)) is None  # there is none in it
    assert capsys.readouterr() == ("", "")
    before = logging.is_progress_bar_enabled(), logging.get_verbosity()
    with pytest.raises(KeyError), quiet(sys.modules["transformers"]):
        assert (logging.is_progress_bar_enabled(), logging.get_verbosity()) == (False, logging.ERROR)
        raise KeyError
    assert (logging.is_progress_bar_enabled(), logging.get_verbosity()) == before


def test_packages_that_do_not_load(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "bpelab_needs_more.py").write_text("import bpelab_not_there\n")
    (tmp_path / "bpelab_lacks_a_driver.py").write_text("raise OSError('libdriver.so.1: no\\n such file.')\n")
    (tmp_path / "bpelab_warns.py").write_text("import warnings\nwarnings.warn('old')\nanswer = 42\n")
    assert import_extra("bpelab_warns", "mlx").answer == 42
    with pytest.raises(
        MissingDependencyError, match=re.escape(f"bpelab_not_there is not installed: {install_command('mlx')}")
    ):
        import_extra("bpelab_not_there", "mlx")
    with pytest.raises(MissingDependencyError, match=r"^bpelab_not_there, which bpelab_needs_more needs, is not"):
        import_extra("bpelab_needs_more", "mlx")
    with pytest.raises(
        BackendError, match=r"installed but can't be loaded: libdriver.so.1: no such file. Reinstall it"
    ):
        import_extra("bpelab_lacks_a_driver", "mlx")


@pytest.mark.parametrize(
    ("raised", "kind", "said"),
    [
        (
            RuntimeError("failed to ALLOCate 8 GB"),
            BackendError,
            "doesn't have enough memory for it: failed to ALLOCate 8 GB. Use",
        ),
        (MemoryError(), BackendError, "doesn't have enough memory for it: MemoryError. Use"),
        (
            ValueError("unknown\n  tensor."),
            ModelFileError,
            "can't load it: unknown tensor. Its architecture is llama",
        ),
        (ModelFileError("it is cut off"), ModelFileError, "^it is cut off$"),
    ],
    ids=lambda value: None if isinstance(value, type) else str(value)[:12],
)
def test_what_an_engine_raises_while_it_loads(files, raised, kind, said):
    with pytest.raises(kind, match=said) as caught, translating_load_errors("paper", files):
        raise raised
    assert type(caught.value) is kind


def test_what_an_engine_raises_while_it_runs():
    said = r"^paper failed while running: no more pages\. If memory is short: use a"
    with pytest.raises(BackendError, match=said), translating_run_errors("paper"):
        raise RuntimeError("no more pages.")
    with pytest.raises(ConversationError, match=r"^too long$"), translating_run_errors("paper"):
        raise ConversationError("too long")


def test_words_of_an_engine_are_one_line_of_a_sentences_length():
    assert one_line("  a\n\tb. ") == "a b"
    assert one_line("word " * 100) == ("word " * 60).rstrip() + " ..."


def test_memory_is_compared_before_a_model_is_loaded(files, monkeypatch):
    """Weights, keys and values, and an eighth of the weights to compute with."""
    monkeypatch.setattr(errors, "free_memory", lambda: 10_000_000_000)
    check_memory(files, 8_000_000_000, 1_000_000_000)
    with pytest.raises(
        BackendError, match=r"8\.00 GB for its weights, 1\.10 GB .*, 1\.00 GB to .*, but only 10\.00 GB are free"
    ):
        check_memory(files, 8_000_000_000, 1_100_000_000)
    monkeypatch.setattr(errors, "free_memory", lambda: None)
    check_memory(files, 1 << 60, 0)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="what a process has taken is read in /proc")
def test_a_limit_of_the_process_counts(monkeypatch):
    resource = pytest.importorskip("resource")
    limit = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limit, limit))
    monkeypatch.setattr(errors.host, "memory", lambda: (64 << 30, 32 << 30))
    assert free_memory() == 32 << 30
    limit = 1 << 50
    assert free_memory() == 32 << 30
    limit = 32 << 30
    assert 0 < free_memory() < limit - errors.SPARE
    monkeypatch.setattr(errors.host, "memory", lambda: (None, None))
    assert 0 < free_memory() < limit - errors.SPARE
