"""Fast decoding: join the bytes of many tokens. `detokenize.join_tokens` is the slow twin that defines the result.

Ids are looked up without tracking which one fails. If one does, the slow way runs and names it. If a model's tokens are
arrays already, as after a load from the cache, C joins them (`native/decode.h`). Otherwise C joins long lists and
arrays, once enough has been decoded to pay for building its table.

Chapter: Native code. Cost: 60 ns a token in Python; in C 10 from a list, 4 from an array.
"""

from __future__ import annotations

from types import MappingProxyType

from .._support.lazy_property import cached_property
from ..native import decoder_for, decoder_for_columns
from . import detokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from ..model.lazy_model import ModelColumns
    from ..native._core import Decoder
    from .detokenize import Unknown

CHUNK = 4096
"""Tokens joined at once: `bytes.join` needs 80 bytes of memory for each until it returns."""
IDS_A_TOKEN = 4
"""Ids that Python joins before C's table is built, for each token of the vocabulary."""
LONG_ENOUGH = 100
"""The number of ids from which C is faster than Python."""


class TokenDecoder:
    """A decoder from ids to bytes, which can skip special tokens.

    Args:
        load: returns the bytes of all tokens by id; called when Python first decodes.
        special: the ids to skip on request.
        columns: the model's tokens as arrays, from which C decodes at once; None if `load` returns other bytes.
        added: the bytes of tokens that `columns` lacks.

    >>> joiner = TokenDecoder(lambda: {0: b"a", 1: b"b", 2: b"<end>"}, [2])
    >>> bytes(joiner.join([0, 1, 2])), bytes(joiner.join([0, 1, 2], skip=True))
    (b'ab<end>', b'ab')
    """

    def __init__(
        self,
        load: Callable[[], Mapping[int, bytes]],
        special: Collection[int],
        columns: ModelColumns | None = None,
        added: Mapping[int, bytes] = MappingProxyType({}),
    ) -> None:
        self._load, self._special, self._columns, self._added = load, special, columns, added

    def join(self, ids: Iterable[Any], unknown: Unknown = "error", skip: bool = False) -> bytes:
        """Return the bytes of `ids`, without those of special tokens if `skip`; errors as for `join_tokens`."""
        count = len(ids) if type(ids) is list else max(getattr(ids, "shape", ()), default=0)
        native = self._in_c(count, skip) if count >= LONG_ENOUGH or self._columns is not None else None
        if native is not None and (found := native.join(ids)) is not None:
            detokenize.check_unknown(unknown)
            return found
        checked = detokenize.to_ids(ids)
        detokenize.check_unknown(unknown)
        find = (self._ordinary if skip else self._tokens).__getitem__
        try:
            if len(checked) <= CHUNK:
                return b"".join(map(find, checked))
            starts = range(0, len(checked), CHUNK)
            return b"".join([b"".join(map(find, checked[start : start + CHUNK])) for start in starts])
        except KeyError:
            kept = [token_id for token_id in checked if token_id not in self._special] if skip else checked
            return b"".join(detokenize.join_tokens(kept, self._tokens, unknown))

    def _in_c(self, count: int, skip: bool) -> Decoder | None:
        """Return the decoder in C, once enough ids have been decoded to pay for building it."""
        if self._columns is None and self._before_native > 0:
            self._before_native -= count
            return None
        return self._native_ordinary if skip else self._native

    @cached_property
    def _tokens(self) -> Mapping[int, bytes]:
        return self._load()

    @cached_property
    def _before_native(self) -> int:
        return IDS_A_TOKEN * len(self._tokens)

    @cached_property
    def _native(self) -> Decoder | None:
        return decoder_for_columns(self._columns, self._added) if self._columns else decoder_for(self._tokens)

    @cached_property
    def _native_ordinary(self) -> Decoder | None:
        if self._columns:
            return decoder_for_columns(self._columns, self._added, self._special)
        return decoder_for(self._ordinary)

    @cached_property
    def _ordinary(self) -> Mapping[int, bytes]:
        return {**self._tokens, **dict.fromkeys(self._special, b"")}
