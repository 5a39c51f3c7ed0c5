"""A tokenizer: text to ids and back. This is the interface that streams, batches, templates, shards and editing use.

`Tokenizer` is a vocabulary with two pipelines, to ids (`pipeline.py`) and to text (`decode_pipeline.py`), built from a
specification. Its methods are in `text_to_ids.py`, `token_counts.py` and `ids_to_text.py`. It doesn't open files or
train; its subclass `BPETokenizer`, the public class, does. It is immutable, so one object can serve many threads.

Chapter: A tokenizer in production. Cost: `encode` and `decode` are linear on real text, O(n log n) at worst.
"""

from __future__ import annotations

from .decode_pipeline import DecodePipeline
from .ids_to_text import IdsToText
from .pipeline import Pipeline
from .token_counts import TokenCounts
from .vocabulary import Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Self, TypeVar

    from .spec import TokenizerSpec

    Some = TypeVar("Some", bound="Tokenizer")

CACHE_ENTRIES = 1 << 16


class Tokenizer(TokenCounts, IdsToText):
    """A vocabulary that can encode and decode. Create one with `from_spec`.

    Attributes:
        pipeline: from text to ids.
        decode_pipeline: from ids to text.
    """

    @classmethod
    def from_spec(cls, spec: TokenizerSpec, *, encoder: str = "auto", cache_size: int = CACHE_ENTRIES) -> Self:
        """Create a tokenizer from a specification, such as the functions in `bpelab.formats` read from files."""
        made = cls.__new__(cls)
        made._set_up(spec, encoder, cache_size)  # noqa: SLF001 - of its own class
        return made

    def _set_up(self, spec: TokenizerSpec, encoder: str, cache_size: int) -> None:
        Vocabulary.__init__(self, spec)
        vars(self)["pipeline"] = Pipeline(spec, encoder, cache_size)
        vars(self)["decode_pipeline"] = DecodePipeline(spec)

    if not TYPE_CHECKING:  # else a type checker would let any name be set

        def __setattr__(self, name: str, value: object) -> None:
            self._refuse_change(name)

        def __delattr__(self, name: str) -> None:
            self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        """Raise AttributeError, saying how to get a changed tokenizer instead."""
        argument = f"{name}=" if name in {*self._spec.arguments(), "encoder", "cache_size"} else ""
        advice = f"tokenizer.with_options({argument}...) returns a new one"
        raise AttributeError(f"a tokenizer can't be changed, and {name!r} was not set: {advice}", name=name, obj=self)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self._spec, self.pipeline.encoder, self.pipeline.cache.capacity)

    def __eq__(self, other: object) -> bool:
        """Return True if both have the same components, and therefore the same ids; the encoder doesn't count."""
        if not isinstance(other, Tokenizer) or self is other:
            return self is other
        return type(self) is type(other) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash(self._spec)

    @property
    def pattern(self) -> str | None:
        """The pattern's name, or its regular expression if unnamed; None if it isn't one pattern alone."""
        return self._spec.pattern


def with_spec(tokenizer: Some, spec: TokenizerSpec) -> Some:
    """Return a specification's tokenizer, with another tokenizer's class, encoder and cache size."""
    pipeline = tokenizer.pipeline
    return tokenizer.from_spec(spec, encoder=pipeline.encoder, cache_size=pipeline.cache.capacity)


def check_tokenizer(value: object) -> None:
    """Raise TypeError unless `value` is a tokenizer; the name of one isn't."""
    if not isinstance(value, Tokenizer):
        raise TypeError(
            f"tokenizer is a BPETokenizer, not {value!r:.40}: BPETokenizer.from_tiktoken(name) and "
            "from_pretrained(path) return one"
        )


def _rebuild(kind: type[Tokenizer], spec: TokenizerSpec, encoder: str, cache_size: int) -> Tokenizer:
    return kind.from_spec(spec, encoder=encoder, cache_size=cache_size)
