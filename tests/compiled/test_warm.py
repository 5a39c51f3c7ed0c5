"""When kernels are compiled, by whom, and what is kept: nobody waits, nothing is left behind, damage is seen."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import bpelab.compiled
from bpelab import BPEModel, BPETokenizer
from bpelab.cli import main
from bpelab.compiled import background, kernel_folder, table_files
from bpelab.compiled.building import model_tables
from bpelab.formats import table_cache
from bpelab.notebook import book_text

from ..conftest import SOAK

ROOT = Path(__file__).resolve().parent.parent.parent


def run(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        check=False,
    )


@pytest.fixture
def nothing_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path))
    background.begin.cache_clear()
    yield tmp_path
    background.begin.cache_clear()


@pytest.fixture
def started(monkeypatch) -> list[list[str]]:
    """The processes that would have been started."""
    calls: list[list[str]] = []
    monkeypatch.setattr(background.subprocess, "run", lambda command, **options: calls.append(command))
    monkeypatch.delenv("BPELAB_BACKGROUND", raising=False)
    return calls


def test_few_texts_start_nothing(nothing_compiled, started):
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    for _ in range(200):
        tokenizer.encode("low lower lowest newest " * 40)
    assert started == [] and list(nothing_compiled.iterdir()) == []


def test_many_texts_start_one_process_and_go_on_in_python(nothing_compiled, started):
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    for _ in range(50):
        tokenizer.encode("low lower lowest newest " * 1_000)
    assert [command[0] for command in started] == [sys.executable]
    assert "_engine" not in vars(tokenizer._pipeline)


@pytest.mark.parametrize("why", ["variable", "folder", "unwritable", "frozen", "embedded", "not python"])
def test_what_keeps_it_from_being_started(nothing_compiled, started, monkeypatch, why):
    if why == "variable":
        monkeypatch.setenv("BPELAB_BACKGROUND", "0")
    elif why == "folder":
        monkeypatch.setenv("BPELAB_CACHE", "")
    elif why == "unwritable":
        (nothing_compiled / "file").write_text("")
        monkeypatch.setenv("BPELAB_CACHE", str(nothing_compiled / "file"))
    elif why == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:
        monkeypatch.setattr(sys, "executable", "" if why == "embedded" else "/usr/bin/blender")
    assert not background.begin()
    assert not bpelab.compiled.pays(1_000_000)
    assert started == []


def test_a_process_that_cannot_be_started_is_no_error(nothing_compiled, monkeypatch):
    monkeypatch.delenv("BPELAB_BACKGROUND", raising=False)

    def fail(*arguments, **options):
        raise OSError("no more processes")

    monkeypatch.setattr(background.subprocess, "run", fail)
    assert not background.begin()


def test_when_an_engine_pays(monkeypatch, started):
    there = [False]
    monkeypatch.setattr(kernel_folder, "compiled", lambda: there[0])
    monkeypatch.setattr(background, "begin", lambda: started.append([]))
    assert not bpelab.compiled.pays(299_999) and not started
    assert not bpelab.compiled.pays(300_000) and started
    assert bpelab.compiled.pays(60_000_000)
    there[0] = True
    assert bpelab.compiled.pays(300_000)  # numba is in memory here
    modules = {name: module for name, module in sys.modules.items() if name != "numba"}
    monkeypatch.setattr(bpelab.compiled.sys, "modules", modules)
    assert not bpelab.compiled.pays(999_999) and bpelab.compiled.pays(1_000_000)
    monkeypatch.setattr(kernel_folder, "numba_version", lambda: None)
    assert not bpelab.compiled.pays(60_000_000)


@pytest.mark.slow
def test_auto_takes_the_engine_once_it_pays(monkeypatch):
    monkeypatch.setattr("bpelab.pipeline.pays", lambda seen: seen >= 400_000)
    tokenizer = BPETokenizer.train(book_text()[:20_000], 400)
    text, short = book_text()[:100_000], "a short text"
    expected, also = tokenizer.encode(text), tokenizer.encode(short)
    for _ in range(5):
        assert tokenizer.encode(text) == expected and tokenizer.encode(short) == also
    assert tokenizer._pipeline._engine is not None
    assert tokenizer._pipeline.brief(short) == also  # short texts take it as well


@pytest.mark.slow
def test_another_thread_that_makes_the_engine_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("bpelab.pipeline.pays", lambda seen: True)
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    with tokenizer._pipeline._making:
        tokenizer.encode("low lower " * 100_000)
        assert "_engine" not in vars(tokenizer._pipeline)
    tokenizer.encode("low lower " * 100_000)
    assert "_engine" in vars(tokenizer._pipeline)


IN_PYTHON = "import bpelab.pipeline; bpelab.pipeline.encoder_for = lambda *given: None"  # what follows is numba's
FIRST = """
import sys, time
before = time.process_time()
import bpelab
took = time.process_time() - before
assert not {"numpy", "numba", "llvmlite"} & set(sys.modules), "the import brings too much"
from bpelab import BPETokenizer
t = BPETokenizer.train("low lower lowest " * 9, 262)
t.encode("low lower")
t.encode("low lower " * 5000)
assert not {"numba", "llvmlite"} & set(sys.modules), "a short text brings numba"
print("done")
"""


def test_the_import_and_the_first_texts_bring_no_numba(tmp_path):
    done = run(FIRST, BPELAB_CACHE=str(tmp_path))
    assert (done.stdout, done.stderr) == ("done\n", "")


BACKGROUND = f"""
{IN_PYTHON}
from bpelab import BPETokenizer
t = BPETokenizer.train("low lower lowest " * 9, 262)
for _ in range(20):
    t.encode("low lower " * 2500)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_packages_that_extend_numba_are_left_alone():
    """numba imports them all before its first kernel runs: a quarter of a second, where there are large ones."""
    code = (
        "from numba.core import entrypoints; from bpelab import BPETokenizer;"
        "text = 'low lower lowest ' * 500;"
        "tokenizer = BPETokenizer.train(text, 259, trainer='incremental').with_options(encoder='compiled');"
        "assert tokenizer.decode(tokenizer.encode_array(text)) == text;"
        "print(entrypoints._already_initialized)"
    )
    run(code)  # what compiles has to know of them
    done = run(code)
    assert done.stdout.split() == ["False"], done.stderr


