"""What is said while a cluster is waited for, and when: with a clock and a scheduler that follow a script."""

import math
import re
import warnings
from concurrent.futures import Future
from queue import Empty
from types import SimpleNamespace

import pytest

from bpelab import ClusterError
from bpelab._support import dask_wait
from bpelab._support.dask_wait import ClusterWaits, Watch, check_timeout, run_in_thread, wait_for
from bpelab._support.progress import Bar

ADDRESS, DASHBOARD = "tcp://10.0.0.7:8786", "http://10.0.0.7:8787/status"
WHERE = re.escape(f"(scheduler: {ADDRESS}, dashboard: {DASHBOARD})")
NOBODY = f"the cluster has 0 workers; start one with `dask worker {ADDRESS}`, and the work goes on {WHERE}"
SILENT = object()


class Task:
    """As Dask's futures, as far as a watch uses them."""

    def __init__(self, key, cancelled=False):
        self.key, self.cancelled, self.released = key, lambda: cancelled, False

    def add_done_callback(self, function):
        self.done = function

    def release(self):
        self.released = True


class Cluster:
    """A clock, a scheduler, and a watch on it, whose waits follow a script.

    A step of the script is (seconds, workers): so long nothing comes, and then so many workers are there, as states; or
    SILENT; or an error. A step may also be a task, which finishes.
    """

    def __init__(self, monkeypatch, timeout=None):
        self.now, self.workers, self.notes = 1_000.0, ["running"], []
        monkeypatch.setattr(dask_wait, "monotonic", lambda: self.now)
        monkeypatch.setattr(dask_wait, "run_in_thread", self.at_once)
        scheduler = SimpleNamespace(address=ADDRESS, identity=self.identity)
        client = SimpleNamespace(
            scheduler=scheduler, sync=lambda function, **options: function(**options), dashboard_link=DASHBOARD
        )
        self.watch = Watch(client, timeout)
        shown = SimpleNamespace(disable=True, clear=lambda: None, set_postfix_str=self.notes.append)
        self.watch._bar = Bar(shown)

    def identity(self, n_workers):
        assert n_workers == -1  # of all of them
        if isinstance(self.workers, Exception):
            raise self.workers
        return {"workers": {str(number): {"status": state} for number, state in enumerate(self.workers)}}

    def at_once(self, function):
        answer = Future()
        if self.workers is not SILENT:
            try:
                answer.set_result(function())
            except OSError as error:
                answer.set_exception(error)
        return answer

    def follow(self, *steps):
        """What was warned of; the tasks in the script are waited for."""
        tasks, left = [step for step in steps if isinstance(step, Task)], iter(steps)

        def get(timeout):
            step = next(left)
            if isinstance(step, Task):
                return step
            self.now += step[0]
            self.workers = step[1]
            raise Empty

        self.watch._tasks = SimpleNamespace(get=get, put=None)
        self.watch.add(tasks)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert list(self.watch.finished()) == tasks
        assert all(each.category is ClusterWaits for each in told)
        return [str(each.message) for each in told]


