"""Counting on a cluster: the same merges as on one machine, whatever the parts, the files, and the fate of workers."""

import http.server
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bpelab import BPETokenizer, ClusterError, CorpusError, MissingDependencyError, TrainingError
from bpelab._support import dask_wait
from bpelab._support.dask_client import connect
from bpelab._support.dask_wait import Watch
from bpelab._support.install import install_command
from bpelab.boundaries.named_patterns import BoundaryKind
from bpelab.cli.main import main
from bpelab.corpus.inputs import find_inputs
from bpelab.notebook import book_text
from bpelab.notebook.zipf_text import zipf_text
from bpelab.pretokenizers import Split
from bpelab.shards import distributed as shards_distributed, open_shards
from bpelab.shards.distributed import write_part
from bpelab.shards.lock import locked
from bpelab.trainers.counting import corpus, distributed, partition
from bpelab.trainers.counting.corpus import count_pre_tokens
from bpelab.trainers.counting.counters import sum_counts
from bpelab.trainers.counting.distributed import OPEN_ROUNDS, Job, count_files, count_part, count_parts
from bpelab.trainers.counting.partition import parts_of, texts_of
from bpelab.trainers.counting.pre_token_counts import PreTokenCounts, concat_counts
from bpelab.trainers.counting.spill_runs import Runs
from bpelab.trainers.superwords import Superwords
from bpelab.trainers.superwords.distributed_phrases import PhraseJob, PythonPhraseCounter
from bpelab.trainers.superwords.python_phrases import Sequences
from bpelab.vocab.special_tokens import SpecialTokens

from ...conftest import ROOT, SOAK, amount, fuzz_text, needs_extension
from ...shards.corpora import write
from .waiting import beside, heard, until

dask = pytest.importorskip("distributed")
config = pytest.importorskip("dask.config")
pytest.importorskip("bpelab.native._core", reason="the extension was not built: no C compiler")
pytestmark = pytest.mark.filterwarnings("default")  # Dask's own are not ours

CL100K, NONE = Split("cl100k"), SpecialTokens({})


@pytest.fixture(scope="module")
def client():
    """Two processes with little memory.

    A cluster gives a worker up that isn't there 15 seconds after it was lost. A test that kills it again would lose it
    for good, so this cluster waits for as long as it takes.
    """
    with (
        config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        dask.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1.5GB", dashboard_address=None, protocol="tcp"
        ) as cluster,
        dask.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def here():
    """A cluster of threads in this process, for what is to be watched."""
    with (
        dask.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
    ):
        yield client


def made(seed, number):
    rng, book = random.Random(seed), book_text()
    found = []
    for _ in range(number):
        start = rng.randrange(len(book))
        found.append(rng.choice((fuzz_text(rng), book[start : start + 2_000])).encode("utf-8", "replace").decode())
    return found


def counted(paths, size, job=None, special=NONE):
    """The counts of files in parts of `size` bytes, in this process."""
    job = job or Job(CL100K, special)
    tables = [count_part(part, job) for part in parts_of(find_inputs(paths), size, job.boundary_kind)]
    return concat_counts([sum_counts(table[bucket] for table in tables) for bucket in range(job.buckets)]).as_dict()


# -- tables ---------------------------------------------------------------------------------------------------------


def random_table(rng):
    words = {bytes(rng.choices(b"abc\0\xff", k=rng.randint(1, 30))) for _ in range(rng.choice((0, 1, 5, 300)))}
    return {word: rng.choice((1, 2, 1 << 40)) for word in words}


@pytest.mark.parametrize("built", [True, False])
def test_tables_are_cut_and_added(monkeypatch, built):
    if built:
        needs_extension()
    else:
        monkeypatch.setattr("bpelab.native.extension", lambda: None)
    rng = random.Random(1)
    for _ in range(amount(15, 500)):
        some, number = [random_table(rng) for _ in range(4)], rng.choice((1, 2, 16))
        total = {}
        for table in some:
            assert PreTokenCounts.of(table).as_dict() == table
            for word, count in table.items():
                total[word] = total.get(word, 0) + count
        cut = [PreTokenCounts.of(table).buckets(number) for table in some]
        sums = [sum_counts(table[bucket] for table in cut) for bucket in range(number)]
        assert sum(len(table.ends) for table in sums) == len(total)  # no word is in two buckets
        assert concat_counts(sums).as_dict() == total


