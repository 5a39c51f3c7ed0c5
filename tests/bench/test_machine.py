"""What a run knows of the machine, how it pins, and what it does where a package or a number is missing."""

import os
import platform
import subprocess
import sys

import pytest

from bpelab._support.install import install_command
from bpelab.bench import machine, record, texts
from bpelab.bench.driver import Driver
from bpelab.bench.plan import Plan, Step
from bpelab.bench.runner import _processor_time
from bpelab.cli.bench import Progress
from bpelab.cli.main import main
from bpelab.notebook import book_text

from .test_summary import sample


def test_a_machine_that_says_little(monkeypatch):
    about = {"text": "flags\t: fpu\n"}
    monkeypatch.setattr(machine.host, "read", lambda _: about["text"])
    monkeypatch.setattr(subprocess, "run", _no_program)
    assert machine.cpu_name() == (platform.processor() or platform.machine())
    assert machine.instruction_sets() is None
    about["text"] = "flags\t: fpu avx2 sse2 pni\nmodel name\t: Abacus 3000\n"
    assert machine.cpu_name() == "Abacus 3000"
    assert machine.instruction_sets() == ["avx2", "sse2"]
    about["text"] = "Features\t: fp asimd sve2\n"
    assert machine.instruction_sets() == ["asimd", "sve2"]
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert machine.load_average() is None


def test_instruction_sets_of_a_mac(monkeypatch):
    shown = (
        "machdep.cpu.features: FPU SSE4.2 AVX1.0\nmachdep.cpu.leaf7_features: BMI1 AVX2\n"
        "hw.optional.arm.FEAT_DotProd: 1\nhw.optional.arm.FEAT_SVE: 0\nhw.optional.floatingpoint: 1\n"
    )
    monkeypatch.setattr(machine.host, "read", lambda _: "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, shown, ""))
    assert machine.instruction_sets() == ["AVX1.0", "AVX2", "BMI1", "FEAT_DotProd", "SSE4.2"]


def _no_program(*_, **__):
    raise FileNotFoundError("sysctl")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system can't pin processes")
def test_a_pinned_process_and_its_children_run_where_they_may():
    """In a process of its own: threads and children that it starts later have its processors."""
    program = """
import os, subprocess, sys, threading
from bpelab.bench.machine import pin
allowed = os.sched_getaffinity(0)
pin(2)
assert len(os.sched_getaffinity(0)) == min(2, len(allowed))
pin(1)
(one,) = os.sched_getaffinity(0)
assert one in allowed
threading.Thread(target=lambda: print(os.sched_getaffinity(0) == {one})).start()
subprocess.run([sys.executable, "-c", f"import os; print(os.sched_getaffinity(0) == {{{one}}})"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["True", "True"], "")


def test_processors_are_of_different_cores_while_there_are_some(monkeypatch):
    chosen = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, processors: chosen.append(processors), raising=False)
    monkeypatch.setattr(machine, "_core", lambda processor: f"{processor % 2},{processor % 2 + 2}")
    for threads in (1, 2, 3, 9):
        machine.pin(threads)
    assert [sorted(processor % 2 for processor in some) for some in chosen[:2]] == [[1], [0, 1]]
    assert [len(some) for some in chosen] == [1, 2, 3, 4]
    monkeypatch.delattr(os, "sched_setaffinity")
    machine.pin(1)
    assert len(chosen) == 4
    assert machine.machine()["pinned"] is False


def test_the_processor_time_of_a_process_that_ended():
    assert _processor_time(0) is None


def test_progress_where_there_is_no_terminal(capsys):
    samples = [sample("bpelab", 0, 0.1), sample("tiktoken", 0, 0.4)]
    with Progress({"samples": samples, "baselines": {"e": "tiktoken"}}) as progress:
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