@pytest.mark.slow
def test_the_process_in_the_background(tmp_path):
    """It is started by a process that ends at once, is nobody's zombie, and leaves a folder that says it is complete.

    Three are started; one of them compiles. Only the soak waits for it.
    """
    cache = tmp_path / "cache"
    for _ in range(3):
        done = run(BACKGROUND, BPELAB_CACHE=str(cache), BPELAB_BACKGROUND="1")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (folder,) = (cache / "kernels").iterdir()
    number = within(300, lambda: (folder / "lock").exists() and (folder / "lock").read_text())
    if SOAK:
        within(300, (folder / "encoding").exists)
        assert not list(folder.glob("*.tmp.*"))
    else:
        os.kill(int(number), signal.SIGKILL)


def within(seconds: float, there):
    """What `there` gives, as soon as it is something."""
    deadline = time.monotonic() + seconds
    while not (found := there()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_only_one_compiles(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    from bpelab.compiled import warm

    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path))
    folder = kernel_folder.kernel_folder()
    folder.mkdir(parents=True)
    done = []
    monkeypatch.setattr(warm, "warm", lambda: done.append(True))
    with open(folder / "lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        warm.alone()
        assert not done
    warm.alone()
    assert done
    watches = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    assert all(watch.finished.is_set() for watch in watches)  # one that goes on ends this process


def test_the_folder_is_another_for_other_sources_versions_and_processors(tmp_path, monkeypatch):
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path))
    here = kernel_folder.kernel_folder()
    monkeypatch.setattr(kernel_folder, "_machine", lambda: "another processor")
    there = kernel_folder.kernel_folder()
    monkeypatch.setattr(kernel_folder, "sources_hash", lambda: "other sources")
    assert len({here, there, kernel_folder.kernel_folder()}) == 3
    (here / "x").mkdir(parents=True)
    (here / "encoding").touch()
    assert not kernel_folder.compiled()  # what another machine compiled counts for nothing


@pytest.mark.slow
def test_warmup(tmp_path, capsys, monkeypatch):
    tokenizer = BPETokenizer.train(book_text()[:20_000], 400)
    tokenizer.save(tmp_path / "t")
    assert main(["warmup", "--tokenizer", str(tmp_path / "t")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "kernels for encoding" in lines[0] and os.environ["BPELAB_CACHE"] in lines[0]
    assert lines[1].endswith("of CPU time)") and "400 tokens" in lines[1]
    assert kernel_folder.compiled()
    for cache, problem in (("", "is empty"), (str(tmp_path / "t" / "tokenizer.json"), "can't be written")):
        monkeypatch.setenv("BPELAB_CACHE", cache)
        assert main(["warmup"]) == 1
        assert problem in capsys.readouterr().err
    monkeypatch.setattr("bpelab.compiled.command.numba_version", lambda: None)
    assert main(["warmup"]) == 1
    assert "without numba" in capsys.readouterr().err


# -- kept tables -------------------------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path, monkeypatch) -> BPEModel:
    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path))
    monkeypatch.setattr(table_files, "SMALLEST", 10)
    return BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"x" * 1, b"y")])


