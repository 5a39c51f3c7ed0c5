"""An iterable that is worked through in a thread of its own, a few items ahead of who takes them.

So files are read while what was read before is encoded, which is done in kernels that let other threads run. The queue
is short: who reads faster than the other encodes waits, and memory does not grow.
"""

from collections.abc import Generator, Iterable
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 0.1
"""Seconds after which a waiting reader looks whether anybody still wants what it has."""


def ahead(items: Iterable[T], length: int = 2) -> Generator[T, None, None]:
    """The items, in order, at most `length` of them worked out before they are asked for; errors arrive in their place.

    >>> list(ahead(range(5)))
    [0, 1, 2, 3, 4]

    The thread ends with the iterator, also where that is closed early.
    """
    queue: Queue[tuple[str, Any]] = Queue(length)
    closed = Event()

    def put(kind: str, item: Any) -> bool:
        while not closed.is_set():
            try:
                queue.put((kind, item), timeout=PATIENCE)
                return True
            except Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put("item", item):
                    return
        except BaseException as error:
            put("error", error)
        else:
            put("end", None)

    thread = Thread(target=work, name="bpelab reads ahead", daemon=True)
    thread.start()
    try:
        while True:
            try:
                kind, item = queue.get(timeout=PATIENCE)  # with a limit, so that an interrupt is not kept waiting
            except Empty:
                continue
            if kind == "error":
                raise item
            if kind == "end":
                return
            yield item
    finally:
        closed.set()
        thread.join()
