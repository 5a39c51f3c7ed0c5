"""Tokens, their ids and their bytes: all that decoding needs.

Ordinary tokens come from the model, added ones beside them. Where tokens are bytes, decoding joins them; elsewhere a
decoder turns the tokens' texts into the text that they stand for, and bytes that are no UTF-8 travel through it as lone
surrogates, so that none is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from .._support.lazy_property import cached_property
from .._support.textio import utf8
from ..errors import BPELabError, UnknownTokenError
from ..unicode.byte_alphabet import to_alphabet
from . import detokenize
from .token_bytes import TokenDecoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, overload

    from ..decoders import Decoder
    from ..model.bpe import BPEModel
    from ..vocab.added_tokens import AddedToken
    from .detokenize import Unknown
    from .spec import TokenizerSpec


class Vocabulary:
    """The tokens of a model and the special tokens beside them. `BPETokenizer` is one that can also encode."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self._spec, self._model, self._special = spec, spec.model, spec.special_tokens
        self._ids_of_added = {token.content: token.id for token in self._special.tokens}
        self.joins_bytes = spec.joins_bytes

    @property
    def _bytes_of(self) -> dict[int, bytes]:
        return self._spec.tokens

    @cached_property
    def decoded_bytes(self) -> dict[int, bytes]:
        """As `_bytes_of`, but added tokens in the bytes that the decoder makes of them."""
        decoder = self._decoder
        if decoder is None or not self.joins_bytes or not self._spec.decodes_added_tokens:
            return self._bytes_of
        written = {token.id: token.content for token in self._special.tokens if not token.content.isascii()}
        read = {token_id: decoder.decode_chain([text], "surrogateescape") for token_id, text in written.items()}
        return {**self._bytes_of, **{i: text[0].encode("utf-8", "surrogateescape") for i, text in read.items()}}

    @property
    def _decoder(self) -> Decoder | None:
        return self._spec.decoder

    @cached_property
    def _joiner(self) -> TokenDecoder:
        columns = self._model.token_columns
        if self._spec.decodes_added_tokens and any(not token.content.isascii() for token in self._special.tokens):
            columns = None  # the decoder makes other bytes of these
        added = {token_id: utf8(name) for token_id, name in self._special.contents.items()}
        return TokenDecoder(lambda: self.decoded_bytes, self._special.names, columns, added)

    def token_strings(self, ids: Iterable[int], unknown: Unknown) -> list[str]:
        """Return the tokens as files write them, which decoders work on; U+FFFD for unknown ids that are kept."""
        texts = []
        for token_id in detokenize.to_ids(ids):
            if (name := self._special.contents.get(token_id)) is not None:
                texts.append(name)
            elif (token := self._model.tokens.get(token_id)) is not None:
                texts.append(to_alphabet(token) if self._spec.is_byte_level else token.decode("utf-8", "replace"))
            else:
                texts += [data.decode() for data in detokenize.join_tokens([token_id], self._bytes_of, unknown)]
        return texts

    @cached_property
    def _text_of(self) -> Callable[[list[str], str], str]:
        """Return what makes a text of tokens, given how errors are treated."""
        from ..decoders import decode_tokens

        return partial(decode_tokens, self._decoder)

    def decode_bytes(
        self, ids: Iterable[int], *, unknown: Unknown = "error", skip_special_tokens: bool = False
    ) -> bytes:
        """Return the bytes of `ids`.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist, unless `unknown` is "replace" (U+FFFD) or
        "skip"; TypeError for what is no integer.
        """
        if self.joins_bytes:
            return bytes(self._joiner.join(ids, unknown, skip_special_tokens))
        kept = self.filter_special(ids, skip_special_tokens)
        text = self._text_of(self.token_strings(kept, unknown), "surrogateescape")
        return text.encode("utf-8", "surrogateescape")

    def decode(
        self,
        ids: Iterable[int],
        *,
        errors: str = "replace",
        unknown: Unknown = "error",
        skip_special_tokens: bool = False,
    ) -> str:
        """Return the text of `ids`; `errors` is that of bytes.decode, for ids whose bytes are no UTF-8.

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 257)
        >>> t.decode([256, 99]), t.decode([999], unknown="replace")
        ('abc', '\ufffd')
        """
        if self.joins_bytes:
            return str(self._joiner.join(ids, unknown, skip_special_tokens), "utf-8", errors)
        if errors == "replace":
            return self._text_of(self.token_strings(self.filter_special(ids, skip_special_tokens), unknown), errors)
        data = self.decode_bytes(ids, unknown=unknown, skip_special_tokens=skip_special_tokens)
        return data.decode("utf-8", errors)

    def decode_batch(self, batch: Iterable[Iterable[int]], *, skip_padding: bool = True, **options: Any) -> list[str]:
        """`decode` for each of several sequences of ids, with the same options.

        With `skip_padding` the pad tokens that a row begins or ends with, if there is a pad token, are left out first.
        """
        pad = self.pad_token_id if skip_padding else None
        return [self.decode(ids if pad is None else detokenize.strip_padding(ids, pad), **options) for ids in batch]

    def batch_decode(self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = False) -> list[str]:
        """`decode` for each of several sequences of ids, as in transformers: pad tokens are tokens like others."""
        return self.decode_batch(sequences, skip_padding=False, skip_special_tokens=skip_special_tokens)

    def decode_with_offsets(self, ids: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text of `ids`, and for each id the index in it of the character in which its token begins.

        Raises BPELabError for a tokenizer whose tokens are not bytes.
        """
        if not self.joins_bytes:
            raise BPELabError("offsets are known for byte-level tokenizers only")
        return detokenize.text_and_offsets(detokenize.join_tokens(ids, self.decoded_bytes))

    def filter_special(self, ids: Iterable[int], skip_special_tokens: bool) -> Iterable[int]:
        if not skip_special_tokens:
            return ids
        return [token_id for token_id in detokenize.to_ids(ids) if token_id not in self._special.names]

    @property
    def n_vocab(self) -> int:
        """The highest id plus one: the rows that an embedding table needs. `len` counts the tokens there are."""
        return self._spec.n_vocab

    @property
    def vocab_size(self) -> int:
        """How many tokens the model has, without the special and other added tokens beside it, as in transformers."""
        return len(self._model.tokens)

    def __len__(self) -> int:
        return len(self._bytes_of)

    def get_vocab(self) -> dict[bytes, int]:
        """Every token, special ones included, and its id."""
        return {token: token_id for token_id, token in sorted(self._bytes_of.items())}

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
        return self._bytes_of.get(detokenize.to_ids([token_id])[0])

    if TYPE_CHECKING:

        @overload
        def convert_tokens_to_ids(self, tokens: bytes | str) -> int: ...  # type: ignore[overload-overlap]
        @overload
        def convert_tokens_to_ids(self, tokens: Iterable[bytes | str]) -> list[int]: ...

    def convert_tokens_to_ids(self, tokens: bytes | str | Iterable[bytes | str]) -> int | list[int]:
        """Return the id of each token, or of one token; that of the unk token for unknown ones, if one was set.

        Raises UnknownTokenError for unknown ones where none was set.

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
            return detokenize.join_tokens([ids], self._bytes_of)[0]
        return detokenize.join_tokens(ids, self._bytes_of)

    def convert_tokens_to_string(self, tokens: Iterable[bytes], errors: str = "replace") -> str:
        """Return the text of tokens."""
        return b"".join(tokens).decode("utf-8", errors)

    @property
    def model(self) -> BPEModel:
        """Tokens and merges."""
        return self._model

    @property
    def special_tokens(self) -> dict[str, int]:
        """Name -> id."""
        return dict(self._special.ids)

    @property
    def added_tokens(self) -> tuple[AddedToken, ...]:
        """Every token that is beside the model's, special or not, with its flags."""
        return self._special.tokens

    @property
    def decoder(self) -> Decoder | None:
        """How tokens become text again; None puts spaces between them."""
        return self._decoder

    @property
    def bos_token(self) -> str | None:
        """The name of the token that begins a text, or None."""
        return self._spec.roles["bos"]

    @property
    def bos_token_id(self) -> int | None:
        """The id of `bos_token`, or None."""
        return self._role_id("bos")

    @property
    def eos_token(self) -> str | None:
        """The name of the token that ends a text, or None."""
        return self._spec.roles["eos"]

    @property
    def eos_token_id(self) -> int | None:
        """The id of `eos_token`, or None."""
        return self._role_id("eos")

    @property
    def pad_token(self) -> str | None:
        """The name of the token that fills up a batch, or None."""
        return self._spec.roles["pad"]

    @property
    def pad_token_id(self) -> int | None:
        """The id of `pad_token`, or None."""
        return self._role_id("pad")

    @property
    def unk_token(self) -> str | None:
        """The name of the token that stands for what is unknown, or None."""
        return self._spec.roles["unk"]

    @property
    def unk_token_id(self) -> int | None:
        """The id of `unk_token`, or None."""
        return self._role_id("unk")

    def _role_id(self, role: str) -> int | None:
        return self._spec.role_id(role)
