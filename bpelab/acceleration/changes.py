"""Change detection: whether a tokenizer is unchanged since it was read.

Code that holds the backend, a `tokenizers.Tokenizer`, may change any part of it without notice. So its parts are
compared at every call: their serialized state, which is short, the options of the model, and whether the next id for
an added token is still free. Comparing all added tokens takes longer than encoding a word, so that happens only once
other code has had access to the backend; samples of the model are then compared, too.

Cost: 4 microseconds a call; once other code has had access to the backend, 10 more, and 0.3 for each added token.
"""

import warnings
from operator import attrgetter
from typing import Any

from tokenizers.models import BPE

from .._support.fork_safety import fork_guard
from ..errors import BPELabError
from .checking import check, decodes_equally
from .engine import Engine
from .reading import serialize

STATE_ATTRIBUTE = "_bpelab"
"""The attribute of a tokenizer that holds its State."""
PARTS = attrgetter("normalizer", "pre_tokenizer", "post_processor", "decoder")
OPTIONS = attrgetter(
    "dropout",
    "unk_token",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
    "continuing_subword_prefix",
    "end_of_word_suffix",
)
SAMPLES = 8
"""Tokens of the vocabulary that are compared, one by one and concatenated into a text that the model merges."""


class Snapshot:
    """The state of a backend at one moment, for comparison."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        size, added = backend.get_vocab_size(with_added_tokens=False), backend.get_added_tokens_decoder()
        self._next_id = max([size, *(token_id + 1 for token_id in added)])
        self._ids = range(0, size, size // SAMPLES + 1)
        self._text = "".join(filter(None, map(backend.id_to_token, self._ids)))
        self._parts, self._details = self._summary(backend), self._details_of(backend)

    def matches(self, backend: Any, closely: bool) -> bool:
        """Return whether `backend` is the same one, unchanged; if `closely`, compare added tokens and samples too."""
        if backend is not self._backend or self._summary(backend) != self._parts:
            return False
        return not closely or self._details_of(backend) == self._details

    def _summary(self, backend: Any) -> list[Any]:
        model = backend.model
        return [
            backend.get_vocab_size(with_added_tokens=False),
            backend.id_to_token(self._next_id),
            type(model),
            OPTIONS(model) if isinstance(model, BPE) else None,
            _part_states(PARTS(backend)),
        ]

    def _details_of(self, backend: Any) -> tuple[Any, ...]:
        tokens = list(map(backend.id_to_token, self._ids))
        return backend.get_added_tokens_decoder(), tokens, _sample_ids(backend.model, self._text)


def _part_states(parts: tuple[Any, ...]) -> list[Any] | None:
    """Return the serialized state of parts; None if one is a Python object, which has none."""
    try:
        return [None if part is None else part.__getstate__() for part in parts]
    except Exception:  # tokenizers raises a plain Exception
        return None


def _sample_ids(model: Any, text: str) -> list[int] | None:
    """Return the ids of a text; None if the model has no tokens for it."""
    try:
        return [token.id for token in model.tokenize(text)]
    except Exception:  # tokenizers raises a plain Exception if the unknown token is missing
        return None


class State:
    """The state of an accelerated tokenizer: its engine, and a snapshot of the backend that the engine was read from.

    Neither is pickled, nor copied with the backend: a tokenizer without them is read on first use.

    Attributes:
        exposed: whether other code has had access to the backend, so that it may be changed at any time.
    """

    def __init__(self, last: Engine | None = None) -> None:
        self.exposed = False
        self._last_engine, self._changes = last, 0
        self._current: tuple[int, Snapshot, Engine | None] | None = None

    def read(self, backend: Any) -> Engine:
        """Read a backend as it is now, and return its engine. Raises BPELabError if it isn't supported."""
        with fork_guard:
            while True:
                # Taken first: a change made meanwhile is noticed here or at the next call.
                changes, snapshot = self._changes, Snapshot(backend)
                try:
                    content, engine = serialize(backend), self._last_engine
                    if engine is None or engine.content != content:
                        engine = self._last_engine = Engine(content, engine)
                    check(backend, engine)
                    engine.decodes = decodes_equally(backend, engine)
                except BPELabError:
                    if changes == self._changes and snapshot.matches(backend, closely=True):
                        self._current = changes, snapshot, None
                        raise
                else:
                    self._current = changes, snapshot, engine
                    return engine

    def engine(self, backend: Any) -> Engine | None:
        """Return the engine of the backend as it is now; None if unsupported, with a warning after each change."""
        current = self._current
        if current is not None and current[0] == self._changes and current[1].matches(backend, self.exposed):
            return current[2]
        try:
            return self.read(backend)
        except BPELabError as error:
            warnings.warn(f"transformers continues without bpelab: {error}", RuntimeWarning, stacklevel=5)
            return None

    def forget(self) -> None:
        """Forget the engine after a change, so that the next call reads the backend again."""
        self._changes += 1

    def __deepcopy__(self, memo: Any) -> "State":
        return State(self._last_engine)

    def __reduce__(self) -> tuple[type["State"], tuple[()]]:
        return State, ()
