"""Clusters that nothing comes from: real ones, without workers, whose workers vanish, whose scheduler stalls."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from bpelab import BPETokenizer, ClusterError
from bpelab._support import dask_wait
from bpelab._support.dask_client import connect
from bpelab.pretokenizers import Split
from bpelab.shards import distributed as encoding
from bpelab.shards.distributed import write_part
from bpelab.shards.lock import locked
from bpelab.trainers.counting import distributed as counting
from bpelab.trainers.counting.corpus import count_pre_tokens
from bpelab.trainers.counting.distributed import Job, count_files, count_part
from bpelab.vocab.special_tokens import SpecialTokens

from .waiting import HUNG, beside, heard, until

dask = pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Dask's own warnings are not ours

TEXT = "the cat and the hat sat and sat. " * 9
JOB = Job(Split("cl100k"), SpecialTokens({}), buckets=2)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """What is said after half a minute is said after a moment."""
    monkeypatch.setattr(dask_wait, "LOOK", 0.05)
    monkeypatch.setattr(dask_wait, "PATIENCE", 0.2)


@pytest.fixture
def cluster():
    with dask.LocalCluster(n_workers=0, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with dask.Client(cluster) as client:
        yield client


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture(params=["count", "encode"])
def work(request, path, tmp_path):
    """A function that has a cluster work on a file, and checks what it did; arguments are passed on."""
    tokenizer = BPETokenizer.train(TEXT, 265)

    def count(client, **options):
        assert count_files(path, JOB, client, **options).as_dict() == count_pre_tokens(path, JOB.split, JOB.special)

    def encode(client, **options):
        shards = tokenizer.encode_files(path, tmp_path / "shards", client=client, **options)
        assert shards.tokens(0, len(shards)).tolist() == tokenizer.encode(TEXT)

    return {"count": count, "encode": encode}[request.param]


def test_no_worker_ever(client, cluster, work, capsys):
    """It is said on the bar and in a warning; a worker comes, that is said, and the work is done."""
    with heard() as hear:

        def come():
            hear(f"the cluster has 0 workers; start one with `dask worker {cluster.scheduler_address}`")
            hear(f"(scheduler: {cluster.scheduler_address}, dashboard: {cluster.dashboard_link})")
            cluster.scale(1)
            hear("the work goes on: ")

        with beside(come):
            work(client, progress=True)
    assert "the cluster has 0 workers" in capsys.readouterr().err


def test_the_timeout(client, work, monkeypatch):
    monkeypatch.setattr(dask_wait, "PATIENCE", HUNG)  # however long a busy scheduler takes to answer
    with pytest.raises(ClusterError, match=r"the cluster has 0 workers; .* worker_timeout=0\.3$"):
        work(client, worker_timeout=0.3)
    until(lambda: not client.futures)  # the cluster may forget all of it


def held(*given, of, folder):
    """What a task does, after somebody said so."""
    Path(folder, "begun").touch()
    until(Path(folder, "go").exists)
    return of(*given)


def test_workers_that_vanish_and_return(client, cluster, tmp_path, work, monkeypatch):
    notes = tmp_path / "notes"
    notes.mkdir()
    monkeypatch.setattr(counting, "count_part", partial(held, of=count_part, folder=str(notes)))
    monkeypatch.setattr(encoding, "write_part", partial(held, of=write_part, folder=str(notes)))
    cluster.scale(1)
    with heard() as hear:

        def vanish():
            until((notes / "begun").exists)
            client.run_on_scheduler(lost)
            hear("the cluster has 0 workers")
            (notes / "go").touch()
            cluster.scale(2)
            hear("the work goes on: ")

        with beside(vanish):
            work(client)


async def lost(dask_scheduler):
    """What Dask does when it has lost its workers."""
    for address in list(dask_scheduler.workers):
        await dask_scheduler.remove_worker(address, stimulus_id="lost")


@contextmanager
def scheduler():
    """A scheduler in a process of its own, and its address."""
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen([*words, "--no-dashboard"], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, next(line.split()[-1] for line in process.stderr if "Scheduler at:" in line)
        finally:
            process.kill()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no such signal")
def test_a_scheduler_that_stalls(work):
    """It is told of, and Ctrl-C ends the wait; the time-out does so, too; nobody waits for it at the end."""
    with scheduler() as (process, address), dask.Client(address, timeout=HUNG) as client:
        with heard() as hear:

            def stall():
                hear("the cluster has 0 workers")
                os.kill(process.pid, signal.SIGSTOP)
                hear("the scheduler doesn't answer; see whether its process runs, and the network")
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

            with beside(stall), pytest.raises(KeyboardInterrupt):
                work(client)
        with pytest.raises(ClusterError, match=r"doesn't answer; .* worker_timeout=0\.5"):
            work(client, worker_timeout=0.5)


def test_what_accepts_and_is_silent(work, monkeypatch):
    """Dask waits for ever for its first word."""
    monkeypatch.setattr("bpelab._support.dask_client.CONNECT_TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"no Dask scheduler answers at '{address}'"):
            work(address)


def test_a_client_that_is_closed(client, work):
    client.close()
    with pytest.raises(ClusterError, match="the Dask client is closed; make a new one"):
        work(client)


def test_a_scheduler_that_is_gone(work):
    with scheduler() as (process, address), dask.Client(address, timeout=HUNG) as client, heard() as hear:

        def end():
            hear("the cluster has 0 workers")
            process.kill()

        with beside(end), pytest.raises(ClusterError, match="the cluster went away in the middle of the work"):
            work(client)


class Slow:
    """A cluster on this machine that starts when somebody says so, and doesn't close."""

    go, closed = threading.Event(), threading.Event()

    def __init__(self, **options):
        assert self.go.wait(HUNG)

    def close(self, timeout):
        self.closed.set()
        raise TimeoutError


def test_processes_that_do_not_start(monkeypatch):
    """What was started after the wait was given up is closed."""
    monkeypatch.setattr(dask, "LocalCluster", Slow)
    said = "the processes of the cluster on this machine have not started after "
    with heard() as hear:
        with pytest.raises(ClusterError, match=rf"{said}\d+ s, and worker_timeout=0\.4"), connect("local", 0.4):
            pass
        hear(said)
        Slow.go.set()
        assert Slow.closed.wait(HUNG)
        hear("did not close within 20 s")


def test_a_folder_that_a_lost_worker_writes_to(client, cluster, path, tmp_path):
    """Who waits for its lock says so where the cluster is used."""
    tokenizer, taken, free = BPETokenizer.train(TEXT, 265), threading.Event(), threading.Event()
    part = tmp_path / "shards" / "part-00000"
    part.mkdir(parents=True)

    def hold():
        with locked(part):
            taken.set()
            assert free.wait(HUNG)

    with heard() as hear:

        def let_go():
            hear(
                f"{part}: another worker, which was taken for lost, still writes to it; waiting for that to end, 600 s"
            )
            free.set()

        with beside(hold), beside(let_go):
            assert taken.wait(HUNG)
            cluster.scale(1)
            shards = tokenizer.encode_files(path, tmp_path / "shards", client=client)
    assert shards.tokens(0, len(shards)).tolist() == tokenizer.encode(TEXT)