def test_runs_in_files_add_up_and_go_away(tmp_path):
    rng = random.Random(2)
    for limit in (0, 1_000, 1 << 30):
        runs, total = Runs(4, limit, str(tmp_path)), {}
        for _ in range(20):
            table = random_table(rng)
            for word, count in table.items():
                total[word] = total.get(word, 0) + count
            for bucket, part in enumerate(PreTokenCounts.of(table).buckets(4)):
                runs.add(bucket, part)
        assert concat_counts([runs.sum(bucket) for bucket in range(4)]).as_dict() == total
        assert (runs.spilled > 0) == (limit < 1 << 30)
        runs.close()
        assert not list(tmp_path.iterdir())
    with pytest.raises(TrainingError, match=r"can't be written to .*nowhere: .*TMPDIR"):
        Runs(1, 0, str(tmp_path / "nowhere")).add(0, PreTokenCounts.of({b"a": 1}))


# -- parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["cl100k", "gpt2", r"\S+|\s+"])
def test_parts_of_any_size_give_the_counts_of_the_whole(tmp_path, split):
    special, split = SpecialTokens({"<|end|>": 0, "e w": 1}), Split(split)
    text = "".join(made(3, amount(15, 400))) + "the <|end|> the words of<|end|>one w" * 20
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    expected = count_pre_tokens(path, split, special)
    for size in (100, 5_000, 10**9):
        assert counted(path, size, Job(split, special)) == expected, size


def test_windows_that_are_too_small_grow(tmp_path, monkeypatch):
    monkeypatch.setattr(partition, "WINDOW", 3)
    text = "one two " + "日本語、" * 50 + "1234 " * 100 + "é" * 70 + " end. " + "7" * 50
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    expected = count_pre_tokens(tmp_path / "a.txt", CL100K, NONE)
    for size in (7, 100):
        assert counted(tmp_path / "a.txt", size) == expected
    monkeypatch.setattr(partition, "MAX_SEARCHED", 100)
    with pytest.raises(CorpusError, match=r"a\.txt: has no boundary, .* after byte"):
        counted(tmp_path / "a.txt", 7)


def test_records_and_packed_files(tmp_path):
    documents = [text for text in made(4, 30) if text]
    expected = count_pre_tokens(documents, CL100K, NONE)
    for name in ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet"):
        assert counted(write(tmp_path / name, documents), 1_000) == expected, name
    assert len(parts_of(find_inputs(tmp_path / "a.parquet"), 1_000, BoundaryKind.WORDS)) > 2
    for name in ("b.txt", "b.txt.gz", "b.txt.zst"):
        path = write(tmp_path / name, documents)
        assert counted(path, 1_000) == count_pre_tokens(tmp_path / "b.txt", CL100K, NONE), name


