"""Whether a tokenizer is still the one that was read.

Whoever has the backend, a `tokenizers.Tokenizer`, may change any part of it, and nobody is told. So its parts are
compared at every call: what each would be written as, which is short, the options of the model, and the token that
would be added next, which isn't there yet. Comparing all added tokens takes longer than encoding a word, so it is done
only once somebody was given the backend; then samples of the model are compared, too.

Cost: 4 microseconds a call; once the backend was given to somebody, 10 more, and 0.3 for each added token.
"""

import warnings
from operator import attrgetter
from typing import Any

from tokenizers.models import BPE

from ..errors import BPELabError
from ..forks import unforked
from .checking import check, decodes_alike
from .engine import Engine
from .reading import written

KEPT = "_bpelab"
"""The attribute of a tokenizer that has its State."""
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
"""Tokens of the vocabulary that are looked at, and the number of those that are merged."""


class Snapshot:
    """What a backend is like now."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        size, added = backend.get_vocab_size(with_added_tokens=False), backend.get_added_tokens_decoder()
        self._next = max([size, *(number + 1 for number in added)])
        self._ids = range(0, size, size // SAMPLES + 1)
        self._text = "".join(filter(None, map(backend.id_to_token, self._ids)))
        self._parts, self._details = self._look(backend), self._look_closely(backend)

    def holds(self, backend: Any, closely: bool) -> bool:
        """Whether `backend` is the same one, unchanged; `closely`: in each added token, and in samples, as well."""
        if backend is not self._backend or self._look(backend) != self._parts:
            return False
        return not closely or self._look_closely(backend) == self._details

    def _look(self, backend: Any) -> list[Any]:
        model = backend.model
        return [
            backend.get_vocab_size(with_added_tokens=False),
            backend.id_to_token(self._next),
            type(model),
            OPTIONS(model) if isinstance(model, BPE) else None,
            _states(PARTS(backend)),
        ]

    def _look_closely(self, backend: Any) -> tuple[Any, ...]:
        tokens = list(map(backend.id_to_token, self._ids))
        return backend.get_added_tokens_decoder(), tokens, _merged(backend.model, self._text)


def _states(parts: tuple[Any, ...]) -> list[Any] | None:
    """What parts would be written as; None where one of them is an object of Python, which can't be."""
    try:
        return [None if part is None else part.__getstate__() for part in parts]
    except Exception:  # raised like that
        return None


def _merged(model: Any, text: str) -> list[int] | None:
    """The ids of a text; None where the model has no tokens for it."""
    try:
        return [token.id for token in model.tokenize(text)]
    except Exception:  # raised like that for an unknown token that is missing
        return None


class State:
    """What an accelerated tokenizer has beside its own: the engine that serves it, and what that was made from.

    Neither is pickled, nor copied with the backend: a tokenizer that comes without is read when it is used.

    Attributes:
        exposed: whether somebody was given the backend, and may change it at any time.
    """

    def __init__(self, last: Engine | None = None) -> None:
        self.exposed = False
        self._last, self._changes = last, 0
        self._now: tuple[int, Snapshot, Engine | None] | None = None

    def read(self, backend: Any) -> Engine:
        """The engine of a backend as it is now. Raises BPELabError where there is none."""
        with unforked:
            while True:
                # Looked at first: what changes meanwhile is noticed, here or with the next call.
                changes, seen = self._changes, Snapshot(backend)
                try:
                    content, engine = written(backend), self._last
                    if engine is None or engine.content != content:
                        engine = self._last = Engine(content, engine)
                    check(backend, engine)
                    engine.decodes = decodes_alike(backend, engine)
                except BPELabError:
                    if changes == self._changes and seen.holds(backend, closely=True):
                        self._now = changes, seen, None
                        raise
                else:
                    self._now = changes, seen, engine
                    return engine

    def engine(self, backend: Any) -> Engine | None:
        """What serves this backend as it is now; None where nothing does, of which a warning tells once a change."""
        now = self._now
        if now is not None and now[0] == self._changes and now[1].holds(backend, self.exposed):
            return now[2]
        try:
            return self.read(backend)
        except BPELabError as error:
            warnings.warn(f"transformers goes on by itself: {error}", RuntimeWarning, stacklevel=5)
            return None

    def forget(self) -> None:
        """Have the backend read again: it was changed."""
        self._changes += 1

    def __deepcopy__(self, memo: Any) -> "State":
        return State(self._last)

    def __reduce__(self) -> tuple[type["State"], tuple[()]]:
        return State, ()
