"""Waiting for a Dask cluster, never silently: the workers are checked meanwhile, and problems are reported.

There are two ways to wait: `Watch.finished` yields tasks as they finish, and `Watch.call` runs a request to the cluster
in a thread. Both wake up every `LOOK` seconds, and at Ctrl-C.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from time import localtime, monotonic, strftime, time
from typing import Any, TypeVar

from ..errors import ClusterError
from .progress import Bar, progress_bar

T = TypeVar("T")
LOOK = 2.0
"""Seconds between two checks of a silent cluster."""
PATIENCE = 30.0
"""Seconds without a worker, or without an answer from the scheduler, before that is reported."""


class ClusterWaits(UserWarning):
    """Work is waiting for a Dask cluster that has no worker or doesn't answer, or has resumed after such a wait."""


def check_timeout(seconds: object) -> None:
    """Raise ValueError for anything but None or a number of seconds."""
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if seconds is not None and not (number and seconds >= 0):  # type: ignore[operator]
        raise ValueError(f"worker_timeout is a number of seconds, 0 or more, or None, not {seconds!r}")


def run_in_thread(function: Callable[[], T]) -> "Future[T]":
    """Run a function in a daemon thread; return a future of its result."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(function())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    return answer


def wait_for(answer: "Future[T]", look: Callable[[], object], drop: Callable[[T], object] = lambda late: None) -> T:
    """Wait for a future and return its result, calling `look` every `LOOK` seconds meanwhile.

    After an error in `look`, or Ctrl-C, nobody wants the result: if it still arrives, `drop` is called with it.
    """
    try:
        while not wait([answer], LOOK).done:
            look()
    except BaseException:
        answer.add_done_callback(lambda late: late.exception() or drop(late.result()))
        raise
    return answer.result()


class Watch:
    """Waits for a cluster. After 30 s without a worker or an answer it warns: ClusterWaits, and a note on the bar.

    Attributes:
        client: the cluster's client.
        timeout: the seconds without a worker after which ClusterError is raised; None for no limit.
        dashboard: the address of the cluster's page, or None.
    """

    def __init__(self, client: Any, timeout: float | None = None) -> None:
        self.client, self.timeout = client, timeout
        self.dashboard: str | None = None
        self._address, self._bar, self._reported = client.scheduler.address, Bar(), ""
        self._question: Future[Any] | None = None
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._pending: dict[str, Any] = {}
        self.dashboard = self.call(self._link)

    def _link(self) -> str | None:
        try:
            link: str | None = self.client.dashboard_link
            return link
        except (KeyError, OSError):  # it has none
            return None

    def progress_bar(self, progress: bool | None, total: int, what: str) -> Bar:
        """Return a progress bar in bytes, which names the dashboard; warnings are shown on it."""
        self._bar = progress_bar(progress, total, f"{what}, {self.dashboard}", "B")
        return self._bar

    def call(self, function: Callable[[], T]) -> T:
        """Call a function that asks the cluster and may block, and return its result."""
        self._begin()
        return wait_for(run_in_thread(function), self._look)

    def add(self, tasks: Iterable[Any]) -> None:
        """Add tasks (Dask's futures) to wait for."""
        for task in tasks:
            self._pending[task.key] = task
            task.add_done_callback(self._tasks.put)

    def finished(self) -> Iterator[Any]:
        """Yield the tasks, as they finish, fail or are cancelled, until none is left."""
        while self._pending:
            self._begin()
            while (task := self._next()) is None:
                self._look()
            if not task.cancelled():
                self._go_on("a task has ended")
            del self._pending[task.key]
            yield task

    def _next(self) -> Any:
        try:
            return self._tasks.get(timeout=LOOK)
        except Empty:
            return None

    def drop(self) -> None:
        """Release the remaining tasks, so that the cluster can forget them. This doesn't block."""
        for task in self._pending.values():
            task.release()
        self._pending.clear()

    # -- looking ------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Start a wait, assuming that there have been workers so far."""
        self._alive, self._question = monotonic(), None

    def _look(self) -> None:
        """Check for workers; warn once if there are none. Raises ClusterError after the timeout.

        One check asks the scheduler and a later one reads its answer, so no check waits for it.
        """
        if self._question is None:
            return self._ask()
        if self._question.done():
            number, problem, advice = self._answered(self._question)
            until = self._asked_at  # what has happened since isn't known yet
            self._ask()
        elif (until := monotonic()) - self._asked_at >= PATIENCE:
            number, problem, advice = 0, *self._silent("")
        else:
            return None
        if not problem:
            self._alive = until
            return self._go_on(f"the cluster has {count_workers(number)}")
        seconds, where = until - self._alive, f"scheduler: {self._address}, dashboard: {self.dashboard}"
        if self.timeout is not None and seconds >= self.timeout:
            raise ClusterError(
                f"{problem}; {advice} ({where}). Waited {seconds:.0f} s, and worker_timeout={self.timeout:g}"
            )
        if seconds >= PATIENCE and problem != self._reported:
            self._reported = problem
            since = strftime("%X", localtime(time() - (monotonic() - self._alive)))
            self._bar.warn(ClusterWaits(f"waiting since {since}: {problem}; {advice} ({where})"), problem)
        return None

    def _ask(self) -> None:
        identity = partial(self.client.sync, self.client.scheduler.identity, n_workers=-1)
        self._question, self._asked_at = run_in_thread(identity), monotonic()

    def _answered(self, question: "Future[Any]") -> tuple[int, str, str]:
        """Return the number of workers, the problem or "", and what to do about it."""
        if (error := question.exception()) is not None:
            return 0, *self._silent(f" ({error!r:.100})")
        states = [worker["status"] for worker in question.result()["workers"].values()]
        if not states:
            return 0, "the cluster has 0 workers", f"start one with `dask worker {self._address}`, and the work goes on"
        if "running" in states:
            return len(states), "", ""
        what = f"the cluster has {count_workers(len(states))}, and none takes tasks ({', '.join(sorted(set(states)))})"
        return len(states), what, "workers pause when their memory is nearly full: give them more, or start others"

    def _silent(self, why: str) -> tuple[str, str]:
        return f"the scheduler doesn't answer{why}", "see whether its process runs, and the network"

    def _go_on(self, why: str) -> None:
        """Report that work has resumed, if a wait was reported."""
        if self._reported:
            self._reported = ""
            self._bar.warn(ClusterWaits(f"the work goes on: {why}"), "")


def count_workers(number: int) -> str:
    """Return a number of workers in words: "1 worker", "2 workers"."""
    return f"{number:,} worker{'' if number == 1 else 's'}"