def test_a_table_that_is_too_large_is_spilled(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text(book_text()[:100_000] * 60)
    spilled = []
    monkeypatch.setattr(Runs, "close", lambda runs, close=Runs.close: (spilled.append(runs.spilled), close(runs)))
    expected = count_pre_tokens(tmp_path / "a.txt", CL100K, NONE)
    assert counted(tmp_path / "a.txt", 1 << 30, Job(CL100K, NONE, limit=1)) == expected
    assert max(spilled) > 0


# -- clusters -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_same_merges_from_all_forms(client, tmp_path):
    documents = [text for text in made(5, 120) if text]
    for name in ("a.txt", "b.jsonl", "c.parquet"):
        write(tmp_path / name, documents)
    ours = {"special_tokens": ["<|endoftext|>"], "normalizer": "NFC"}
    for name, plain in (("a.txt", tmp_path / "a.txt"), ("b.jsonl", documents), ("c.parquet", documents)):
        found = BPETokenizer.train(tmp_path / name, 900, client=client, **ours)
        for trainer in ("native", "incremental"):
            assert found.model == BPETokenizer.train(plain, 900, trainer=trainer, **ours).model
    for least in (2, 7):
        often = {"min_pre_token_frequency": least, **ours}
        found = BPETokenizer.train(tmp_path / "b.jsonl", 600, client=client, **often)
        for trainer in ("native", "incremental"):
            assert found.model == BPETokenizer.train(documents, 600, trainer=trainer, **often).model
    both = BPETokenizer.train(str(tmp_path / "[bc].*"), 700, client=client)
    assert both.model == BPETokenizer.train(documents * 2, 700, trainer="native").model


@pytest.mark.slow
def test_rounds_and_small_parts(here, tmp_path, monkeypatch):
    monkeypatch.setattr(distributed, "ROUND", 4)
    path = tmp_path / "a.txt"
    path.write_text("".join(made(6, 100)), encoding="utf-8", newline="")
    job = Job(CL100K, NONE, buckets=3, limit=1)
    expected = count_pre_tokens(path, CL100K, NONE)
    size = path.stat().st_size // 30
    assert count_files(path, job, here, part=size, client_memory=1).as_dict() == expected
    often = {word: count for word, count in expected.items() if count >= 3}
    assert count_files(path, job, here, part=size, least=3).as_dict() == often
    told = []
    some = parts_of(find_inputs(path), size, BoundaryKind.WORDS)
    assert count_parts(Watch(here), some, job, told.append).as_dict() == expected
    assert sorted(told) == sorted(part.size for part in some)


def recorded(monkeypatch, owner, name):
    """What is called so, with its arguments, is noted."""
    calls, real = [], getattr(owner, name)

    def call(*arguments, **options):
        calls.append((arguments, options))
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, call)
    return calls


