"""Initial symbols: the units of a piece before any merge, and the treatment of symbols missing from the vocabulary.

Byte-level models have a token for each of the 256 bytes, so no symbol is ever missing. Others start from characters,
and a vocabulary has only some. A missing one is spelled with the tokens of its bytes (`<0xE2>` and so on), or becomes
the unknown token, or is dropped if the file names none. Some models mark their units: a prefix marks units that
continue a word, a suffix those that end it.

Chapter: File formats. Cost: linear. Source: `merge_word` in Hugging Face tokenizers (`models/bpe/model.rs`), whose
order of ids is preserved even if an unknown character comes before one spelled in bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .._support.lazy_property import cached_property
from ..vocab.added_token_matcher import AddedTokenMatcher
from ..vocab.added_tokens import AddedToken


@dataclass(frozen=True)
class InitialSymbols:
    """How a piece becomes ids before any merge.

    Attributes:
        characters: whether units are characters of UTF-8; else they are bytes.
        byte_tokens: byte -> id of the tokens that spell a missing unit (byte fallback); None for no byte fallback.
        unk_id: the id of missing units that can't be spelled; None drops them.
        fuse_unk: whether a run of such units becomes one id.
        prefix: the prefix of every unit but the first of a piece.
        suffix: the suffix of the last unit of a piece.
        symbols: strings that are always one unit -> their ids; the longest wins.

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

    def alphabet(self, ids: Mapping[bytes, int]) -> dict[bytes, int]:
        """Return the entries of `ids`, token -> id, that can be a unit, with or without the prefix and the suffix."""
        longest = (4 if self.characters else 1) + len(self.prefix) + len(self.suffix)
        return {token: token_id for token, token_id in ids.items() if len(token) <= longest and self._is_unit(token)}

    def _is_unit(self, token: bytes) -> bool:
        forms = {token, token.removeprefix(self.prefix)}
        forms |= {form.removesuffix(self.suffix) for form in forms}
        return any(len(self.cut(form)) == 1 for form in forms)

    def cut(self, piece: bytes) -> list[bytes]:
        """Return the units of a piece, without prefix and suffix."""
        if self.symbols:
            parts = self._matcher.split(piece.decode("utf-8", "replace"), lambda symbol: True)
            return [unit.encode() for part, symbol in parts for unit in (part if symbol is None else [part])]
        if self.characters:
            return [char.encode() for char in piece.decode("utf-8", "replace")]
        return [piece[at : at + 1] for at in range(len(piece))]

    @cached_property
    def _matcher(self) -> AddedTokenMatcher:
        texts = ((symbol.decode(), token_id) for symbol, token_id in self.symbols.items())
        return AddedTokenMatcher((text, AddedToken(text, token_id)) for text, token_id in texts)

    def ids(self, piece: bytes, alphabet: Mapping[bytes, int]) -> list[int]:
        """Return the ids of a piece before any merge; missing units without any token for them are dropped."""
        return [token_id for token_id, _ in self.ids_with_sizes(piece, alphabet)]

    def ids_with_sizes(
        self, piece: bytes, alphabet: Mapping[bytes, int], size_of: Callable[[bytes], int] = len
    ) -> list[tuple[int, int]]:
        """Return the ids of a piece before any merge, each with the `size_of` the units that it stands for.

        >>> InitialSymbols(characters=True, byte_tokens={195: 5, 169: 6}, unk_id=9).ids_with_sizes("é…".encode(), {})
        [(5, 1), (6, 1), (9, 3)]
        """
        cut = self.cut(piece)
        sizes = list(map(size_of, cut))
        units = cut[:1] + [self.prefix + unit for unit in cut[1:]] if self.prefix else cut
        if self.suffix and units:
            units[-1] += self.suffix
        ids: list[tuple[int, int]] = []
        unknown = 0  # the size of the units of a pending unk_id
        for unit, size in zip(units, sizes):
            found = self.symbols.get(unit, alphabet.get(unit))
            if found is not None:
                if unknown:
                    ids.append((self.unk_id, unknown))  # type: ignore[arg-type]
                    unknown = 0
                ids.append((found, size))
            elif self.byte_tokens and all(byte in self.byte_tokens for byte in unit):
                ids += [(self.byte_tokens[byte], 1) for byte in unit]
            elif self.unk_id is not None:
                if unknown and not self.fuse_unk:
                    ids.append((self.unk_id, unknown))
                    unknown = 0
                unknown += size
        if unknown:
            ids.append((self.unk_id, unknown))  # type: ignore[arg-type]
        return ids
