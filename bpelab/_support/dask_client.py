"""Connections to a Dask cluster, running or started on this machine; its failures become errors that say what to do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import current_process
from time import monotonic
from typing import TYPE_CHECKING, Any, Union

from ..errors import ClusterError, MissingDependencyError
from . import dask_wait
from .dask_wait import ClusterWaits, Watch, run_in_thread, wait_for
from .install import install_command

if TYPE_CHECKING:
    from distributed import Client

Cluster = Union["Client", str, None]
LOCAL = "local"
CONNECT_TIMEOUT, CLOSE_TIMEOUT = 10, 20
"""Seconds to wait for a scheduler to answer, and for a client or cluster started here to close."""


def exit_if_respawned(cluster: Cluster) -> None:
    """Exit if this is a spawned child that re-imports the main script, and so is about to start processes itself.

    Python would refuse with a long error for each child. The parent says what is wrong, in `connect`.
    """
    if cluster in (None, LOCAL) and getattr(current_process(), "_inheriting", False):
        raise SystemExit(1)


@contextmanager
def connect(cluster: Cluster, worker_timeout: float | None = None) -> Iterator[Watch]:
    """Connect to a cluster: a given client, an address, or processes on this machine ("local", None).

    Whatever this starts, it closes at the end. Raises ClusterError if nothing answers at the address, if the cluster
    fails while it is in use, or if it has no worker for `worker_timeout` seconds; MissingDependencyError without Dask.
    """
    try:
        import asyncio
        from concurrent import futures

        import distributed
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise MissingDependencyError(
            f"Dask is not installed, which works on several machines: {install_command('distributed')}"
        ) from error
    started = list[Any]()
    try:
        if isinstance(cluster, Client):
            client = cluster
        elif cluster is None or cluster == LOCAL:
            exit_if_respawned(cluster)
            started.append(_local(worker_timeout))
            client = _client(started[0])
            started.insert(0, client)
        elif isinstance(cluster, str):
            client = _client(cluster)
            started.append(client)
        else:
            raise TypeError(f"a cluster is a Dask client or an address, not {type(cluster).__name__}")
        if client.scheduler is None:
            raise ClusterError("the Dask client is closed; make a new one, or name the scheduler's address")
        yield Watch(client, worker_timeout)
    except KilledWorker as error:
        raise ClusterError(
            f"{error.allowed_failures + 1} workers in a row were lost while they worked on {error.task!r}; if they run "
            "out of memory, give them more, or let each run fewer threads"
        ) from error
    except ModuleNotFoundError as error:
        raise ClusterError(f"a worker lacks a package: {error}; install on all what is installed here") from error
    except (
        asyncio.CancelledError,
        futures.CancelledError,
        TimeoutError,
        distributed.client.ClosedClientError,
    ) as error:
        raise ClusterError(f"the cluster went away in the middle of the work: {error!r}; start again") from error
    finally:
        for item in started:
            _close(item)


def _local(worker_timeout: float | None) -> Any:
    """Return a cluster of processes on this machine.

    Raises ClusterError if they can't be started, or not in time.
    """
    import dask
    from distributed import LocalCluster

    begun, told = monotonic(), False

    def look() -> None:
        nonlocal told
        seconds = monotonic() - begun
        what = f"the processes of the cluster on this machine have not started after {seconds:.0f} s"
        if worker_timeout is not None and seconds >= worker_timeout:
            raise ClusterError(f"{what}, and worker_timeout={worker_timeout:g}")
        if seconds >= dask_wait.PATIENCE and not told:
            told = True
            warnings.warn(ClusterWaits(f"{what}; the machine may have too much to do"), stacklevel=2)

    with dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}):
        answer = run_in_thread(partial(LocalCluster, threads_per_worker=1, dashboard_address=":0"))
        try:
            return wait_for(answer, look, _close)
        except RuntimeError as error:
            raise ClusterError(
                f"processes on this machine can't be started ({error.__cause__ or error}): in a script, put what calls "
                'this behind `if __name__ == "__main__":`, since each of them runs the script from its beginning'
            ) from None  # Dask's own error is long and says no more


def _client(of: Any) -> Any:
    """Return a client for a cluster or an address. Raises ClusterError if no scheduler answers.

    Dask's own timeout covers only the connection: if the scheduler then stalls, it waits forever.
    """
    from distributed import Client

    begun = monotonic()

    def look() -> None:
        if monotonic() - begun > 2 * CONNECT_TIMEOUT:
            raise TimeoutError(f"connected, and then heard nothing for {2 * CONNECT_TIMEOUT} s")

    try:
        return wait_for(run_in_thread(partial(Client, of, timeout=CONNECT_TIMEOUT)), look, _close)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {of!r} ({str(error)[:200]}); start one with `dask scheduler`, or "
            'name "local" for processes on this machine'
        ) from error


def _close(item: Any) -> None:
    """Close a client or a cluster; warn if that takes too long."""
    try:
        item.close(timeout=CLOSE_TIMEOUT)
    except TimeoutError:
        what = f"{item!r:.100} did not close within {CLOSE_TIMEOUT} s; what is left of it ends with this process"
        warnings.warn(ClusterWaits(what), stacklevel=2)
