"""The protocol of a backend, which runs a model: ids go in, the logits of the next token come out.

Everything else is the same for every backend, and is here or above: which part of a prompt is already in the KV cache,
how a token is chosen (`sampling`), when to stop (`generation`). So the same logits give the same ids everywhere, and a
new backend is two short methods.

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
"""Ids that are fed at once; an answer can be cancelled between two chunks of a long prompt."""


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
        self._cached_ids: list[int] = []
        self.reused = 0
        """How many ids of the last call were already in the cache."""

    def next_logits(self, ids: Sequence[int], cancelled: Callable[[], bool] = not_cancelled) -> "Logits":
        """Return the logits of the token after `ids`: float32, of the shape (vocab_size,).

        Only what differs from the last call's ids is computed. Raises ConversationError for more ids than the context
        holds, or none; Cancelled where `cancelled()` is true between two chunks. After an error the cache is empty.
        """
        if not ids:
            raise ConversationError("no ids were given: a model needs at least one to continue from")
        if len(ids) > self.context:
            raise ConversationError(f"{len(ids):,} ids don't fit into the context of {self.context:,}")
        strange = next((token for token in ids if not 0 <= token < self.vocab_size), None)
        if strange is not None:
            raise ConversationError(
                f"the prompt has the id {strange}, but the model has only {self.vocab_size:,} tokens"
            )
        with self._in_use():
            cached, self._cached_ids = self._cached_ids, []
            shared = 0
            for old, new in zip(cached, ids[:-1]):  # the last id is fed in any case: its logits are asked for
                if old != new:
                    break
                shared += 1
            self.reused = shared = self._keep(shared)
            for start in range(shared, len(ids), CHUNK):
                if cancelled():
                    self._keep(0)
                    raise Cancelled
                logits = self._feed(list(ids[start : start + CHUNK]))
            self._cached_ids = list(ids)
            return logits

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

    def _free(self) -> None:
        """Free the model."""
        self._cached_ids = []
