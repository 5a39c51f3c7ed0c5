"""What a run knows of the machine, and what it does where a package, a file or a number of the system is missing."""

import os
import platform
import sys
import time
from pathlib import Path

import pytest

from bpelab._support.install import install_command
from bpelab.bench import meters, record, texts
from bpelab.bench.driver import Driver
from bpelab.bench.plan import Plan, Step
from bpelab.bench.worker_process import _processor_time
from bpelab.cli.bench import Progress
from bpelab.cli.main import main
from bpelab.errors import MissingDependencyError
from bpelab.notebook import book_text

from .test_timing import sample


def test_memory_where_there_is_no_proc(monkeypatch, tmp_path):
    """A thread looks for the maximum: what is taken and given back in between counts."""
    pytest.importorskip("psutil")
    monkeypatch.setattr(meters, "STATUS", tmp_path / "status")
    meter = meters.MemoryMeter()
    before = meter.current()
    meter.restart()
    taken = bytearray(b"x") * 100_000_000
    for _ in range(2_000):
        if meter._max > before + 80_000_000:
            break
        time.sleep(0.01)
    del taken
    assert meter.peak() > before + 80_000_000
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(MissingDependencyError, match="pip install psutil"):
        meters.MemoryMeter()


def test_a_machine_that_says_little(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda *_: "flags\t: fpu\n")
    assert record.cpu_name() == (platform.processor() or platform.machine())
    monkeypatch.setattr(Path, "read_text", lambda *_: "flags\t: fpu\nmodel name\t: Abacus 3000\n")
    assert record.cpu_name() == "Abacus 3000"
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert record.load_average() is None


def test_the_processor_time_of_a_process_that_ended():
    assert _processor_time(0) is None


def test_progress_without_tqdm(monkeypatch, capsys):
    samples = [sample("bpelab", 0, 0.1), sample("tiktoken", 0, 0.4)]
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with Progress({"samples": samples, "baseline": "tiktoken"}) as progress:
        progress.step("encode t")
        progress.row("e", Step("warm", "t", "list"))
        progress.row("e", Step("warm", "another", "list"))
    assert capsys.readouterr() == ("", "e t: unseen, list: bpelab 10 (4.0±0.0) MB/s\n")


def test_without_numpy_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert main(["bench", "--quick"]) == 1
    assert install_command("bench") in capsys.readouterr().err


def test_no_rounds_at_all(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["bench", "--rounds", "0"])
    assert "argument --rounds: 0 is not at least 1" in capsys.readouterr().err


def test_vocabularies_that_are_not_here_are_not_fetched(monkeypatch, tmp_path):
    """tiktoken would download them; the run says so and trains one of its own."""
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "nothing"))
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path / "nothing either"))  # our own tables of what was loaded before
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    plan, some = Plan(encodings=("cl100k_base",), sections=()), [texts.Text("book", "the book", book_text()[:9_000])]
    run_record = record.new_record(plan, some)
    Driver(plan, some, ["tiktoken"], run_record, tmp_path, lambda _: None, lambda *_: None).run()
    left_out, instead = run_record["notes"]
    assert left_out.startswith("cl100k_base is left out: ") and "Nothing is downloaded" in left_out
    assert "trained on the book's text" in instead
    assert (tmp_path / "vocabularies/trained/trained.tiktoken").exists()


def test_code_is_what_can_be_read_of_the_standard_library(monkeypatch, tmp_path):
    for name, content in (
        ("a.py", b"a = 1\n" * 9),
        ("b.py", b"b = 2\n" * 9),
        ("latin.py", b"# \xff"),
        ("test/c.py", b"c"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(texts.sysconfig, "get_path", lambda _: str(tmp_path))
    assert sorted(texts.stdlib_sources().split()) == sorted(("a = 1 " * 9 + "b = 2 " * 9).split())
    assert texts.stdlib_sources(10) in ("a = 1\n" * 9, "b = 2\n" * 9)
