"""Dask clusters: one that is there, or one of processes on this machine; and what went wrong with it, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import current_process
from typing import TYPE_CHECKING, Any, Union

from .errors import ClusterError, MissingDependencyError

if TYPE_CHECKING:
    from distributed import Client

Cluster = Union["Client", str, None]
LOCAL, PATIENCE = "local", 10
"""Seconds to wait for a scheduler to answer."""


def leave_if_starting(cluster: Cluster) -> None:
    """End a process that is only being started, and already runs the script that starts it, to start processes.

    Python would refuse that, at length, for each of them. Who started it says what is wrong, in `connected`.
    """
    if cluster in (None, LOCAL) and getattr(current_process(), "_inheriting", False):
        raise SystemExit(1)


@contextmanager
def connected(cluster: Cluster) -> Iterator[Client]:
    """A client of a cluster: the client given, one for an address, or one of a cluster on this machine ("local", None).

    What was started here is closed at the end. Raises ClusterError where nobody answers at the address, and where the
    cluster fails while it is in use; MissingDependencyError without Dask.
    """
    try:
        from asyncio import CancelledError

        import dask
        from distributed import Client, KilledWorker, LocalCluster
    except ImportError as error:
        raise MissingDependencyError(
            'Dask is not installed, which works on several machines: pip install "bpelab[distributed]"'
        ) from error
    if isinstance(cluster, Client):
        client, started = cluster, list[Any]()
    elif cluster is None or cluster == LOCAL:
        leave_if_starting(cluster)
        try:
            with dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}):
                local = LocalCluster(threads_per_worker=1, dashboard_address=":0")
        except RuntimeError as error:
            raise ClusterError(
                f"processes on this machine can't be started ({error.__cause__ or error}): in a script, put what calls "
                'this behind `if __name__ == "__main__":`, since each of them runs the script from its beginning'
            ) from None  # what Dask raises is long and says no more
        client = Client(local)
        started = [client, local]
    elif isinstance(cluster, str):
        try:
            client = Client(cluster, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {cluster!r} ({str(error)[:200]}); start one with `dask scheduler`, or "
                'name "local" for processes on this machine'
            ) from error
        started = [client]
    else:
        raise TypeError(f"a cluster is a Dask client or an address, not {type(cluster).__name__}")
    try:
        yield client
    except KilledWorker as error:
        raise ClusterError(
            f"{error.allowed_failures + 1} workers in a row were lost while they worked on {error.task!r}; if they run "
            "out of memory, give them more, or let each run fewer threads"
        ) from error
    except ModuleNotFoundError as error:
        raise ClusterError(f"a worker lacks a package: {error}; install on all what is installed here") from error
    except (CancelledError, TimeoutError) as error:
        raise ClusterError(f"the cluster went away in the middle of the work: {error!r}; start again") from error
    finally:
        for item in started:
            item.close()