def steps(seconds, workers, each=2):
    return [(each, workers)] * (seconds // each)


def matched(told, *patterns):
    assert len(told) == len(patterns), told
    for text, pattern in zip(told, patterns):
        assert re.fullmatch(pattern, text), text


def test_nothing_is_said_of_workers_at_work(monkeypatch):
    cluster = Cluster(monkeypatch, timeout=1)
    assert cluster.follow(*steps(100_000, ["running", "paused"]), Task("a"), *steps(50, ["running"]), Task("b")) == []
    assert cluster.notes == []


def test_no_worker_is_said_once_and_so_is_their_return(monkeypatch):
    cluster = Cluster(monkeypatch)
    told = cluster.follow(*steps(300, []), *steps(20, ["running"] * 2), *steps(60, []), Task("a"), Task("b"))
    since = rf"waiting since \S+( [AP]M)?: {NOBODY}"
    matched(told, since, "the work goes on: the cluster has 2 workers", since, "the work goes on: a task has ended")
    assert cluster.notes == ["the cluster has 0 workers", ""] * 2


def test_nothing_is_said_before_its_time(monkeypatch):
    cluster = Cluster(monkeypatch)
    assert cluster.follow(*steps(30, []), Task("a"), *steps(30, []), Task("b")) == []  # the last answer was after 28 s
    assert len(cluster.follow(*steps(34, []), Task("c"))) == 2
    # Workers were there until now, as far as is known: nobody looked while other things were done here.
    cluster.now += 1_000
    assert cluster.follow(*steps(20, []), Task("d")) == []


def test_workers_that_take_no_tasks(monkeypatch):
    told = Cluster(monkeypatch).follow(*steps(40, ["paused", "paused"]), *steps(4, ["running", "paused"]), Task("a"))
    advice = "workers pause when their memory is nearly full: give them more, or start others"
    what = rf"the cluster has 2 workers, and none takes tasks \(paused\); {advice} {WHERE}"
    matched(told, rf"waiting since .*: {what}", "the work goes on: the cluster has 2 workers")


def test_a_scheduler_that_is_silent(monkeypatch):
    advice = f"see whether its process runs, and the network {WHERE}"
    told = Cluster(monkeypatch).follow(*steps(40, SILENT), Task("a"))
    matched(told, f"waiting since .*: the scheduler doesn't answer; {advice}", "the work goes on: a task has ended")
    assert Cluster(monkeypatch).follow(*steps(30, SILENT), Task("a")) == []
    error = OSError("no route")
    told = Cluster(monkeypatch).follow(*steps(40, error), Task("a", cancelled=True))
    matched(told, rf"waiting since .*: the scheduler doesn't answer \(OSError\('no route'\)\); {advice}")


@pytest.mark.parametrize(("timeout", "after"), [(0, 4), (7, 10), (90, 92), (90.5, 94)])
def test_the_timeout(monkeypatch, timeout, after):
    cluster = Cluster(monkeypatch, timeout)
    begun, task = cluster.now, Task("a")
    with pytest.raises(ClusterError, match=rf"{NOBODY}\. Waited \d+ s, and worker_timeout={timeout:g}$"):
        cluster.follow(*steps(1_000, []), task)
    assert cluster.now == begun + after
    assert not task.released
    cluster.watch.drop()
    assert task.released


def test_the_timeout_of_a_silent_scheduler(monkeypatch):
    """One that is busy for a moment may have workers: it is given up after 30 s at the soonest."""
    cluster = Cluster(monkeypatch, 5)
    begun = cluster.now
    with pytest.raises(ClusterError, match=r"doesn't answer.* Waited 32 s, and worker_timeout=5$"):
        cluster.follow(*steps(1_000, SILENT), Task("a"))
    assert cluster.now == begun + 32


def test_calls_are_waited_for_likewise(monkeypatch):
    """In a thread: what they return, what they raise, and what comes too late, which is dropped."""
    monkeypatch.setattr(dask_wait, "LOOK", 0.001)
    assert wait_for(run_in_thread(lambda: 5), pytest.fail) == 5
    with pytest.raises(ZeroDivisionError):
        wait_for(run_in_thread(lambda: 1 // 0), pytest.fail)
    answer, looks, dropped = Future(), [], []

    def look():
        looks.append(1)
        if len(looks) == 3:
            raise ClusterError("given up")

    with pytest.raises(ClusterError, match="given up"):
        wait_for(answer, look, dropped.append)
    answer.set_result(7)
    assert dropped == [7]


def test_wrong_timeouts():
    for value in (-1, -0.5, math.nan, "60", b"60", True, [5]):
        with pytest.raises(ValueError, match="worker_timeout is a number of seconds, 0 or more, or None, not "):
            check_timeout(value)
    for value in (None, 0, 0.5, 60, math.inf):
        check_timeout(value)
