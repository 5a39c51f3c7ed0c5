"""The protocol of a backend, which runs a model: ids go in, the logits of the next token come out.

Everything else is the same for every backend, and is here or above: which part of a prompt is already in the KV cache,
how a token is chosen (`sampling`), when to stop (`generation`). So the same logits give the same ids everywhere, and a
new backend is two short methods. `interrupts` lets a caller leave while an engine reads a long prompt.

Chapter: A model answers. Cost of a call: the model's, for the ids that the previous call didn't share.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import BackendError, ConversationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logits = NDArray[np.float32]

CHUNK = 256
"""The most ids that are fed at once."""


def shared_length(cached: Sequence[int], ids: Sequence[int]) -> int:
    """Return how many ids two rows share at their beginning.

    >>> shared_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    return next((at for at, (old, new) in enumerate(zip(cached, ids)) if old != new), min(len(cached), len(ids)))


class Cancelled(Exception):
    """The caller cancelled while the model was reading a prompt."""


def not_cancelled() -> bool:
    """Return False: the default of `cancelled`, for callers that never cancel."""
    return False


class Backend(ABC):
    """A loaded model. Several conversations may share it: each call compares its ids with those in the cache.

    Attributes:
        name: the backend's name in BACKENDS.
        device: the device it runs on, for people: "CPU", "NVIDIA H200".
        context: the context length, in ids.
        vocab_size: the number of logits it returns.
        kv_bytes: the bytes of keys and values per id.
        closed: whether the model was closed. Asking it for logits then raises BackendError.
    """

    name: ClassVar[str]

    def __init__(self, *, device: str, context: int, vocab_size: int, kv_bytes: int) -> None:
        self.device, self.context, self.vocab_size, self.kv_bytes = device, context, vocab_size, kv_bytes
        self.closed, self._lock = False, Lock()
        self._cancelled: Callable[[], bool] = not_cancelled  # what the call in progress was given
        self._cached_ids: list[int] = []
        self.reused = 0
        """How many ids of the last call were already in the cache."""

    def next_logits(self, ids: Sequence[int], cancelled: Callable[[], bool] = not_cancelled) -> "Logits":
        """Return the logits of the token after `ids`: float32, of the shape (vocab_size,).

        Only what differs from the last call's ids is computed. Raises ConversationError for more ids than the context
        holds, or none; Cancelled once `cancelled()` is true, at the latest between two chunks. After an error the cache
        is empty.
        """
        self._check(ids)
        return self._logits(ids, 0, cancelled)

    def last_logits(self, ids: Sequence[int], count: int) -> "Logits":
        """Return the logits after each of the last `count` ids: float32, of the shape (count, vocab_size).

        The last row is that of `next_logits`, up to rounding: engines evaluate many ids at once in another order than
        one by one. Raises as `next_logits` does, and ConversationError for fewer ids than `count`.
        """
        self._check(ids)
        if not 1 <= count <= len(ids):
            raise ConversationError(f"there are {len(ids):,} ids, so they can't have {count:,} rows of logits")
        return self._logits(ids, count, not_cancelled)

    def _check(self, ids: Sequence[int]) -> None:
        if not ids:
            raise ConversationError("no ids were given: a model needs at least one to continue from")
        if len(ids) > self.context:
            raise ConversationError(f"{len(ids):,} ids don't fit into the context of {self.context:,}")
        strange = next((token for token in ids if not 0 <= token < self.vocab_size), None)
        if strange is not None:
            raise ConversationError(
                f"the prompt has the id {strange}, but the model has only {self.vocab_size:,} tokens"
            )

    def _logits(self, ids: Sequence[int], count: int, cancelled: Callable[[], bool]) -> "Logits":
        """Return the logits after each of the last `count` ids; for 0, one row, those after the last."""
        with self._in_use():
            cached, self._cached_ids = self._cached_ids, []
            # The last ids are fed in any case: their logits are asked for.
            self.reused = start = self._keep(shared_length(cached, ids[: len(ids) - max(1, count)]))
            self._cancelled, end, rows = cancelled, len(ids) - count, []
            while start < len(ids):
                if cancelled():
                    raise Cancelled
                stop = min(start + CHUNK, end if start < end else len(ids))
                part = list(ids[start:stop])
                if start < end:
                    logits = self._feed(part)
                else:
                    rows.append(self._feed_each(part))
                start = stop
            self._cached_ids = list(ids)
        if not count:
            return logits
        import numpy as np

        return np.concatenate(rows)

    def native_encode(self, text: str) -> list[int] | None:
        """Encode a prompt with the backend's own tokenizer; None if it has none.

        Special tokens that the text spells become special tokens; none are added.
        """
        return None

    def close(self) -> None:
        """Free the model's memory, once a call in progress has ended."""
        with self._lock:
            if not self.closed:
                self.closed = True
                self._free()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Hold the lock: `close` waits for a call in progress, and calls after it raise BackendError."""
        with self._lock:
            if self.closed:
                raise BackendError(f"{self.name}: this model was closed to make room for another: open it again")
            yield

    def __enter__(self) -> "Backend":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    @abstractmethod
    def _keep(self, count: int) -> int:
        """Drop all but the first `count` ids from the cache. Return how many stay: 0 if the model can't drop a part."""

    @abstractmethod
    def _feed(self, ids: list[int]) -> "Logits":
        """Add `ids` to the cache. Return the logits after the last: float32, of the shape (vocab_size,)."""

    def _feed_each(self, ids: list[int]) -> "Logits":
        """Add `ids` to the cache. Return the logits after each: float32, of the shape (len(ids), vocab_size).

        One by one here; a backend that evaluates all at once is faster.
        """
        import numpy as np

        return np.stack([self._feed([token]) for token in ids])

    def _free(self) -> None:
        """Free the model."""
        self._cached_ids = []