@pytest.mark.slow
def test_rounds_are_of_some_size_and_few_are_open(here, tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("one two three. " * 200)
    monkeypatch.setattr(distributed, "ROUND", 1)
    rounds, submitted = recorded(monkeypatch, distributed, "_submit"), recorded(monkeypatch, here, "submit")
    job = Job(CL100K, NONE, buckets=2)
    count_files(path, job, here, part=300)
    assert [len(partition) for (_, partition, _), _ in rounds] == [4, 4, 2]  # two for each of two threads
    # Names that a dashboard groups, and that no other run has, whose results might be taken.
    keys = [options["key"] for _, options in submitted]
    assert len(set(keys)) == len(keys) == 10 + 2 * 10 + 2 * 3
    for key, (_, options) in zip(keys, submitted):
        kind, _, number = re.fullmatch(r"(count|bucket|sum)-([0-9a-f]{32})-(\d+|\d+-\d+)", key).groups()
        assert "-" in number if kind == "bucket" else options["retries"] == job.retries
    rounds.clear()
    monkeypatch.setattr(distributed, "count_part", broken)
    with pytest.raises(ZeroDivisionError):
        count_files(path, replace(job, retries=0), here, part=300)
    assert len(rounds) == OPEN_ROUNDS


def broken(part, job):
    return 1 // 0


@pytest.mark.slow
def test_a_pattern_that_needs_the_whole(here, tmp_path, monkeypatch):
    """Neither parts nor blocks end within a document."""
    monkeypatch.setattr(corpus, "BLOCK", 50)
    texts = ["a b " * 100, "c d " * 100]
    whole = Job(Split(r"[\s\S]+"), NONE)
    path = write(tmp_path / "a.jsonl", texts)
    assert counted(path, 1 << 30, whole) == {text.encode(): 1 for text in texts}
    (tmp_path / "a.txt").write_text(texts[0])
    assert count_files(tmp_path / "a.txt", whole, here, part=100).as_dict() == {texts[0].encode(): 1}


@pytest.mark.slow
def test_how_parts_are_read(here, tmp_path):
    (tmp_path / "lines").write_text('{"body": "A b"}\n{"body": "a"}\n')
    job = Job(CL100K, NONE, normalize=str.lower, field="body")
    found = count_files(tmp_path / "lines", job, here, form="jsonl")
    assert found.as_dict() == {b"a": 2, b" b": 1}


@pytest.mark.slow
def test_counts_go_to_the_folder_of_the_worker(here, tmp_path, monkeypatch):
    """It is deleted with the worker."""
    runs = recorded(monkeypatch, distributed, "Runs")
    (tmp_path / "a.txt").write_text("a b c")
    count_files(tmp_path / "a.txt", Job(CL100K, NONE, buckets=3, limit=7), here, client_memory=9)
    folders = {worker["local_directory"] for worker in here.scheduler_info()["workers"].values()}
    (main, _), ((*sizes, folder), _) = runs
    assert (list(main), sizes) == ([3, 9], [3, 7])
    assert folder in folders
    runs.clear()
    counted(tmp_path / "a.txt", 100)
    assert runs[0][0][2] is None


def held(part, job, folder, waits, killed):
    """A part; it is noted that it was begun. From the sixth on, parts wait for somebody to be killed, and note that."""
    with open(os.path.join(folder, str(part.span[0])), "a") as file:
        file.write(f"{os.getpid()}\n")
    if len(os.listdir(folder)) >= 6:
        Path(waits, str(os.getpid())).touch()
        until(lambda: os.path.exists(killed))
    return count_part(part, job)


@pytest.mark.slow
def test_a_worker_killed_in_mid_run(client, tmp_path, monkeypatch):
    notes, waits, path, killed = tmp_path / "notes", tmp_path / "waits", tmp_path / "a.txt", tmp_path / "killed"
    notes.mkdir()
    waits.mkdir()
    path.write_text("".join(made(7, 150)), encoding="utf-8", newline="")
    kept = partial(held, folder=str(notes), waits=str(waits), killed=str(killed))
    monkeypatch.setattr(distributed, "count_part", kept)
    monkeypatch.setattr(distributed, "ROUND", 8)

    def kill():
        until(lambda: os.listdir(waits))
        os.kill(int(os.listdir(waits)[0]), signal.SIGKILL)
        killed.touch()

    with beside(kill):
        found = count_files(path, Job(CL100K, NONE, buckets=4), client, part=path.stat().st_size // 19)
    assert found.as_dict() == count_pre_tokens(path, CL100K, NONE)
    done = [note.read_text().split() for note in notes.iterdir()]
    assert len(done) == 20
    assert any(len(pids) > 1 for pids in done)  # what was lost was done again
    client.wait_for_workers(2, timeout=600)


SEEN = set()


def fails_first(part, job):
    if part.span not in SEEN:
        SEEN.add(part.span)
        raise OSError("the store is away for a moment")
    return count_part(part, job)


@pytest.mark.slow
def test_tasks_that_fail_are_tried_again(here, tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text(book_text()[:50_000])
    monkeypatch.setattr(distributed, "count_part", fails_first)
    SEEN.clear()
    assert count_files(path, Job(CL100K, NONE), here, part=9_000).as_dict() == count_pre_tokens(path, CL100K, NONE)
    assert len(SEEN) == 6


@pytest.mark.slow
def test_addresses_in_memory(here, tmp_path):
    fsspec, documents = pytest.importorskip("fsspec"), [text for text in made(8, 30) if text]
    for name in ("a.txt.gz", "b.jsonl", "c.parquet", "d.txt"):
        with fsspec.open(f"memory://corpus/{name}", "wb") as file:
            file.write(write(tmp_path / name, documents).read_bytes())
    for name in ("a.txt.gz", "b.jsonl", "c.parquet", "d.txt", "*.jsonl", ""):
        local = tmp_path / name if name[:1] != "*" else tmp_path / "b.jsonl"
        job = Job(CL100K, NONE)
        found = count_files(f"memory://corpus/{name}", job, here, part=3_000)
        assert found.as_dict() == counted(local, 1 << 30), name
    with pytest.raises(CorpusError, match=r"memory://corpus/no\.txt: can't be read: FileNotFoundError"):
        count_files("memory://corpus/no.txt", job, here)
    with pytest.raises(CorpusError, match=r"corpus/\*\.csv: there is no file"):
        count_files("memory://corpus/*.csv", job, here)
    with pytest.raises(CorpusError, match=r"nothing://x\.txt: can't be read: ValueError: Protocol not known"):
        count_files("nothing://x.txt", job, here)


class Handler(http.server.SimpleHTTPRequestHandler):
    """With ranges, which Python's own server lacks, where `ranges` says so."""

    ranges = True

    def do_GET(self):
        asked = self.headers.get("Range") if self.ranges else None
        if asked is None:
            return super().do_GET()
        with open(self.translate_path(self.path), "rb") as file:
            content = file.read()
        first, last = asked.removeprefix("bytes=").split("-")
        part = content[int(first) : int(last) + 1 if last else len(content)]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        return self.wfile.write(part)

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.slow
def test_addresses_of_the_web(client, tmp_path, ranges):
    pytest.importorskip("aiohttp")
    text = "".join(made(9, 60))
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    write(tmp_path / "b.jsonl.gz", [text])
    handler = partial(type("Some", (Handler,), {"ranges": ranges}), directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        root = f"http://127.0.0.1:{server.server_port}"
        for name in ("a.txt", "b.jsonl.gz"):
            found = count_files(f"{root}/{name}", Job(CL100K, NONE), client, part=10_000)
            assert found.as_dict() == count_pre_tokens([text], CL100K, NONE), name
        divided = len(parts_of(find_inputs(f"{root}/a.txt"), 10_000, BoundaryKind.WORDS)) > 1
        assert divided == ranges
        with pytest.raises(CorpusError, match=rf"{root}/none\.txt: can't be read"):
            count_files(f"{root}/none.txt", Job(CL100K, NONE), client)
        server.shutdown()


# -- what goes wrong ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_cannot_be_read_is_named(here, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"a word " * 10_000 + b"\xff" + b" more" * 10_000)
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{}\n')
    (tmp_path / "empty.txt").touch()
    train = partial(BPETokenizer.train, vocab_size=300, client=here)
    with pytest.raises(CorpusError, match=r"bad\.txt: is not UTF-8: invalid start byte at byte 70,000"):
        train(tmp_path / "bad.txt")
    with pytest.raises(CorpusError, match=r"bad\.txt: is not UTF-8: .* at byte 70,000"):
        count_files(tmp_path / "bad.txt", Job(CL100K, NONE), here, part=9_000)
    with pytest.raises(CorpusError, match=r"bad\.jsonl: line 2: there is no field 'text'"):
        train(tmp_path / "bad.jsonl")
    with pytest.raises(CorpusError, match=r"none\.txt: can't be read: No such file"):
        train(str(tmp_path / "none.txt"))
    with pytest.raises(TrainingError, match="the corpus is empty"):
        train(tmp_path / "empty.txt")
    (tmp_path / "a.txt").write_text("a b")
    with pytest.raises(TrainingError, match="min_pre_token_frequency=2 times"):
        train(tmp_path / "a.txt", min_pre_token_frequency=2)


def test_clusters_that_are_not_there(monkeypatch, tmp_path):
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.setattr("bpelab._support.dask_client.CONNECT_TIMEOUT", 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ClusterError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
            BPETokenizer.train(tmp_path / "a.txt", 300, client="tcp://127.0.0.1:9")
    with pytest.raises(TypeError, match="not int"), connect(5):
        pass
    with pytest.raises(ValueError, match="worker_timeout is for a cluster: pass client, too"):
        BPETokenizer.train("a", 300, worker_timeout=60)
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("distributed"))):
        BPETokenizer.train(tmp_path / "a.txt", 300, client="local")


@pytest.mark.parametrize(
    "call",
    [
        "BPETokenizer.train('a.txt', 300, client='local')",
        "BPETokenizer.from_pretrained('tok').encode_files(['a.txt'], 'shards', client='local')",
    ],
)
@pytest.mark.slow
def test_a_script_without_a_guard_is_told_so_once(tmp_path, call):
    (tmp_path / "a.txt").write_text("a b a b")
    BPETokenizer.train("ab", 256).save(tmp_path / "tok")
    (tmp_path / "script.py").write_text(f"from bpelab import BPETokenizer\n{call}\n")
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("Traceback")) == (1, 1)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("bpelab.errors.ClusterError: processes on this machine can't be started (")
    assert 'behind `if __name__ == "__main__":`' in last


@pytest.mark.slow
def test_the_bar_of_a_cluster_names_its_dashboard(here, tmp_path, capsys, monkeypatch):
    (tmp_path / "a.txt").write_text(book_text()[:20_000])
    monkeypatch.setattr(dask.Client, "dashboard_link", "http://10.0.0.7:8787/status")
    tokenizer = BPETokenizer.train(tmp_path / "a.txt", 400, client=here, progress=True)
    shown = capsys.readouterr().err
    assert re.search(r"counting, http://10\.0\.0\.7:8787/status: 100%\|[^|]*\| 20\.\dk/20\.\dk \[.*B(/s)?\]", shown), (
        shown
    )
    tokenizer.encode_files([tmp_path / "a.txt"], tmp_path / "shards", client=here, progress=True)
    assert "encoding, http://10.0.0.7:8787/status: 100%" in capsys.readouterr().err
    tokenizer.encode_files([tmp_path / "a.txt"], tmp_path / "more", client=here, progress=False)
    assert capsys.readouterr().err == ""


def dies(part, job):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_part_that_kills_every_worker(client, tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.setattr(distributed, "count_part", dies)
    with dask.Client(client.scheduler.address) as own:
        own.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
        with pytest.raises(ClusterError, match="1 workers in a row were lost while they worked on"):
            count_files(tmp_path / "a.txt", Job(CL100K, NONE), own.scheduler.address)
        own.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3))
    client.wait_for_workers(2, timeout=600)


@pytest.mark.skipif(not SOAK, reason="a gigabyte: BPELAB_SOAK=1 runs it")
@pytest.mark.slow
def test_a_gigabyte_with_workers_killed(client, tmp_path):
    path, done = tmp_path / "made.txt", threading.Event()
    with path.open("w") as file:
        file.writelines(zipf_text(1_000_000_000))
    expected = BPETokenizer.train(path, 32_000, trainer="native").model
    assert BPETokenizer.train(path, 32_000, client=client).model == expected
    killed, rng = [], random.Random(11)

    def kill():
        while not done.wait(rng.uniform(4, 8)) and len(killed) < 3:
            killed.append(rng.choice(list(client.run(os.getpid).values())))
            os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        found = BPETokenizer.train(path, 32_000, client=client)
    finally:
        done.set()
        thread.join()
    assert killed
    assert found.model == expected


# -- encoding and the command line ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_shards_of_a_cluster(client, tmp_path, capsys, monkeypatch):
    documents = [text for text in made(10, 40) if text]
    for number, name in enumerate(("a.jsonl", "b.txt", "c.parquet")):
        write(tmp_path / name, documents[number::3])
    monkeypatch.chdir(tmp_path)
    address, names = client.scheduler.address, ["a.jsonl", "b.txt", "c.parquet"]
    words = ["train", *names[:1], "--vocab-size", "500", "--special", "<|endoftext|>", "--out", "tok"]
    assert main([*words, "--dask", address]) == 0
    encode = ["encode-files", *names, "-t", "tok", "--separator", "<|endoftext|>", "--end-of-document", "<|endoftext|>"]
    encode += ["--shard-tokens", "1000"]
    assert main([*encode, "--out", "one"]) == 0
    assert main([*encode, "--out", "many", "--dask", address]) == 0
    one, many = open_shards("one"), open_shards("many")
    assert many.documents == one.documents
    assert many.tokens(0, len(many)).tolist() == one.tokens(0, len(one)).tolist()
    assert all((many.document(n) == one.document(n)).all() for n in range(one.documents))
    assert many.index.inputs == one.index.inputs
    assert main(["verify", "many", "-t", "tok", "--against"]) == 0
    capsys.readouterr()
    # What is there is not made again; what is gone is; other arguments are refused.
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "many").glob("part-*/shard-*")}
    (tmp_path / "many" / "index.json").unlink()
    assert main([*encode, "--out", "many"]) == 1
    assert "of a run on a cluster that isn't finished" in capsys.readouterr().err
    for path in (tmp_path / "many" / "part-00001").iterdir():
        path.unlink()
    assert main([*encode, "--out", "many", "--dask", address]) == 0
    again = {path: path.stat().st_mtime_ns for path in times}
    assert {path.parent.name for path in times if times[path] != again[path]} == {"part-00001"}
    assert main(["verify", "many", "-t", "tok", "--against"]) == 0
    assert main([*encode[:-1], "900", "--out", "many", "--dask", address]) == 1
    assert "--shard-tokens was 1000 and is 900" in capsys.readouterr().err
    assert main([*encode[:-1], "900", "--out", "many", "--dask", address, "--overwrite"]) == 0
    (tmp_path / "many" / "part-00002" / "shard-00000.npy").write_bytes(b"")
    assert main(["verify", "many"]) == 1
    assert "part-00002/shard-00000.npy: has 0 bytes" in capsys.readouterr().err
    assert main(["train", "--vocab-size", "300", "--out", "t2", "--dask", address]) == 1
    assert "--dask counts files" in capsys.readouterr().err


