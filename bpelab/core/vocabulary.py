"""Tokens, their ids and their bytes: all that decoding needs.

Ordinary tokens come from the model, added ones beside them. Where tokens are bytes, decoding joins them; elsewhere a
decoder turns the tokens' texts into the text that they stand for, and bytes that are no UTF-8 travel through it as lone
surrogates, so that none is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from . import decoding
from .byte_alphabet import to_alphabet
from .cached import cached_property
from .errors import BPELabError, SpecialTokenError, UnknownTokenError
from .joining import Joiner
from .textio import utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal, overload

    from .added_tokens import AddedToken
    from .decoders import Decoder
    from .decoding import Unknown
    from .model import BPEModel
    from .special_tokens import SpecialTokens

FEW = 64
"""Special tokens that are searched for in a model's tables before these are loaded."""


class Vocabulary:
    """The tokens of a model and the special tokens beside them. `BPETokenizer` is one that can also encode."""

    def __init__(
        self,
        model: BPEModel,
        special: SpecialTokens,
        roles: Mapping[str, str | None],
        decoder: Decoder | Literal["bytes"] | None,
    ) -> None:
        self._model, self._special, self._roles, self._given_decoder = model, special, dict(roles), decoder
        for role, name in self._roles.items():
            if name is not None and name not in special.ids:
                raise SpecialTokenError(f"{role}_token={name!r} is not one of the special tokens")
        if isinstance(decoder, str) and decoder != "bytes":
            raise ValueError(f'there is no decoder {decoder!r}; choose "bytes", None or one of bpelab.decoders')
        self._in_bytes = model.units is None or not model.units.characters
        self._refuse_collisions()
        self._ids_of_added = {token.content: token.id for token in special.tokens}
        self._joins_bytes = self._in_bytes and _is_byte_level(decoder)

    @cached_property
    def _bytes_of(self) -> dict[int, bytes]:
        names = {token_id: utf8(name) for token_id, name in self._special.contents.items()}
        return {**names, **self._model.tokens}

    @cached_property
    def _joined(self) -> dict[int, bytes]:
        """As `_bytes_of`, but added tokens in the bytes that the decoder makes of them."""
        decoder = self._decoder
        if decoder is None or not self._joins_bytes or not self._from_file:
            return self._bytes_of
        written = {token.id: token.content for token in self._special.tokens if not token.content.isascii()}
        read = {token_id: decoder.decode_chain([text], "surrogateescape") for token_id, text in written.items()}
        return {**self._bytes_of, **{i: text[0].encode("utf-8", "surrogateescape") for i, text in read.items()}}

    @cached_property
    def _decoder(self) -> Decoder | None:
        if self._given_decoder != "bytes":
            return self._given_decoder
        from .decoders import Bytes

        return Bytes()

    @property
    def _from_file(self) -> bool:
        """Whether added tokens are read as the decoder of a file reads them."""
        if self._given_decoder == "bytes":
            return False
        from .decoders import Bytes

        return not isinstance(self._given_decoder, Bytes)

    @cached_property
    def _joiner(self) -> Joiner:
        return Joiner(self._joined, self._special.names)

    def _refuse_collisions(self) -> None:
        """Raise SpecialTokenError where an id, or a text, would mean two things.

        Files may do more: an added token `é` is the byte that GPT-2's alphabet writes so, if the vocabulary has it, and
        one with the text of an ordinary token is found first.
        """
        from_file, few = self._from_file, len(self._special.tokens) <= FEW
        tokens: Iterable[AddedToken] = self._special.tokens
        if from_file and not few:  # of a million, those that the model has an id of
            tokens = [token for token in tokens if token.id in self._model.tokens]
        for token in tokens:
            if few and self._model.surely_lacks(token.id, utf8(token.content)):
                continue
            name, ordinary = token.content, self._model.tokens.get(token.id)
            written = ordinary is not None and from_file and self._in_bytes and to_alphabet(ordinary) == name
            if ordinary is not None and ordinary != utf8(name) and not written:
                raise SpecialTokenError(
                    f"the special token {name!r} has the id {token.id}, which is that of {ordinary!r}"
                )
            taken = self._model.ids.get(utf8(name))
            if token.special and taken not in (None, token.id) and not from_file:
                raise SpecialTokenError(f"the special token {name!r} is an ordinary token already, with the id {taken}")

    def _texts(self, ids: Iterable[int], unknown: Unknown) -> list[str]:
        """The tokens as a file writes them, which is what decoders work on; U+FFFD for unknown ones that are kept."""
        texts = []
        for token_id in decoding.as_ids(ids):
            if (name := self._special.contents.get(token_id)) is not None:
                texts.append(name)
            elif (token := self._model.tokens.get(token_id)) is not None:
                texts.append(to_alphabet(token) if self._in_bytes else token.decode("utf-8", "replace"))
            else:
                texts += [data.decode() for data in decoding.join_tokens([token_id], self._bytes_of, unknown)]
        return texts

    @cached_property
    def _text_of(self) -> Callable[[list[str], str], str]:
        """What makes a text of tokens, given how errors are treated."""
        from .decoders import decode_tokens

        return partial(decode_tokens, self._decoder)

    def decode_bytes(
        self, ids: Iterable[int], *, unknown: Unknown = "error", skip_special_tokens: bool = False
    ) -> bytes:
        """The bytes of `ids`.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist, unless `unknown` is "replace" (U+FFFD) or
        "skip"; TypeError for what is no integer.
        """
        if self._joins_bytes:
            return bytes(self._joiner.join(ids, unknown, skip_special_tokens))
        kept = self._kept(ids, skip_special_tokens)
        text = self._text_of(self._texts(kept, unknown), "surrogateescape")
        return text.encode("utf-8", "surrogateescape")

    def decode(
        self,
        ids: Iterable[int],
        *,
        errors: str = "replace",
        unknown: Unknown = "error",
        skip_special_tokens: bool = False,
    ) -> str:
        """The text of `ids`; `errors` is that of bytes.decode, for ids whose bytes are no UTF-8.

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 257)
        >>> t.decode([256, 99]), t.decode([999], unknown="replace")
        ('abc', '\ufffd')
        """
        if self._joins_bytes:
            return str(self._joiner.join(ids, unknown, skip_special_tokens), "utf-8", errors)
        if errors == "replace":
            return self._text_of(self._texts(self._kept(ids, skip_special_tokens), unknown), errors)
        data = self.decode_bytes(ids, unknown=unknown, skip_special_tokens=skip_special_tokens)
        return data.decode("utf-8", errors)

    def decode_batch(self, batch: Iterable[Iterable[int]], *, skip_padding: bool = True, **options: Any) -> list[str]:
        """`decode` for each of several sequences of ids, with the same options.

        With `skip_padding` the pad tokens that a row begins or ends with, if there is a pad token, are left out first.
        """
        pad = self.pad_token_id if skip_padding else None
        return [self.decode(ids if pad is None else decoding.without_padding(ids, pad), **options) for ids in batch]

    def batch_decode(self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = False) -> list[str]:
        """`decode` for each of several sequences of ids, as in transformers: pad tokens are tokens like others."""
        return self.decode_batch(sequences, skip_padding=False, skip_special_tokens=skip_special_tokens)

    def decode_with_offsets(self, ids: Iterable[int]) -> tuple[str, list[int]]:
        """The text of `ids`, and for each id the index in it of the character in which its token begins.

        Raises BPELabError for a tokenizer whose tokens are not bytes.
        """
        if not self._joins_bytes:
            raise BPELabError("offsets are known for byte-level tokenizers only")
        return decoding.text_and_offsets(decoding.join_tokens(ids, self._joined))

    def _kept(self, ids: Iterable[int], skip_special_tokens: bool) -> Iterable[int]:
        if not skip_special_tokens:
            return ids
        return [token_id for token_id in decoding.as_ids(ids) if token_id not in self._special.names]

    @property
    def n_vocab(self) -> int:
        """The highest id plus one: the rows that an embedding table needs. `len` counts the tokens there are."""
        return max(self._bytes_of) + 1

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
        """The id of a token or a special token; None where there is none."""
        if isinstance(token, str) and token in self._ids_of_added:
            return self._ids_of_added[token]
        if not isinstance(token, (bytes, str)):
            raise TypeError(f"a token is bytes or a str, not {type(token).__name__}: id_to_token takes an id")
        data = utf8(token) if isinstance(token, str) else token
        ordinary = self._model.ids.get(data)
        return self._ids_of_added.get(data.decode("utf-8", "replace")) if ordinary is None else ordinary

    def id_to_token(self, token_id: int) -> bytes | None:
        """The bytes of a token; None for an id that doesn't exist."""
        return self._bytes_of.get(decoding.as_ids([token_id])[0])

    if TYPE_CHECKING:

        @overload
        def convert_tokens_to_ids(self, tokens: bytes | str) -> int: ...  # type: ignore[overload-overlap]
        @overload
        def convert_tokens_to_ids(self, tokens: Iterable[bytes | str]) -> list[int]: ...

    def convert_tokens_to_ids(self, tokens: bytes | str | Iterable[bytes | str]) -> int | list[int]:
        """The id of each token, or of one token; that of the unk token for unknown ones, if one was set.

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
        """The bytes of each id, or of one id. Raises UnknownTokenError for an id that doesn't exist."""
        if not isinstance(ids, Iterable):
            return decoding.join_tokens([ids], self._bytes_of)[0]
        return decoding.join_tokens(ids, self._bytes_of)

    def convert_tokens_to_string(self, tokens: Iterable[bytes], errors: str = "replace") -> str:
        """The text of tokens."""
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
        """Every token that stands beside the model's, special or not, with its flags."""
        return self._special.tokens

    @property
    def decoder(self) -> Decoder | None:
        """How tokens become text again; None puts spaces between them."""
        return self._decoder

    @property
    def bos_token(self) -> str | None:
        """The name of the token that begins a text, or None."""
        return self._roles["bos"]

    @property
    def bos_token_id(self) -> int | None:
        """The id of `bos_token`, or None."""
        return self._role_id("bos")

    @property
    def eos_token(self) -> str | None:
        """The name of the token that ends a text, or None."""
        return self._roles["eos"]

    @property
    def eos_token_id(self) -> int | None:
        """The id of `eos_token`, or None."""
        return self._role_id("eos")

    @property
    def pad_token(self) -> str | None:
        """The name of the token that fills up a batch, or None."""
        return self._roles["pad"]

    @property
    def pad_token_id(self) -> int | None:
        """The id of `pad_token`, or None."""
        return self._role_id("pad")

    @property
    def unk_token(self) -> str | None:
        """The name of the token that stands for what is unknown, or None."""
        return self._roles["unk"]

    @property
    def unk_token_id(self) -> int | None:
        """The id of `unk_token`, or None."""
        return self._role_id("unk")

    def _role_id(self, role: str) -> int | None:
        name = self._roles[role]
        return None if name is None else self._special.ids[name]


def _is_byte_level(decoder: Decoder | Literal["bytes"] | None) -> bool:
    if decoder == "bytes":
        return True
    from .decoders import ByteLevel

    return isinstance(decoder, ByteLevel)
