"""Turns: a session works on one answer at a time, and an interrupt at any moment leaves it ready for the next.

Chapter: Chat on your hardware.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from ..errors import ConversationError
from .response import ActiveResponse


class Turns:
    """Who has the model now: at most one answer."""

    def __init__(self) -> None:
        self._current: ActiveResponse | None = None
        self._lock = Lock()

    @contextmanager
    def take(self, turn: ActiveResponse) -> Iterator[None]:
        """Work on `turn` inside a `with` statement. Raises ConversationError if another is in progress."""
        try:  # around all of it: an interrupt between two lines must not leave the session locked
            with self._lock:
                self.raise_if_taken()
                self._current = turn
            yield
        finally:
            if self._current is turn:
                self._current = None

    def raise_if_taken(self) -> None:
        """Raise ConversationError while an answer is in progress."""
        if self._current is not None:
            raise ConversationError(
                "the session is still answering: wait, call cancel(), or close() the iterator that `stream` returned"
            )

    def cancel(self) -> None:
        """End the answer in progress before its next token, if there is one."""
        turn = self._current
        if turn is not None:
            turn.cancelled = True
