"""The vocabulary: tokens, their ids and bytes, special tokens and their roles. Lookups need no encoding.

Ordinary tokens come from the model; special and other added tokens are stored beside it.

Cost: a dictionary lookup; the table of all tokens is built on first use.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._support.textio import utf8
from ..errors import UnknownTokenError
from . import detokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import overload

    from ..model.bpe import BPEModel
    from ..vocab.added_tokens import AddedToken
    from ..vocab.special_tokens import SpecialTokens
    from .spec import TokenizerSpec


class Vocabulary:
    """The tokens of a model, and the special tokens. A `Tokenizer` can also encode and decode."""

    _spec: TokenizerSpec
    _model: BPEModel
    _special: SpecialTokens
    _ids_of_added: dict[str, int]

    def __init__(self, spec: TokenizerSpec) -> None:
        ids_of_added = {token.content: token.id for token in spec.special_tokens.tokens}
        vars(self).update(_spec=spec, _model=spec.model, _special=spec.special_tokens, _ids_of_added=ids_of_added)

    @property
    def spec(self) -> TokenizerSpec:
        """The specification, which file formats read and write."""
        return self._spec

    @property
    def n_vocab(self) -> int:
        """The highest id plus one: the rows that an embedding table needs. `len` counts tokens."""
        return self._spec.n_vocab

    @property
    def vocab_size(self) -> int:
        """The number of the model's tokens, without special and other added tokens, as in transformers."""
        return len(self._model.tokens)

    def __len__(self) -> int:
        return len(self._spec.tokens)

    def get_vocab(self) -> dict[bytes, int]:
        """Return every token, including special ones, and its id."""
        return {token: token_id for token_id, token in sorted(self._spec.tokens.items())}

    def token_to_id(self, token: bytes | str) -> int | None:
        """Return the id of a token or a special token; None for bytes that are neither."""
        if isinstance(token, str) and token in self._ids_of_added:
            return self._ids_of_added[token]
        if not isinstance(token, (bytes, str)):
            raise TypeError(f"a token is bytes or a str, not {type(token).__name__}: id_to_token takes an id")
        data = utf8(token) if isinstance(token, str) else token
        ordinary = self._model.ids.get(data)
        return self._ids_of_added.get(data.decode("utf-8", "replace")) if ordinary is None else ordinary

    def id_to_token(self, token_id: int) -> bytes | None:
        """Return the bytes of a token; None for an id that doesn't exist."""
        return self._spec.tokens.get(detokenize.to_ids([token_id])[0])

    if TYPE_CHECKING:

        @overload
        def convert_tokens_to_ids(self, tokens: bytes | str) -> int: ...  # type: ignore[overload-overlap]
        @overload
        def convert_tokens_to_ids(self, tokens: Iterable[bytes | str]) -> list[int]: ...

    def convert_tokens_to_ids(self, tokens: bytes | str | Iterable[bytes | str]) -> int | list[int]:
        """Return the id of each token, or of one token. Unknown tokens get the id of the unk token, if one is set.

        Raises UnknownTokenError for an unknown token if none is set.

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 258, special_tokens=["<|eot|>"])
        >>> t.convert_tokens_to_ids("<|eot|>"), t.convert_tokens_to_ids([b"ab", "a"])
        (257, [256, 97])
        """
        if not isinstance(tokens, (bytes, str)):
            return [self.convert_tokens_to_ids(token) for token in tokens]
        found = self.token_to_id(tokens)
        if found is None:
            found = self.unk_token_id
        if found is None:
            raise UnknownTokenError(f"there is no token {tokens!r}, and no unk token is set")
        return found

    if TYPE_CHECKING:

        @overload
        def convert_ids_to_tokens(self, ids: int) -> bytes: ...
        @overload
        def convert_ids_to_tokens(self, ids: Iterable[int]) -> list[bytes]: ...

    def convert_ids_to_tokens(self, ids: int | Iterable[int]) -> bytes | list[bytes]:
        """Return the bytes of each id, or of one id. Raises UnknownTokenError for an id that doesn't exist."""
        if not isinstance(ids, Iterable):
            return detokenize.join_tokens([ids], self._spec.tokens)[0]
        return detokenize.join_tokens(ids, self._spec.tokens)

    @property
    def model(self) -> BPEModel:
        """Tokens and merges."""
        return self._model

    @property
    def special_tokens(self) -> dict[str, int]:
        """Name -> id. Read-only: `BPETokenizer.with_special_tokens` returns a tokenizer with more special tokens."""
        return self._special.ids

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """All added tokens, special or not, with their flags."""
        return self._special.tokens

    @property
    def bos_token(self) -> str | None:
        """The token that starts a text, or None."""
        return self._spec.roles["bos"]

    @property
    def bos_token_id(self) -> int | None:
        """The id of `bos_token`, or None."""
        return self._spec.role_id("bos")

    @property
    def eos_token(self) -> str | None:
        """The token that ends a text, or None."""
        return self._spec.roles["eos"]

    @property
    def eos_token_id(self) -> int | None:
        """The id of `eos_token`, or None."""
        return self._spec.role_id("eos")

    @property
    def pad_token(self) -> str | None:
        """The token that pads the rows of a batch, or None."""
        return self._spec.roles["pad"]

    @property
    def pad_token_id(self) -> int | None:
        """The id of `pad_token`, or None."""
        return self._spec.role_id("pad")

    @property
    def unk_token(self) -> str | None:
        """The token that stands for unknown text, or None."""
        return self._spec.roles["unk"]

    @property
    def unk_token_id(self) -> int | None:
        """The id of `unk_token`, or None."""
        return self._spec.role_id("unk")
