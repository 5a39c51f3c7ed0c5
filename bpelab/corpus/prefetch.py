"""Prefetch: a background thread works through an iterable, a few items ahead of the consumer.

Files can be read while earlier text is encoded, since the encoder in C lets other threads run. The queue is bounded: a
reader that is faster than the encoder waits, and memory doesn't grow.
"""

from collections.abc import Generator, Iterable
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 0.1
"""Seconds after which a waiting reader checks whether its items are still wanted."""


def prefetch(items: Iterable[T], length: int = 2) -> Generator[T, None, None]:
    """Yield the items in order, computing at most `length` of them ahead; an error is raised at its position.

    >>> list(prefetch(range(5)))
    [0, 1, 2, 3, 4]

    The thread ends with the iterator, even if that is closed early.
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
                kind, item = queue.get(timeout=PATIENCE)  # with a timeout, so that an interrupt doesn't have to wait
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
