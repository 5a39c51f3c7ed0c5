"""Whether a tokenizer is still the one that was read.

Who has the backend, a `tokenizers.Tokenizer`, may change any part of it, and nobody is told. So its parts are compared
at every call: what each would be written as, which is short, the options of the model, and the token that would be
added next, which isn't there yet. To list all added tokens takes longer than to encode a word, so that is done only
after somebody was given the backend.

Cost: 10 microseconds a call; 0.3 more for each added token once the backend was given to somebody.
"""

import warnings
from typing import Any

from ..errors import BPELabError
from .engine import Engine, written

KEPT = "_bpelab"
"""The attribute of a tokenizer that has its State."""
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
OPTIONS = ("dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges")
OPTIONS += ("continuing_subword_prefix", "end_of_word_suffix")


class Snapshot:
    """What a backend is like now."""

    def __init__(self, backend: Any) -> None:
        self._backend, self._added = backend, _added(backend)
        self._next = max([backend.get_vocab_size(with_added_tokens=False), *(number + 1 for number in self._added)])
        self._seen = self._look()

    def _look(self) -> list[Any]:
        backend = self._backend
        parts = [getattr(backend, name) for name in PARTS]
        model = backend.model
        return [
            backend.get_vocab_size(with_added_tokens=False),
            backend.id_to_token(self._next),
            type(model),
            *(getattr(model, name, None) for name in OPTIONS),
            *(None if part is None else part.__getstate__() for part in parts),
        ]

    def holds(self, backend: Any, thorough: bool) -> bool:
        """Whether `backend` is the same one, unchanged; added tokens are compared one by one if `thorough`."""
        if backend is not self._backend or self._look() != self._seen:
            return False
        return not thorough or _added(backend) == self._added


def _added(backend: Any) -> dict[int, Any]:
    return {number: token.__getstate__() for number, token in backend.get_added_tokens_decoder().items()}


class State:
    """What an accelerated tokenizer has beside its own: the engine that serves it, and what that was made from.

    Neither is pickled, nor copied with the backend: a tokenizer that comes without is read when it is used.

    Attributes:
        exposed: whether somebody was given the backend, and may change it at any time.
    """

    def __init__(self, engine: Engine | None = None) -> None:
        self.exposed = False
        self._last = engine
        self._now: tuple[Snapshot, Engine | None] | None = None

    def read(self, backend: Any) -> Engine:
        """The engine of a backend as it is now. Raises BackendError where there is none."""
        content = written(backend)
        engine = self._last
        if engine is None or engine.content != content:
            engine = Engine(content)
        self._now, self._last = (Snapshot(backend), engine), engine
        return engine

    def engine(self, backend: Any) -> Engine | None:
        """What serves this backend as it is now; None where nothing does, of which a warning tells once a change."""
        now = self._now
        if now is not None and now[0].holds(backend, self.exposed):
            return now[1]
        try:
            return self.read(backend)
        except BPELabError as error:
            self._now = Snapshot(backend), None
            warnings.warn(f"transformers goes on by itself: {error}", RuntimeWarning, stacklevel=5)
            return None

    def forget(self) -> None:
        """Have the backend read again: it was changed."""
        self._now = None

    def __deepcopy__(self, memo: Any) -> "State":
        return State(self._last)

    def __reduce__(self) -> tuple[type["State"], tuple[()]]:
        return State, ()
