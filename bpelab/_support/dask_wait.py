"""Waits for a Dask cluster, none of them silent: whoever waits looks at the workers meanwhile, and says what is wrong.

What comes from a cluster is waited for in one of two ways: `Watch.finished` gives tasks as they finish, and
`Watch.call` calls what asks the cluster, in a thread. Both wake up every `LOOK` seconds, and so does Ctrl-C.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from time import localtime, monotonic, strftime, time
from typing import Any, TypeVar

from .errors import ClusterError
from .progress import Bar, bar

T = TypeVar("T")
LOOK = 2.0
"""Seconds between two looks at a cluster from which nothing comes."""
PATIENCE = 30.0
"""Seconds without a worker, or without an answer of the scheduler, after which that is said."""


class ClusterWaits(UserWarning):
    """A Dask cluster has no worker, or doesn't answer, and the work waits for it; or goes on after that."""


def check_timeout(seconds: object) -> None:
    """Raise ValueError for what is neither None nor a number of seconds."""
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if seconds is not None and not (number and seconds >= 0):  # type: ignore[operator]
        raise ValueError(f"worker_timeout is a number of seconds, 0 or more, or None, not {seconds!r}")


def in_thread(function: Callable[[], T]) -> "Future[T]":
    """What a function returns, later. Its thread keeps no process from ending."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(function())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=run, daemon=True).start()
    return answer


def patiently(answer: "Future[T]", look: Callable[[], object], drop: Callable[[T], object] = lambda late: None) -> T:
    """The result of what runs in a thread; `look` is called every `LOOK` seconds until then.

    After an error of `look`, or Ctrl-C, nobody wants the result: `drop` is called with it, should it come.
    """
    try:
        while not wait([answer], LOOK).done:
            look()
    except BaseException:
        answer.add_done_callback(lambda late: late.exception() or drop(late.result()))
        raise
    return answer.result()


class Watch:
    """Waits for a cluster. Without a worker for 30 s, or an answer, it warns: ClusterWaits, and a note on the bar.

    Attributes:
        client: of the cluster.
        timeout: the seconds without a worker after which ClusterError is raised; None for none.
        dashboard: the address of the cluster's page, or None.
    """

    def __init__(self, client: Any, timeout: float | None = None) -> None:
        self.client, self.timeout = client, timeout
        self.dashboard: str | None = None
        self._address, self._bar, self._told = client.scheduler.address, Bar(), ""
        self._question: Future[Any] | None = None
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._left: dict[str, Any] = {}
        self.dashboard = self.call(self._link)

    def _link(self) -> str | None:
        try:
            link: str | None = self.client.dashboard_link
            return link
        except (KeyError, OSError):  # it has none
            return None

    def bar(self, progress: bool | None, total: int, what: str) -> Bar:
        """A progress bar in bytes, which names the dashboard; what has to be said is said on it."""
        self._bar = bar(progress, total, f"{what}, {self.dashboard}", "B")
        return self._bar

    def call(self, function: Callable[[], T]) -> T:
        """What a function returns that asks the cluster, and may wait for it."""
        self._begin()
        return patiently(in_thread(function), self._look)

    def add(self, tasks: Iterable[Any]) -> None:
        """Tasks (Dask's futures) to wait for."""
        for task in tasks:
            self._left[task.key] = task
            task.add_done_callback(self._tasks.put)

    def finished(self) -> Iterator[Any]:
        """The tasks, as they finish, fail or are cancelled, until none is left."""
        while self._left:
            self._begin()
            while (task := self._next()) is None:
                self._look()
            if not task.cancelled():
                self._go_on("a task has ended")
            del self._left[task.key]
            yield task

    def _next(self) -> Any:
        try:
            return self._tasks.get(timeout=LOOK)
        except Empty:
            return None

    def drop(self) -> None:
        """Leave to the cluster what nobody waits for any more; it may forget it. This asks nobody, and doesn't wait."""
        for task in self._left.values():
            task.release()
        self._left.clear()

    # -- looking ------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Begin to wait: until now somebody worked, as far as is known."""
        self._alive, self._question = monotonic(), None

    def _look(self) -> None:
        """See whether somebody works; say it once when nobody does. Raises ClusterError after the time-out.

        The scheduler is asked at one look, and what it answered is read at the next ones, so that none waits for it.
        """
        if self._question is None:
            return self._ask()
        if self._question.done():
            number, problem, advice = self._answered(self._question)
            until = self._asked  # what happened since is not known yet
            self._ask()
        elif (until := monotonic()) - self._asked >= PATIENCE:
            number, problem, advice = 0, *self._silent("")
        else:
            return None
        if not problem:
            self._alive = until
            return self._go_on(f"the cluster has {counted(number)}")
        seconds, where = until - self._alive, f"scheduler: {self._address}, dashboard: {self.dashboard}"
        if self.timeout is not None and seconds >= self.timeout:
            raise ClusterError(
                f"{problem}; {advice} ({where}). Waited {seconds:.0f} s, and worker_timeout={self.timeout:g}"
            )
        if seconds >= PATIENCE and problem != self._told:
            self._told = problem
            since = strftime("%X", localtime(time() - (monotonic() - self._alive)))
            self._bar.warn(ClusterWaits(f"waiting since {since}: {problem}; {advice} ({where})"), problem)
        return None

    def _ask(self) -> None:
        identity = partial(self.client.sync, self.client.scheduler.identity, n_workers=-1)
        self._question, self._asked = in_thread(identity), monotonic()

    def _answered(self, question: "Future[Any]") -> tuple[int, str, str]:
        """How many workers there are; the problem, or nothing; and what to do about it."""
        if (error := question.exception()) is not None:
            return 0, *self._silent(f" ({error!r:.100})")
        states = [worker["status"] for worker in question.result()["workers"].values()]
        if not states:
            return 0, "the cluster has 0 workers", f"start one with `dask worker {self._address}`, and the work goes on"
        if "running" in states:
            return len(states), "", ""
        what = f"the cluster has {counted(len(states))}, and none takes tasks ({', '.join(sorted(set(states)))})"
        return len(states), what, "workers pause when their memory is nearly full: give them more, or start others"

    def _silent(self, why: str) -> tuple[str, str]:
        return f"the scheduler doesn't answer{why}", "see whether its process runs, and the network"

    def _go_on(self, why: str) -> None:
        """Say that the work goes on, if it was said that it waits."""
        if self._told:
            self._told = ""
            self._bar.warn(ClusterWaits(f"the work goes on: {why}"), "")


def counted(number: int) -> str:
    """As in "1 worker", "2 workers"."""
    return f"{number:,} worker{'' if number == 1 else 's'}"
