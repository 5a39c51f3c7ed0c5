"""Initial symbols: what a piece is split into before any merge, and what becomes of those that the vocabulary lacks.

Byte-level models have a token for each of the 256 bytes, so no symbol is ever missing. Others start from characters,
and a vocabulary has only some. A missing one is spelled with the tokens of its bytes (`<0xE2>` and so on), becomes the
unknown token, or, if the file has none, is dropped. Some models mark their symbols: a prefix marks those that continue
a word, a suffix those that end it.

Chapter: File formats. Cost: linear. Source: `merge_word` in Hugging Face tokenizers (`models/bpe/model.rs`), whose
order of ids is preserved even if an unknown character comes before one spelled in bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._support.lazy_property import cached_property
from ..vocab.added_token_matcher import AddedTokenMatcher
from ..vocab.added_tokens import AddedToken

if TYPE_CHECKING:
    from .bpe import BPEModel


@dataclass(frozen=True)
class InitialSymbols:
    """How a piece becomes ids before any merge.

    Attributes:
        characters: whether symbols are characters of UTF-8; else they are bytes.
        byte_tokens: byte -> id of the tokens that spell a missing symbol (byte fallback); None for no byte fallback.
        unk_id: the id of missing symbols that can't be spelled; None drops them.
        fuse_unk: whether a run of such symbols becomes one id.
        prefix: the prefix of every symbol but the first of a piece.
        suffix: the suffix of the last symbol of a piece.
        symbols: strings that are always one symbol -> their ids; the longest wins.

    >>> InitialSymbols(characters=True, unk_id=9).ids("aéb".encode(), {b"a": 0, b"b": 1})
    [0, 9, 1]
    """

    characters: bool
    byte_tokens: Mapping[int, int] | None = None
    unk_id: int | None = None
    fuse_unk: bool = False
    prefix: bytes = b""
    suffix: bytes = b""
    symbols: Mapping[bytes, int] = field(default_factory=dict)

    @property
    def longest(self) -> int:
        """The most bytes that a symbol can have, with its prefix and its suffix."""
        return (4 if self.characters else 1) + len(self.prefix) + len(self.suffix)

    def alphabet(self, ids: Mapping[bytes, int]) -> dict[bytes, int]:
        """Return the entries of `ids`, token -> id, that can be a symbol, with or without the prefix and the suffix."""
        longest = self.longest
        short = [token for token in ids if len(token) <= longest]
        if not (self.prefix or self.suffix or self.symbols):  # then a symbol is a byte or a character
            size = (lambda token: len(token.decode("utf-8", "replace"))) if self.characters else len
            return {token: ids[token] for token in short if size(token) == 1}
        return {token: ids[token] for token in short if self._is_initial_symbol(token)}

    def _is_initial_symbol(self, token: bytes) -> bool:
        forms = {token, token.removeprefix(self.prefix)}
        forms |= {form.removesuffix(self.suffix) for form in forms}
        return any(len(self.cut(form)) == 1 for form in forms)

    def cut(self, piece: bytes) -> list[bytes]:
        """Return the initial symbols of a piece, without prefix and suffix."""
        if self.symbols:
            parts = self._matcher.split(piece.decode("utf-8", "replace"), lambda name: True)
            return [symbol.encode() for part, token in parts for symbol in (part if token is None else [part])]
        if self.characters:
            return [char.encode() for char in piece.decode("utf-8", "replace")]
        return [piece[at : at + 1] for at in range(len(piece))]

    @cached_property
    def _matcher(self) -> AddedTokenMatcher:
        texts = ((symbol.decode(), token_id) for symbol, token_id in self.symbols.items())
        return AddedTokenMatcher((text, AddedToken(text, token_id)) for text, token_id in texts)

    def ids(self, piece: bytes, alphabet: Mapping[bytes, int]) -> list[int]:
        """Return the ids of a piece before any merge; missing symbols without any token for them are dropped."""
        return [token_id for token_id, _ in self.ids_with_sizes(piece, alphabet)]

    def ids_with_sizes(
        self, piece: bytes, alphabet: Mapping[bytes, int], size_of: Callable[[bytes], int] = len
    ) -> list[tuple[int, int]]:
        """Return the ids of a piece before any merge, each with the total size of its symbols, measured by `size_of`.

        >>> InitialSymbols(characters=True, byte_tokens={195: 5, 169: 6}, unk_id=9).ids_with_sizes("é…".encode(), {})
        [(5, 1), (6, 1), (9, 3)]
        """
        cut = self.cut(piece)
        sizes = list(map(size_of, cut))
        symbols = cut[:1] + [self.prefix + symbol for symbol in cut[1:]] if self.prefix else cut
        if self.suffix and symbols:
            symbols[-1] += self.suffix
        ids: list[tuple[int, int]] = []
        unknown = 0  # the size of the symbols of a pending unk_id
        for symbol, size in zip(symbols, sizes):
            token_id = self.symbols.get(symbol, alphabet.get(symbol))
            if token_id is not None:
                if unknown:
                    ids.append((self.unk_id, unknown))  # type: ignore[arg-type]
                    unknown = 0
                ids.append((token_id, size))
            elif self.byte_tokens and all(byte in self.byte_tokens for byte in symbol):
                ids += [(self.byte_tokens[byte], 1) for byte in symbol]
            elif self.unk_id is not None:
                if unknown and not self.fuse_unk:
                    ids.append((self.unk_id, unknown))
                    unknown = 0
                unknown += size
        if unknown:
            ids.append((self.unk_id, unknown))  # type: ignore[arg-type]
        return ids


def token_initial_symbols(model: "BPEModel", token: bytes) -> list[int]:
    """Return the ids before a token's first merge: as for a piece, but with the token's own word prefix or suffix.

    >>> from bpelab.model import BPEModel
    >>> symbols = InitialSymbols(True, suffix=b"</w>")
    >>> tokens = {0: b"a", 1: b"b</w>", 2: b"ab</w>"}
    >>> token_initial_symbols(
    ...     BPEModel(tokens, {(0, 1): (0, 2)}, {b"a": 0, b"b</w>": 1}, initial_symbols=symbols), b"ab</w>"
    ... )
    [0, 1]
    """
    initial_symbols = model.initial_symbols
    if initial_symbols is None or not (initial_symbols.prefix or initial_symbols.suffix):
        return model.initial_ids(token)
    inside = bool(initial_symbols.prefix) and token.startswith(initial_symbols.prefix)
    ends = bool(initial_symbols.suffix) and token.endswith(initial_symbols.suffix)
    cut = initial_symbols.cut(token.removeprefix(initial_symbols.prefix).removesuffix(initial_symbols.suffix))
    forms = [(initial_symbols.prefix if inside or at else b"") + symbol for at, symbol in enumerate(cut)]
    if ends and forms:
        forms[-1] += initial_symbols.suffix
    ids = [initial_symbols.symbols.get(form, model.alphabet.get(form)) for form in forms]
    return [token_id for token_id in ids if token_id is not None] if None not in ids else []