def never(model):
    raise AssertionError("the tables should have been read")


def same(one, other) -> bool:
    return all(np.array_equal(a, b) and type(a) is type(b) for a, b in zip(one, other, strict=True))


def test_tables_are_kept_and_read(model, tmp_path):
    built = table_files.kept(model, model_tables)
    (file,) = (tmp_path / "compiled").glob("*.arrays")
    assert same(table_files.kept(model, never), built)
    again = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"x", b"y")])
    assert same(table_files.kept(again, never), built)
    whole = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"x", b"y")], take_whole=True)
    assert table_files.kept(whole, model_tables).whole and not built.whole
    assert len(list((tmp_path / "compiled").glob("*.arrays"))) == 2 and file.exists()


@pytest.mark.slow
def test_damaged_tables_are_built_again(model, tmp_path):
    built = table_files.kept(model, model_tables)
    (file,) = (tmp_path / "compiled").glob("*.arrays")
    good = file.read_bytes()
    damaged = [b"", b"x", good[:31], good[:40], good[:-1], good + b"\0", good[:200] + b"\1" + good[201:]]
    damaged += [good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :] for place in range(0, len(good), 9_973)]
    for data in damaged:
        file.write_bytes(data)
        assert same(table_files.kept(model, model_tables), built)
        assert file.read_bytes() == good


def test_a_file_with_a_fitting_hash_and_nonsense_is_not_used(model, tmp_path):
    import hashlib

    built = table_files.kept(model, model_tables)
    (file,) = (tmp_path / "compiled").glob("*.arrays")
    for line in (b"{}", b"[]", b"7", b"{", b'{"ids": ["<u4", [9999999999]]}', b'{"ids": ["|O", [1]]}'):
        body = len(line).to_bytes(8, "little") + line + bytes(100)
        file.write_bytes(hashlib.sha256(body).digest() + body)
        assert same(table_files.kept(model, model_tables), built)


def test_tables_where_nothing_can_be_kept(model, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for cache in ("", str(tmp_path / "file")):
        monkeypatch.setenv("BPELAB_CACHE", cache)
        assert same(table_files.kept(model, model_tables), model_tables(model))


def test_the_oldest_tables_are_removed(model, tmp_path, monkeypatch):
    folder, files = tmp_path / "compiled", []
    for number in range(6):
        table_files.kept(BPEModel.from_merges([(b"a", bytes([98 + number]))]), model_tables)
        (new,) = set(folder.glob("*.arrays")) - set(files)
        files.append(new)
        os.utime(new, (number, number))
        monkeypatch.setattr(table_files, "ROOM", 3 * new.stat().st_size)
    assert sorted(folder.glob("*.arrays")) == sorted(files[-3:])


def test_the_hash_of_a_model():
    one = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    assert table_cache.model_hash(one) == table_cache.model_hash(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]))
    others = [
        BPEModel.from_merges([(b"l", b"o")]),
        BPEModel.from_merges([(b"l", b"o"), (b"w", b"lo")]),
        BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")], reserved=[0]),
        BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")], take_whole=True),
        BPEModel.from_ranks(dict(one.ids)),
    ]
    assert len({table_cache.model_hash(model) for model in [one, *others]}) == 6


@pytest.mark.skipif(not SOAK, reason="compiles everything twice at once; runs in the soak")
def test_two_warmups_at_once(tmp_path):
    command = [sys.executable, "-m", "bpelab", "warmup"]
    environment = os.environ | {"BPELAB_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert all(b"kept in" in each for each in said)


def test_kernels_are_read_from_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    """As in an image whose file system is read-only: what was compiled when it was built is used."""
    numba = pytest.importorskip("numba")
    from bpelab.compiled import kernel_cache

    monkeypatch.setenv("BPELAB_CACHE", str(tmp_path))

    def double(number):
        return 2 * number

    assert kernel_cache.keep(numba.njit(double))(3) == 6
    monkeypatch.setattr(os, "access", lambda *args, **kwargs: False)

    def refuse(*args, **kwargs):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(kernel_cache.FunctionCache, "save_overload", refuse)
    again = kernel_cache.keep(numba.njit(double))
    assert again(3) == 6
    assert sum(again.stats.cache_hits.values()) == 1
    assert kernel_cache.keep(numba.njit(double))(0.5) == 1.0  # not there, and can't be kept
