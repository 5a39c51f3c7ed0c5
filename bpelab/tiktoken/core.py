"""`Encoding`: tiktoken's class and methods, on top of a BPETokenizer. Source: tiktoken `core.py`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .._support.textio import utf8, valid_text
from ..core.unstable_tokens import completions, count_unstable, encode_bytes
from ..errors import SpecialTokenError, UnknownTokenError
from ..model.bpe import BPEModel
from ..regex.patterns import find_pattern
from ..tokenizer import BPETokenizer
from ..vocab.special_tokens import SpecialTokens

if TYPE_CHECKING:
    from ..core.pipeline import Ids

Names = Literal["all"] | Collection[str]


class Encoding:
    """An encoding of text as ids, with a pattern, a table of ranks and special tokens.

    Args:
        name: any name; it need not be registered.
        pat_str: the regular expression that splits a text into pieces.
        mergeable_ranks: token -> rank, which is its id; all 256 single bytes are among them.
        special_tokens: name -> id.
        explicit_n_vocab: the number of tokens; checked, if given.

    Attributes:
        tokenizer: the underlying BPETokenizer; its methods treat special tokens as text unless they are allowed.

    Raises ValueError for inconsistent tables, PatternError (a ValueError) for a pattern that doesn't compile.
    """

    name: str
    tokenizer: BPETokenizer

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        model = BPEModel.from_ranks(mergeable_ranks)
        special = SpecialTokens(special_tokens, aliases=True)
        self._set_tokenizer(name, BPETokenizer(model, pattern=pat_str, special_tokens=special))
        found = len(model.tokens) + len(special_tokens), self.max_token_value + 1
        if explicit_n_vocab and found != (explicit_n_vocab, explicit_n_vocab):
            raise ValueError(
                f"explicit_n_vocab is {explicit_n_vocab}, but there are {found[0]} tokens, with ids below {found[1]}"
            )

    @classmethod
    def from_tokenizer(cls, name: str, tokenizer: BPETokenizer) -> "Encoding":
        """Return the encoding of a tokenizer that splits text with a single pattern, like those of `from_tiktoken`."""
        encoding = object.__new__(cls)
        encoding._set_tokenizer(name, tokenizer)
        return encoding

    def _set_tokenizer(self, name: str, tokenizer: BPETokenizer) -> None:
        self.name, self.tokenizer = name, tokenizer
        self._special_tokens = tokenizer.special_tokens
        self._special = SpecialTokens(self._special_tokens, aliases=True)

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`; special tokens in it are plain text."""
        return self.tokenizer.encode_ordinary(text)

    def encode(
        self, text: str, *, allowed_special: Names = frozenset(), disallowed_special: Names = "all"
    ) -> list[int]:
        """Return the ids of `text`. Raises ValueError for a disallowed special token in it.

        By default, all special tokens that aren't allowed are disallowed. `disallowed_special` names others; with (),
        none are disallowed, and they are plain text.
        """
        allowed = self._resolve_allowed([text], allowed_special, disallowed_special)
        return self.tokenizer.encode(text, allowed_special=allowed)

    def encode_to_numpy(
        self, text: str, *, allowed_special: Names = frozenset(), disallowed_special: Names = "all"
    ) -> "Ids":
        """Return the ids of `text` as a numpy array of uint32, without an intermediate list. Raises as for `encode`."""
        allowed = self._resolve_allowed([text], allowed_special, disallowed_special)
        return self.tokenizer.encode_array(text, allowed_special=allowed)

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Return the ids of each text, as `encode_ordinary` does."""
        return self.tokenizer.encode_batch(text, threads=num_threads, add_special_tokens=False)

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Names = frozenset(),
        disallowed_special: Names = "all",
    ) -> list[list[int]]:
        """Return the ids of each text, as `encode` does, with the same options."""
        allowed = self._resolve_allowed(text, allowed_special, disallowed_special)
        return self.tokenizer.encode_batch(text, threads=num_threads, allowed_special=allowed)

    def encode_with_unstable(
        self, text: str, *, allowed_special: Names = frozenset(), disallowed_special: Names = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Return the ids that stay the same whatever follows `text`, and the id sequences that may follow them.

        The rules are tiktoken's, which aren't exact for every pattern; `bpelab.StreamEncoder` is.
        """
        allowed = self._resolve_allowed([text], allowed_special, disallowed_special)
        ids = self.tokenizer.encode(text, allowed_special=allowed)
        *_, (part, special_id) = [("", None), *self._special.split(valid_text(text), allowed)]
        kept = len(ids) - count_unstable(self.tokenizer.pipeline, ids, part if special_id is None else "")
        end = self.tokenizer.decode_bytes(ids[kept:])
        return ids[:kept], list(map(list, completions(self.tokenizer.pipeline, self._sorted_tokens, end)))

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of one token, special or not. Raises KeyError if there is no such token."""
        token = text_or_bytes if isinstance(text_or_bytes, bytes) else utf8(text_or_bytes)
        found = self.tokenizer.token_to_id(token)
        if found is None:
            raise UnknownTokenError(f"{token!r} is not a token of {self.name}")
        return found

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        return self.tokenizer.encode_piece(text_or_bytes if isinstance(text_or_bytes, bytes) else utf8(text_or_bytes))

    def _encode_bytes(self, text: bytes) -> list[int]:
        return encode_bytes(self.tokenizer.pipeline, text)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the bytes of ids. Raises KeyError for an unknown id, as all decoding methods do."""
        return self.tokenizer.decode_bytes(tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Return the text of ids; `errors` is that of bytes.decode, for bytes that are not UTF-8."""
        return self.tokenizer.decode(tokens, errors=errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of one token, special or not. Raises KeyError for an unknown id."""
        return self.tokenizer.decode_bytes([token])

    def decode_tokens_bytes(self, tokens: Iterable[int]) -> list[bytes]:
        """Return the bytes of each token."""
        return self.tokenizer.convert_ids_to_tokens(tokens)

    def decode_with_offsets(self, tokens: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text of ids, and for each token the index of the character in which it starts."""
        return self.tokenizer.decode_with_offsets(tokens)

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Return the text of each sequence of ids; in one thread, whatever `num_threads` is."""
        return self.tokenizer.decode_batch(batch, errors=errors)

    def decode_bytes_batch(self, batch: Sequence[Sequence[int]], *, num_threads: int = 8) -> list[bytes]:
        """Return the bytes of each sequence of ids; in one thread, whatever `num_threads` is."""
        return [self.tokenizer.decode_bytes(tokens) for tokens in batch]

    def token_byte_values(self) -> list[bytes]:
        """Return every token's bytes in sorted order, without special tokens."""
        return list(self._sorted_tokens)

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`. Raises KeyError if the encoding has none."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The names of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Return whether an id belongs to a special token."""
        return token in self._special.names

    @property
    def max_token_value(self) -> int:
        """The highest id."""
        return self.tokenizer.n_vocab - 1

    @property
    def n_vocab(self) -> int:
        """The highest id plus one."""
        return self.tokenizer.n_vocab

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return dict(self.tokenizer.model.ids)

    @property
    def _pat_str(self) -> str:
        pattern = self.tokenizer.pattern or ""
        named = find_pattern(pattern)
        return named.regex if named else pattern

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self.tokenizer.model.ids)

    def _resolve_allowed(self, texts: Iterable[str], allowed: Names, disallowed: Names) -> frozenset[str]:
        """Return the names of the allowed special tokens. Raises ValueError if one of `texts` has a disallowed one."""
        everything = frozenset(self._special_tokens)
        permitted = everything if allowed == "all" else frozenset(allowed)
        refused = everything - permitted if disallowed == "all" else frozenset(disallowed)
        for text in texts if refused else ():
            if isinstance(text, str) and (found := [name for name in refused if name in text]):
                name = min(found, key=text.index)
                raise SpecialTokenError(
                    f"the text holds {name!r}, which is disallowed. To encode it as a special token, pass "
                    f"allowed_special={{{name!r}}}; as text, pass "
                    f"disallowed_special=(enc.special_tokens_set - {{{name!r}}}), or () for all special tokens."
                )
        return permitted & everything

    def __getstate__(self) -> object:
        from . import registry

        if registry.is_registered(self):
            return self.name
        ranks, special = self._mergeable_ranks, self._special_tokens
        return {"name": self.name, "pat_str": self._pat_str, "mergeable_ranks": ranks, "special_tokens": special}

    def __setstate__(self, value: str | Mapping[str, Any]) -> None:
        from . import registry

        if isinstance(value, str):
            self._set_tokenizer(value, registry.get_encoding(value).tokenizer)
        else:
            self.__init__(**value)  # type: ignore[misc]
