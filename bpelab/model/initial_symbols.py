"""Initial symbols: what a piece is split into before any merge, and what becomes of one that the vocabulary lacks.

Byte-level models have a token for each of the 256 bytes, so nothing is ever missing. Others start from characters, of
which a vocabulary knows some: a missing one is written as the tokens of its bytes (`<0xE2>` and so on), or becomes the
unknown token, or is dropped where the file names none. Some mark their units: with a prefix what continues a word, with
a suffix what ends it.

Chapter: File formats. Cost: linear. Source: `merge_word` in Hugging Face tokenizers (`models/bpe/model.rs`), whose
order of the ids is kept also where an unknown character is before one written in bytes.
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
        byte_tokens: byte -> id of the tokens that spell a missing unit; None where that is not done.
        unk_id: the id of what is missing and can't be spelled; None drops it.
        fuse_unk: whether several such units in a row become one id.
        prefix: precedes every unit but the first of a piece.
        suffix: follows the last unit of a piece.
        symbols: strings of several characters, and their ids, that are one unit wherever they occur; the longest wins.

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
        """Those of the tokens `ids` that can be a unit, with or without the prefix and the suffix."""
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
        """Return the ids of a piece before any merge; without a token for missing units these leave no id."""
        return [token_id for token_id, _ in self.ids_with_sizes(piece, alphabet)]

    def ids_with_sizes(
        self, piece: bytes, alphabet: Mapping[bytes, int], size_of: Callable[[bytes], int] = len
    ) -> list[tuple[int, int]]:
        """Return the ids of a piece before any merge, and how much of it each stands for: the `size_of` its units.

        >>> InitialSymbols(characters=True, byte_tokens={195: 5, 169: 6}, unk_id=9).ids_with_sizes("é…".encode(), {})
        [(5, 1), (6, 1), (9, 3)]
        """
        cut = self.cut(piece)
        sizes = list(map(size_of, cut))
        units = cut[:1] + [self.prefix + unit for unit in cut[1:]] if self.prefix else cut
        if self.suffix and units:
            units[-1] += self.suffix
        ids: list[tuple[int, int]] = []
        unknown = 0  # the size of what an unk_id still to be written stands for
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
