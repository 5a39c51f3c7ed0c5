"""What a backend is: something that runs a model. Ids go in, the logits of the next token come out.

All else is the same for every backend and stands here or above: which part of a prompt is already in the model's keys
and values, how a token is chosen (`sampling`), when to stop (`generation`). So the same logits give the same ids
everywhere, and a new backend is two short methods.

Chapter: Chat on your hardware. Cost of a call: the model's, for the ids that the call before didn't share.
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
"""Ids that are fed at once: between two chunks of a long prompt a cancelled answer ends."""


class Cancelled(Exception):
    """The caller asked to stop while a prompt was read."""


def never() -> bool:
    """The `cancelled` of who never cancels."""
    return False


class Backend(ABC):
    """A loaded model. Several conversations may share it: each call finds out by itself what is held.

    Attributes:
        name: the backend's name in BACKENDS.
        device: what it runs on, for people: "CPU", "NVIDIA H200".
        context: how many ids it can hold.
        vocab_size: how many logits it gives.
        kv_bytes: the bytes of keys and values that one id takes.
        closed: whether the model was given back. Who asks it for logits then gets a BackendError.
    """

    name: ClassVar[str]

    def __init__(self, *, device: str, context: int, vocab_size: int, kv_bytes: int) -> None:
        self.device, self.context, self.vocab_size, self.kv_bytes = device, context, vocab_size, kv_bytes
        self.closed, self._lock = False, Lock()
        self._held: list[int] = []
        self.reused = 0
        """How many ids of the last call were there from the one before."""

    def next_logits(self, ids: Sequence[int], cancelled: Callable[[], bool] = never) -> "Logits":
        """The logits of the token behind `ids`: float32, of the shape (vocab_size,).

        Only what differs from the last call's ids is computed. Raises ConversationError for more ids than the context
        holds, or none; Cancelled where `cancelled()` says so between two chunks. After an error nothing is held.
        """
        if not ids:
            raise ConversationError("a model goes on with something: there are no ids")
        if len(ids) > self.context:
            raise ConversationError(f"{len(ids):,} ids are more than the context of {self.context:,} holds")
        strange = next((token for token in ids if not 0 <= token < self.vocab_size), None)
        if strange is not None:
            raise ConversationError(f"the model has {self.vocab_size:,} tokens, and the prompt holds the id {strange}")
        with self._in_use():
            held, self._held = self._held, []
            shared = 0
            for old, new in zip(held, ids[:-1]):  # the last id is fed in any case: its logits are asked for
                if old != new:
                    break
                shared += 1
            self.reused = shared = self._keep(shared)
            for start in range(shared, len(ids), CHUNK):
                if cancelled():
                    self._keep(0)
                    raise Cancelled
                logits = self._feed(list(ids[start : start + CHUNK]))
            self._held = list(ids)
            return logits

    def own_ids(self, text: str) -> list[int] | None:
        """What the backend's own tokenizer makes of a prompt, the names of special tokens in it being special tokens
        and none added; None if it has no tokenizer of its own."""
        return None

    def close(self) -> None:
        """Give back what the model takes, once a call that is under way has ended."""
        with self._lock:
            if not self.closed:
                self.closed = True
                self._free()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """No model may be taken away while it computes: `close` waits, and what comes later gets an error."""
        with self._lock:
            if self.closed:
                raise BackendError(f"{self.name}: this model was closed to make room for others: open it again")
            yield

    def __enter__(self) -> "Backend":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    @abstractmethod
    def _keep(self, count: int) -> int:
        """Forget all but the first `count` ids; how many are kept, which is 0 where a model can't forget a part."""

    @abstractmethod
    def _feed(self, ids: list[int]) -> "Logits":
        """Add `ids` to what is held; the logits behind the last."""

    def _free(self) -> None:
        """Let the model go."""
        self._held = []
