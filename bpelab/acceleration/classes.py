"""The class of an accelerated tokenizer: a subclass of the one that it had, made once for each.

It overrides what the authors of tokenizers override, and leaves to `super()` what isn't served. Its name is that of the
other class, which transformers prints, and writes into files.
"""

from functools import cache
from typing import Any

from transformers import PreTrainedTokenizerFast

from ..errors import BackendError
from . import calls, decoding
from .changes import KEPT, State
from .engine import Engine

ENCODING = ("_encode_plus", "_convert_encoding", "set_truncation_and_padding")
DECODING = ("decode", "_decode")
"""The methods whose results are equalled here: those of a class with methods of its own may be others."""


def original_of(made: type) -> type | None:
    """The class that an accelerated one was made from; None for another."""
    return getattr(made, "_bpelab_original", None)


@cache
def accelerated(original: Any) -> Any:
    """The subclass of a class of fast tokenizers whose calls are served here.

    Raises BackendError for a class that encodes in a way of its own. One that decodes in a way of its own goes on so.
    """
    if (name := _own(original, ENCODING)) is not None:
        raise BackendError(f"{original.__name__} can't be accelerated: it has a method {name} of its own")
    decodes, tokenizes = _own(original, DECODING) is None, _own(original, ("tokenize",)) is None

    class Accelerated(original):  # type: ignore[misc]
        _bpelab_original = original

        def _bpelab_state(self) -> State:
            state: State = self.__dict__.setdefault(KEPT, State())
            return state

        def _bpelab_read(self) -> None:
            self._bpelab_state().read(super().backend_tokenizer)

        def _bpelab_engine(self) -> tuple[Any, Engine | None]:
            backend, state = super().backend_tokenizer, self.__dict__.get(KEPT)
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
            # Only the original's encodings have the tokens as texts.
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
            if decodes and not rest and not decoding.are_few(token_ids):  # ids that `decode` made a list of
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
            if type(self) is not Accelerated:  # somebody's subclass, which goes by its own name
                return super().__reduce_ex__(protocol)
            return _unpickled, (original,), self.__getstate__()

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Accelerated, name, getattr(original, name))
    return Accelerated


def _own(original: type, names: tuple[str, ...]) -> str | None:
    """The first of these methods that a class doesn't have from all fast tokenizers."""
    return next((n for n in names if getattr(original, n) is not getattr(PreTrainedTokenizerFast, n)), None)


def _unpickled(original: type) -> Any:
    """An object of the accelerated class, as empty as pickle wants it."""
    made = accelerated(original)
    return made.__new__(made)
