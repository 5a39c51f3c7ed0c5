"""The BPE model that training learns: tokens, and which neighbours merge into which token, in which order.

A byte-pair model has two forms. A merge list says which pair becomes which token (minbpe, Hugging Face). A
rank table (tiktoken) lists only tokens: any two neighbours merge if their concatenation is a token, lowest rank
first. `BPEModel` holds either. Encoders only call `merges.get((left, right))`, which returns (rank, new id) or
None. Rank and id are different things: a file may number its tokens in any order.

Chapters: Training; Matching GPT-2 and GPT-4. Sources: Sennrich, Haddow and Birch 2016; tiktoken's `src/lib.rs`.
"""

from __future__ import annotations

from .._support.lazy_property import cached_property
from .rank_merges import RankMerges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import NoReturn

    from .initial_symbols import InitialSymbols
    from .lazy_model import ModelColumns
    from .merge_recovery import RecoveredMerges
    from .rank_merges import Merge, Pair

NOT_IN_UTF8 = frozenset([0xC0, 0xC1, *range(0xF5, 0x100)])
"""Bytes that never occur in UTF-8."""


class BPEModel:
    """Tokens and merges, frozen. Build one with `from_merges`, `from_vocab` or `from_ranks`.

    Attributes:
        tokens: id -> bytes, without special tokens; ids may have holes.
        merges: (left id, right id) -> (rank, new id); a lower rank merges first.
        alphabet: symbol -> id for the symbols before any merge: the 256 single bytes, unless `initial_symbols` differ.
        ignore_merges: whether a whole piece that is a token becomes that token without merging, as in tiktoken.
        initial_symbols: None for bytes; else how a piece is cut, and what becomes of missing symbols.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    >>> model.tokens[257], model.merges[256, ord("w")]
    (b'low', (1, 257))

    A token may be empty, like one of Whisper's: no text encodes to it, and it decodes to nothing.

    Raises ModelError for a negative id, a byte without a token (with `initial_symbols=None`), and merges that don't
    fit the tokens; not for tables that were validated before, with their inverse table `validated_ids`.
    """

    tokens: Mapping[int, bytes]
    merges: Mapping[Pair, Merge]
    alphabet: Mapping[bytes, int]
    ignore_merges: bool
    initial_symbols: InitialSymbols | None

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        merges: Mapping[Pair, Merge],
        alphabet: Mapping[bytes, int],
        ignore_merges: bool = False,
        initial_symbols: InitialSymbols | None = None,
        *,
        validated_ids: Mapping[bytes, int] | None = None,
    ) -> None:
        vars(self).update(
            tokens=tokens,
            merges=merges,
            alphabet=alphabet,
            ignore_merges=ignore_merges,
            initial_symbols=initial_symbols,
        )
        if validated_ids is not None:
            vars(self).update(ids=validated_ids)
            return
        from .checks import check_model

        check_model(self)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a model can't be changed, and {name!r} was not set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a model can't be changed, and {name!r} was not deleted")

    def __repr__(self) -> str:
        fields = ("tokens", "merges", "alphabet", "ignore_merges", "initial_symbols")
        return f"BPEModel({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"

    def __eq__(self, other: object) -> bool:
        """Return True if both have the same tables. Cost: comparing them, except merges computed from ranks."""
        if not isinstance(other, BPEModel) or self is other:
            return self is other
        names = ["tokens", "alphabet", "ignore_merges", "initial_symbols"]
        plain = [isinstance(it.merges, RankMerges) and it.merges.plain for it in (self, other)]
        names += [] if all(plain) else ["merges"]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash((len(self.tokens), len(self.alphabet), self.ignore_merges))

    @classmethod
    def from_merges(
        cls, merges: Iterable[tuple[bytes, bytes]], *, reserved: Collection[int] = (), ignore_merges: bool = False
    ) -> BPEModel:
        """Return a model from merges in the order in which they were learned; the rank of a merge is its index.

        Ids are assigned in order, first to the 256 bytes, then to the merges; `reserved` ids are skipped.

        Raises ModelError for a merge of a token that no earlier merge made, and for a repeated merge.
        """
        from .building import tables_from_merges

        return cls(*tables_from_merges(merges, reserved), ignore_merges)

    @classmethod
    def from_vocab(
        cls, vocab: Mapping[int, bytes] | Mapping[bytes, int], merges: Iterable[tuple[bytes, bytes]]
    ) -> BPEModel:
        """Return a model from a vocabulary, id -> token or token -> id, and merges in the order of learning.

        Raises ModelError for a single byte, a part of a merge or a merged token without an id, a repeated merge, and a
        token that two ids share.

        >>> vocab = {number: bytes([number]) for number in range(256)} | {500: b"lo", 400: b"low"}
        >>> model = BPEModel.from_vocab(vocab, [(b"l", b"o"), (b"lo", b"w")])
        >>> model.merges[500, ord("w")]
        (1, 400)
        """
        from .building import tables_from_vocab

        return cls(*tables_from_vocab(vocab, merges))

    @classmethod
    def from_ranks(cls, ranks: Mapping[bytes, int], *, ignore_merges: bool = True) -> BPEModel:
        """Return a model with tiktoken's rule, for any table of token -> rank; the rank is the id.

        Raises ModelError when two tokens share a rank or one of the 256 bytes has none.
        """
        from .building import tables_from_ranks

        return cls(*tables_from_ranks(ranks), ignore_merges)

    columns: ModelColumns | None = None
    """The model as arrays, if it was made from them (`LazyModel`)."""

    def definitely_lacks(self, token_id: int, token: bytes) -> bool:
        """Return True if the model, without loading its tables, is known to have neither this id nor this token."""
        return False

    @cached_property
    def ids(self) -> Mapping[bytes, int]:
        """Token -> id, the inverse of `tokens`."""
        tokens, loaded = self.tokens, vars(self).get("ids")  # loading a stored model sets them
        return {token: token_id for token_id, token in tokens.items()} if loaded is None else loaded

    @cached_property
    def byte_ids(self) -> tuple[int, ...]:
        """Return the id of each of the 256 bytes, for a model whose initial symbols are bytes."""
        return tuple(self.alphabet[bytes([byte])] for byte in range(256))

    @cached_property
    def max_token_bytes(self) -> int:
        """Return the length of the longest token, in bytes."""
        return max(map(len, self.tokens.values()))

    def initial_ids(self, piece: bytes) -> list[int]:
        """Return the ids of a piece before any merge: one for each byte, unless `initial_symbols` say otherwise."""
        if self.initial_symbols is None or self.is_byte_level:
            return list(map(self.byte_ids.__getitem__, piece))
        if self.char_ids is not None:
            try:
                return list(map(self.char_ids.__getitem__, piece.decode()))
            except (KeyError, UnicodeDecodeError):  # a symbol that isn't in the alphabet
                pass
        return self.initial_symbols.ids(piece, self.alphabet)

    @cached_property
    def char_ids(self) -> Mapping[str, int] | None:
        """Return the id of each character, if the initial symbols are characters and nothing else; otherwise None."""
        symbols = self.initial_symbols
        if symbols is None or not symbols.characters or symbols.prefix or symbols.suffix or symbols.symbols:
            return None
        return {symbol.decode("utf-8", "replace"): token_id for symbol, token_id in self.alphabet.items()}

    @property
    def is_rank_table(self) -> bool:
        """True if any two neighbours merge whose concatenation is a token, False for a list of merges."""
        return isinstance(self.merges, RankMerges)

    @property
    def is_char_level(self) -> bool:
        """True if the initial symbols are characters of UTF-8; else they are bytes."""
        return self.initial_symbols is not None and self.initial_symbols.characters

    @cached_property
    def is_byte_level(self) -> bool:
        """Return True if every byte has a token, with no prefix or suffix, so that no symbol is ever missing."""
        initial_symbols = self.initial_symbols
        if initial_symbols is None:
            return True
        plain = not (initial_symbols.characters or initial_symbols.prefix or initial_symbols.suffix)
        return plain and all(bytes([byte]) in self.alphabet for byte in range(256))

    @cached_property
    def covers_utf8(self) -> bool:
        """Return True if every byte that occurs in UTF-8 has a token; some files have none for the other 13 bytes."""
        initial_symbols = self.initial_symbols
        if initial_symbols is None:
            return True
        plain = not (
            initial_symbols.characters or initial_symbols.prefix or initial_symbols.suffix or initial_symbols.symbols
        )
        return plain and all(bytes([byte]) in self.alphabet for byte in range(256) if byte not in NOT_IN_UTF8)

    def whole_piece_id(self, piece: bytes) -> int | None:
        """Return the id of `piece` if it is a token and `ignore_merges` is set, else None."""
        return self.ids.get(piece) if self.ignore_merges else None

    def can_make(self, token_id: int) -> bool:
        """Return whether encoding can produce this token: as a symbol, by a merge, or as a whole piece.

        Other tokens are in a vocabulary only for their ids, like special tokens in some files. Cost: a search through
        all merges.
        """
        if self.ignore_merges or isinstance(self.merges, RankMerges):
            return token_id in self.tokens
        return token_id in self.alphabet.values() or any(new == token_id for _, new in self.merges.values())

    @cached_property
    def recovered_merges(self) -> RecoveredMerges:
        """Return the one pair that each token is merged from; see `merge_recovery.recover_merges`.

        Cost: a second for 100,000 tokens.
        """
        from .merge_recovery import recover_merges

        return recover_merges(self)

    def __reduce__(self) -> tuple[object, ...]:
        merges = self.merges if isinstance(self.merges, RankMerges) else dict(self.merges)
        return BPEModel, (dict(self.tokens), merges, dict(self.alphabet), self.ignore_merges, self.initial_symbols)