def stalling(tokenizer, folder, index, threads, notes):
    """A part, by a worker that stops itself while it writes to the first one; who waits for a lock says so at once."""
    dask_wait.PATIENCE = 0
    with open(os.path.join(notes, folder.name), "a") as file:
        file.write(f"{os.getpid()}\n")
    if folder.name == "part-00000" and not os.path.exists(stopped := os.path.join(notes, "stopped")):
        folder.mkdir(parents=True)
        with locked(folder):
            Path(stopped).touch()
            os.kill(os.getpid(), signal.SIGSTOP)
            # This thread may run on for a moment: the signal is another thread's to take.
            until(Path(notes, "goes on").exists)
    return write_part(tokenizer, folder, index, threads)


async def taken_for_lost(dask_scheduler, address):
    """As Dask does to workers of which it has heard nothing for minutes."""
    await dask_scheduler.remove_worker(address, stimulus_id="stalled")


@contextmanager
def workers(address, number):
    """Processes that work for a scheduler, with no nanny that ends those that stall."""
    words = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    running = [
        subprocess.Popen([*words, "--nthreads", "1"], stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path})
        for _ in range(number)
    ]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no such signal")
@pytest.mark.slow
def test_a_worker_that_stalls_while_it_writes(tmp_path, monkeypatch):
    """Dask takes it for lost and has another do its task, which waits: the first still has the folder's lock."""
    notes, texts = tmp_path / "notes", [text for text in made(11, 6) if text]
    notes.mkdir()
    paths = [tmp_path / f"{number}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        write(path, [text])
    tokenizer = BPETokenizer.train(book_text()[:5_000], 300)
    monkeypatch.setattr(shards_distributed, "write_part", partial(stalling, notes=str(notes)))

    def tried():
        note = notes / "part-00000"
        return note.read_text().split() if note.exists() else []

    def stall():
        until((notes / "stopped").exists)
        (first,) = tried()
        address = next(address for address, pid in pids.items() if pid == int(first))
        client.run_on_scheduler(taken_for_lost, address=address)
        hear("another worker, which was taken for lost, still writes to it")
        (notes / "goes on").touch()
        os.kill(int(first), signal.SIGCONT)

    with (
        dask.LocalCluster(n_workers=0, dashboard_address=None, protocol="tcp", processes=True) as cluster,
        workers(cluster.scheduler_address, 2),
        dask.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=600)
        pids = client.run(os.getpid)
        with heard() as hear, beside(stall):
            many = tokenizer.encode_files(paths, tmp_path / "many", client=client)
    one = tokenizer.encode_files(paths, tmp_path / "one")
    assert many.tokens(0, len(many)).tolist() == one.tokens(0, len(one)).tolist()
    assert len(set(tried())) == 2


def test_texts_of_parts_have_special_tokens_in_them(tmp_path):
    (tmp_path / "a.txt").write_text("a b<|end|>c d")
    (part,) = parts_of(find_inputs(tmp_path / "a.txt"), 100, BoundaryKind.WORDS)
    assert "".join(texts_of(part, "text", BoundaryKind.WORDS, SpecialTokens({"<|end|>": 0}))) == "a b<|end|>c d"


# -- superwords -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["superbpe", "boundless"])
def test_superwords_from_all_forms(here, tmp_path, method):
    documents = [text for text in made(15, 60) if text]
    for name in ("a.txt", "b.jsonl", "c.parquet"):
        write(tmp_path / name, documents)
    ours = {"superwords": method, "special_tokens": ["<|endoftext|>"], "normalizer": "NFC"}
    for name, plain in (("a.txt", tmp_path / "a.txt"), ("b.jsonl", documents), ("c.parquet", documents)):
        found = BPETokenizer.train(tmp_path / name, 700, client=here, **ours)
        for trainer in ("native", "incremental"):
            assert found == BPETokenizer.train(plain, 700, trainer=trainer, **ours), (name, trainer)


def held_phrases(part, job, **notes):
    return held(part, job, **notes) if isinstance(job, PhraseJob) else count_part(part, job)


@pytest.mark.slow
def test_a_worker_killed_while_phrases_are_counted(client, tmp_path, monkeypatch):
    notes, waits, path, killed = tmp_path / "notes", tmp_path / "waits", tmp_path / "a.txt", tmp_path / "killed"
    notes.mkdir()
    waits.mkdir()
    path.write_text("".join(made(16, 200)), encoding="utf-8", newline="")
    kept = partial(held_phrases, folder=str(notes), waits=str(waits), killed=str(killed))
    monkeypatch.setattr(distributed, "count_part", kept)
    monkeypatch.setattr(
        count_files, "__kwdefaults__", {**count_files.__kwdefaults__, "part": path.stat().st_size // 19}
    )

    def kill():
        until(lambda: os.listdir(waits))
        os.kill(int(os.listdir(waits)[0]), signal.SIGKILL)
        killed.touch()

    with beside(kill):
        found = BPETokenizer.train(path, 800, client=client, superwords="superbpe")
    assert found == BPETokenizer.train(path, 800, superwords="superbpe")
    assert any(len(note.read_text().split()) > 2 for note in notes.iterdir())  # pairs, parts, and what was lost
    client.wait_for_workers(2, timeout=600)


@pytest.mark.parametrize("built", [True, False])
def test_phrases_of_workers_with_and_without_a_compiler(tmp_path, monkeypatch, built):
    """The same tables from C and from Python, spilled or not."""
    if not built:
        monkeypatch.setattr("bpelab.trainers.superwords.distributed_phrases.extension", lambda: None)
    texts = [text for text in made(17, 20) if text]
    (tmp_path / "a.txt").write_text("".join(texts), encoding="utf-8", newline="")
    model = BPETokenizer.train(texts, 400).model
    for superwords in (Superwords(), Superwords.of("boundless")):
        pickled, kind = pickle.dumps((model, CL100K, superwords)), BoundaryKind.PHRASES
        whole = PythonPhraseCounter(Sequences(model, CL100K, superwords), None)
        whole.feed(texts_of(parts_of(find_inputs(tmp_path / "a.txt"), 1 << 30, kind)[0], "text", kind, NONE))
        keys = b"".join(key for key, count in whole.table().as_dict().items() if count > 3)
        parts = PythonPhraseCounter(Sequences(model, CL100K, superwords), keys)
        parts.feed(texts_of(parts_of(find_inputs(tmp_path / "a.txt"), 1 << 30, kind)[0], "text", kind, NONE))
        for kept, expected in ((None, whole), (keys, parts)):
            for size, limit in ((3_000, 1 << 28), (1 << 30, 1)):
                job = PhraseJob(CL100K, NONE, limit=limit, encoding=pickled, mergeable=kept, boundary_kind=kind)
                tables = [count_part(part, job) for part in parts_of(find_inputs(tmp_path / "a.txt"), size, kind)]
                sums = [sum_counts(table[bucket] for table in tables) for bucket in range(job.buckets)]
                assert concat_counts(sums).as_dict() == expected.table().as_dict()
