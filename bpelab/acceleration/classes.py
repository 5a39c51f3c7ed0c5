"""The class of an accelerated tokenizer: a subclass of its original class, one per original.

It overrides the methods that tokenizer authors override, and leaves unsupported calls to `super()`. It keeps the name
of the original class, which transformers prints and writes into files.
"""

from functools import cache
from typing import Any

from transformers import PreTrainedTokenizerFast

from ..errors import BackendError
from . import calls, decoding
from .changes import STATE_ATTRIBUTE, State
from .engine import Engine

ENCODING = ("_encode_plus", "_convert_encoding", "set_truncation_and_padding")
DECODING = ("decode", "_decode")
"""The methods whose results are reproduced here. A class that overrides them may return something else."""


def original_of(kind: type) -> type | None:
    """Return the original of an accelerated class; None for any other class."""
    return getattr(kind, "_bpelab_original", None)


@cache
def accelerated_class(original: Any) -> Any:
    """Return the accelerated subclass of a fast-tokenizer class.

    Raises BackendError for a class that overrides encoding. A class that overrides decoding keeps its own.
    """
    if (name := _own_method(original, ENCODING)) is not None:
        raise BackendError(f"{original.__name__} can't be accelerated: it overrides the method {name}")
    decodes, tokenizes = _own_method(original, DECODING) is None, _own_method(original, ("tokenize",)) is None

    class Accelerated(original):  # type: ignore[misc]
        _bpelab_original = original

        def _bpelab_state(self) -> State:
            state: State = self.__dict__.setdefault(STATE_ATTRIBUTE, State())
            return state

        def _bpelab_read(self) -> None:
            self._bpelab_state().read(super().backend_tokenizer)

        def _bpelab_engine(self) -> tuple[Any, Engine | None]:
            backend, state = super().backend_tokenizer, self.__dict__.get(STATE_ATTRIBUTE)
            return backend, (state or self._bpelab_state()).engine(backend)

        def _encode_plus(self, text: Any, *rest: Any, **options: Any) -> Any:
            backend, engine = self._bpelab_engine()
            if engine is not None and not rest:
                found = calls.encode(self, backend, engine, text, options)
                if found is not None:
                    return found
            return super()._encode_plus(text, *rest, **options)

        def tokenize(self, text: Any, pair: Any = None, add_special_tokens: Any = False, **options: Any) -> Any:
            if not tokenizes:
                return super().tokenize(text, pair, add_special_tokens, **options)
            # Only the original's encodings hold the tokens as strings.
            options |= {"text_pair": pair, "add_special_tokens": add_special_tokens}
            return super()._encode_plus(text, **options).tokens()

        def decode(self, token_ids: Any, skip_special_tokens: Any = False, **options: Any) -> Any:
            if decodes and not decoding.are_few(token_ids):
                engine = self._bpelab_engine()[1]
                if engine is not None and engine.decodes:
                    found = decoding.decode(self, engine, token_ids, skip_special_tokens, options)
                    if found is not None:
                        return found
            return super().decode(token_ids, skip_special_tokens, **options)

        def _decode(self, token_ids: Any, skip_special_tokens: Any = False, *rest: Any, **options: Any) -> Any:
            if decodes and not rest and not decoding.are_few(token_ids):  # ids that `decode` turned into a list
                engine = self._bpelab_engine()[1]
                if engine is not None and engine.decodes:
                    found = decoding.decode_one(self, engine, token_ids, skip_special_tokens, options)
                    if found is not None:
                        return found
            return super()._decode(token_ids, skip_special_tokens, *rest, **options)

        def _add_tokens(self, *tokens: Any, **options: Any) -> Any:
            try:
                return super()._add_tokens(*tokens, **options)
            finally:
                self._bpelab_state().forget()

        @property
        def backend_tokenizer(self) -> Any:
            self._bpelab_state().exposed = True
            return super().backend_tokenizer

        @classmethod
        def from_pretrained(cls, *paths: Any, **options: Any) -> Any:
            return original.from_pretrained(*paths, **options)

        def __reduce_ex__(self, protocol: Any) -> Any:
            if type(self) is not Accelerated:  # a subclass of this one, pickled by its own name
                return super().__reduce_ex__(protocol)
            return _unpickled, (original,), self.__getstate__()

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Accelerated, name, getattr(original, name))
    return Accelerated


def _own_method(original: type, names: tuple[str, ...]) -> str | None:
    """Return the first of these methods that a class overrides; None if it inherits all of them."""
    return next((n for n in names if getattr(original, n) is not getattr(PreTrainedTokenizerFast, n)), None)


def _unpickled(original: type) -> Any:
    """Return an uninitialized object of the accelerated class, for pickle."""
    kind = accelerated_class(original)
    return kind.__new__(kind)
