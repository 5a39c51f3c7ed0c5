"""The BPE model that training learns: tokens, and which neighbours merge into which token, in which order.

A byte-pair model has two forms. A merge list says which pair becomes which token (minbpe, Hugging Face). A
rank table (tiktoken) lists only tokens: any two neighbours merge if their concatenation is a token, lowest rank
first. `BPEModel` holds either. Encoders only call `merges.get((left, right))`, which returns (rank, new id) or
None. Rank and id are different things: a file may number its tokens in any order.

Chapters: Training; Matching GPT-2 and GPT-4. Sources: Sennrich, Haddow and Birch 2016; tiktoken's `src/lib.rs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from types import MappingProxyType

from .._support.lazy_property import cached_property
from ..errors import ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any, NoReturn

    from .initial_symbols import InitialSymbols
    from .merge_recovery import RecoveredMerges

Pair = tuple[int, int]
Merge = tuple[int, int]
"""(rank, id of the new token)."""
TokenColumns = tuple[memoryview, memoryview, memoryview, int]
"""The ids, and where each token ends in the joined bytes, both uint32; all tokens' bytes, joined; the highest id."""


NOT_IN_UTF8 = frozenset([0xC0, 0xC1, *range(0xF5, 0x100)])
"""Bytes that never occur in UTF-8."""
MAX_WORK = 10**9
"""Limit on the bytes of the tokens split in two, in all ways, to list merges: fifty times the largest vocabularies'."""


class RankMerges(Mapping[Pair, Merge]):
    """The merges of a rank table, computed on demand: a pair merges if its concatenation is a token.

    `get` costs one concatenation and one lookup, and nothing is built beforehand. Iteration tries every split of every
    token (233,378 pairs for cl100k_base), and raises ModelError if there are too many. The rank of a token is its id,
    unless `rank_of` says otherwise.
    """

    def __init__(
        self, tokens: Mapping[int, bytes], ids: Mapping[bytes, int], rank_of: Mapping[int, int] | None = None
    ) -> None:
        self._tokens, self._ids, self.rank_of = tokens, ids, rank_of

    @property
    def plain(self) -> bool:
        """True if the rank of a token is its id."""
        return self.rank_of is None

    def get(self, pair: Pair, default: object = None) -> Merge | None:  # type: ignore[override]
        new = self._ids.get(self._tokens[pair[0]] + self._tokens[pair[1]])
        if new is None:
            return None
        return new if self.rank_of is None else self.rank_of[new], new

    def __getitem__(self, pair: Pair) -> Merge:
        try:
            merge = self.get(pair)
        except KeyError:
            merge = None
        if merge is None:
            raise KeyError(pair)
        return merge

    def __iter__(self) -> Iterator[Pair]:
        from bisect import bisect_left

        ids, work = self._ids, 0
        lengths = sorted(set(map(len, ids)) - {0})
        known = set(lengths)
        for token in ids:
            for cut in lengths[: bisect_left(lengths, len(token))]:
                if len(token) - cut not in known:
                    continue
                if (work := work + len(token)) > MAX_WORK:
                    raise ModelError(
                        "the tokens are so long and so alike that there are too many pairs to list; the tokenizer "
                        "encodes and decodes, but operations that need all merges don't work"
                    )
                left, right = ids.get(token[:cut]), ids.get(token[cut:])
                if left is None or right is None:
                    continue
                if self.rank_of is None or self.get((left, right)) is not None:  # some tokens may have no rank
                    yield left, right

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def extended(self, more: Mapping[int, bytes]) -> RankMerges:
        """Return the merges of the table with more tokens, id -> bytes, which rank after all others, in their order.

        If ranks are ids, the new ids must be above all others.
        """
        tokens, ids = {**self._tokens, **more}, {**self._ids, **{token: token_id for token_id, token in more.items()}}
        if self.rank_of is None:
            return RankMerges(tokens, ids)
        first = 1 + max(self.rank_of.values(), default=-1)
        return RankMerges(tokens, ids, {**self.rank_of, **{i: first + at for at, i in enumerate(more)}})

    def renumbered(self, new_ids: Mapping[int, int]) -> RankMerges:
        """Return the merges of the tokens in `new_ids`, old id -> new id, in their old order."""
        tokens = {new_ids[old]: token for old, token in self._tokens.items() if old in new_ids}
        ids = {token: new_ids[old] for token, old in self._ids.items() if old in new_ids}
        if self.rank_of is None:
            return RankMerges(tokens, ids)
        return RankMerges(tokens, ids, {new_ids[old]: rank for old, rank in self.rank_of.items() if old in new_ids})

    def __reduce__(self) -> tuple[object, ...]:
        return RankMerges, (dict(self._tokens), dict(self._ids), self.rank_of)


class BPEModel:
    """Tokens and merges, frozen. Build one with `from_merges`, `from_vocab` or `from_ranks`.

    Attributes:
        tokens: id -> bytes, without special tokens; ids may have holes.
        merges: (left id, right id) -> (rank, new id); a lower rank merges first.
        alphabet: unit -> id for the symbols before any merge: the 256 single bytes, unless `units` differ.
        ignore_merges: whether a whole piece that is a token becomes that token without merging, as in tiktoken.
        units: None for bytes; else how a piece is cut, and how missing symbols are treated (see initial_symbols.py).

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    >>> model.tokens[257], model.merges[256, ord("w")]
    (b'low', (1, 257))

    A token may be empty, like one of Whisper's: no text encodes to it, and it decodes to nothing.

    Raises ModelError for a negative id, a byte without a token (with `units=None`), and merges that don't fit the
    tokens.
    """

    tokens: Mapping[int, bytes]
    merges: Mapping[Pair, Merge]
    alphabet: Mapping[bytes, int]
    ignore_merges: bool
    units: InitialSymbols | None

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        merges: Mapping[Pair, Merge],
        alphabet: Mapping[bytes, int],
        ignore_merges: bool = False,
        units: InitialSymbols | None = None,
    ) -> None:
        vars(self).update(tokens=tokens, merges=merges, alphabet=alphabet, ignore_merges=ignore_merges, units=units)
        self._check()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a model can't be changed, and {name!r} was not set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a model can't be changed, and {name!r} was not deleted")

    def __repr__(self) -> str:
        fields = ("tokens", "merges", "alphabet", "ignore_merges", "units")
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"

    def __eq__(self, other: object) -> bool:
        """Return True if both have the same tables. Cost: comparing them, except merges computed from ranks."""
        if not isinstance(other, BPEModel) or self is other:
            return self is other
        names = ["tokens", "alphabet", "ignore_merges", "units"]
        plain = [isinstance(it.merges, RankMerges) and it.merges.plain for it in (self, other)]
        names += [] if all(plain) else ["merges"]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        return hash((len(self.tokens), len(self.alphabet), self.ignore_merges))

    @classmethod
    def from_validated(
        cls,
        tokens: Mapping[int, bytes],
        merges: Mapping[Pair, Merge],
        alphabet: Mapping[bytes, int],
        ignore_merges: bool,
        units: InitialSymbols | None,
        ids: Mapping[bytes, int],
    ) -> BPEModel:
        """Return a model from tables that were validated before, including the inverse table `ids`."""
        model = object.__new__(cls)
        given = {
            "tokens": tokens,
            "merges": merges,
            "alphabet": alphabet,
            "ignore_merges": ignore_merges,
            "units": units,
        }
        vars(model).update(given, ids=ids)
        return model

    @classmethod
    def lazy(
        cls,
        load: Callable[[], BPEModel],
        ignore_merges: bool,
        units: InitialSymbols | None,
        lacks: Callable[[int, bytes], bool],
        columns: TokenColumns,
    ) -> BPEModel:
        """Return a lazy model: it calls `load` for the real one when one of its tables is first accessed.

        `lacks(id, token)` returns True if the model surely has neither the id nor the token; `columns` are its tokens.
        """
        model = object.__new__(cls)
        vars(model).update(ignore_merges=ignore_merges, units=units, _load=load, _lacks=lacks, _columns=columns)
        return model

    @property
    def token_columns(self) -> TokenColumns | None:
        """The tokens as arrays, or None once the tables are loaded."""
        return vars(self).get("_columns")

    def __getattr__(self, name: str) -> Any:
        load = vars(self).get("_load")
        if load is not None and name in ("tokens", "merges", "alphabet"):
            vars(self).update(vars(load()))
            for done in ("_load", "_lacks", "_columns"):
                vars(self).pop(done, None)
        if name not in vars(self):  # another thread may have loaded it first
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return vars(self)[name]

    def definitely_lacks(self, token_id: int, token: bytes) -> bool:
        """Return True if the model, without loading its tables, is known to have neither this id nor this token."""
        lacks = vars(self).get("_lacks")
        return lacks is not None and bool(lacks(token_id, token))

    def _check(self) -> None:
        if not self.tokens:
            raise ModelError("there is no token that text could become")
        for token_id, token in self.tokens.items():
            if token_id < 0:
                raise ModelError(f"token {token!r} with id {token_id}: ids begin at 0")
        missing = [byte for byte in range(256) if bytes([byte]) not in self.alphabet]
        if missing and self.units is None:
            raise ModelError(
                f"no token for {len(missing)} single bytes, {missing[0]:#04x} among them: text with such a byte could "
                "not be encoded"
            )
        for unit, unit_id in self.alphabet.items():
            if (found := self.tokens.get(unit_id)) != unit:
                raise ModelError(f"the alphabet gives {unit!r} the id {unit_id}, but that token is {found!r}")
        if not isinstance(self.merges, RankMerges):
            self._check_merges()

    def _check_merges(self) -> None:
        tokens, prefix = self.tokens, b"" if self.units is None else self.units.prefix
        for (left, right), (rank, new) in self.merges.items():
            try:
                joined = tokens[left] + tokens[right].removeprefix(prefix)
                if joined == tokens[new]:
                    continue
            except KeyError as error:
                raise ModelError(f"merge {rank}, ({left}, {right}) -> {new}: there is no token {error}") from None
            raise ModelError(f"merge {rank}: {tokens[left]!r} and {tokens[right]!r} can't become {tokens[new]!r}")

    @classmethod
    def from_merges(
        cls, merges: Iterable[tuple[bytes, bytes]], *, reserved: Collection[int] = (), ignore_merges: bool = False
    ) -> BPEModel:
        """Return a model from merges in the order in which they were learned; the rank of a merge is its index.

        Ids are assigned in order, first to the 256 bytes, then to the merges; `reserved` ids are skipped.

        Raises ModelError for a merge of a token that no earlier merge made, and for a repeated merge.
        """
        free = (token_id for token_id in count() if token_id not in reserved)
        alphabet = {bytes([byte]): next(free) for byte in range(256)}
        ids = dict(alphabet)
        table: dict[Pair, Merge] = {}
        for rank, (left, right) in enumerate(merges):
            for part in (left, right):
                if part not in ids:
                    raise ModelError(f"merge {rank} joins {left!r} and {right!r}, but no earlier merge made {part!r}")
            pair = ids[left], ids[right]
            if pair in table:
                raise ModelError(f"merge {rank} joins {left!r} and {right!r} again: merge {table[pair][0]} did")
            new = ids.get(left + right)
            if new is None:
                new = ids[left + right] = next(free)
            table[pair] = rank, new
        tokens = {token_id: token for token, token_id in ids.items()}
        return cls(MappingProxyType(tokens), MappingProxyType(table), MappingProxyType(alphabet), ignore_merges)

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
        tokens: dict[int, bytes] = {}
        ids: dict[bytes, int] = {}
        for key, value in vocab.items():
            token, token_id = (key, value) if isinstance(key, bytes) else (value, key)
            if not isinstance(token, bytes) or isinstance(token_id, bool) or not isinstance(token_id, int):
                raise ModelError(f"a vocabulary maps ids to bytes, or bytes to ids, not {key!r} to {value!r}")
            if ids.setdefault(token, token_id) != token_id or tokens.setdefault(token_id, token) != token:
                raise ModelError(f"the token {token!r} or the id {token_id} is in the vocabulary twice")
        table: dict[Pair, Merge] = {}
        for rank, (left, right) in enumerate(merges):
            for part in (left, right, left + right):
                if part not in ids:
                    raise ModelError(f"merge {rank} of {left!r} and {right!r}: the vocabulary has no id for {part!r}")
            pair = ids[left], ids[right]
            if pair in table:
                raise ModelError(f"merge {rank} joins {left!r} and {right!r} again: merge {table[pair][0]} did")
            table[pair] = rank, ids[left + right]
        alphabet = {unit: ids[unit] for unit in map(bytes, zip(range(256))) if unit in ids}
        return cls(MappingProxyType(tokens), MappingProxyType(table), MappingProxyType(alphabet))

    @classmethod
    def from_ranks(cls, ranks: Mapping[bytes, int], *, ignore_merges: bool = True) -> BPEModel:
        """Return a model with tiktoken's rule, for any table of token -> rank; the rank is the id.

        Raises ModelError when two tokens share a rank or one of the 256 bytes has none.
        """
        tokens: dict[int, bytes] = {}
        for token, rank in ranks.items():
            if not isinstance(token, bytes) or isinstance(rank, bool) or not isinstance(rank, int):
                raise ModelError(f"a rank table maps bytes to integers, not {token!r} to {rank!r}")
            if rank in tokens:
                raise ModelError(f"the tokens {tokens[rank]!r} and {token!r} have the same rank, {rank}")
            tokens[rank] = token
        ids = {token: rank for rank, token in tokens.items()}
        alphabet = {unit: ids[unit] for unit in map(bytes, zip(range(256))) if unit in ids}
        return cls(MappingProxyType(tokens), RankMerges(tokens, ids), MappingProxyType(alphabet), ignore_merges)

    @cached_property
    def ids(self) -> Mapping[bytes, int]:
        """Token -> id, the inverse of `tokens`."""
        tokens, loaded = self.tokens, vars(self).get("ids")  # loading a stored model sets them
        return {token: token_id for token_id, token in tokens.items()} if loaded is None else loaded

    @cached_property
    def byte_ids(self) -> tuple[int, ...]:
        """Return the id of each of the 256 bytes, for a model whose units are bytes."""
        return tuple(self.alphabet[bytes([byte])] for byte in range(256))

    @cached_property
    def max_token_bytes(self) -> int:
        """Return the length of the longest token, in bytes."""
        return max(map(len, self.tokens.values()))

    def initial_ids(self, piece: bytes) -> list[int]:
        """Return the ids of a piece before any merge: one for each byte, unless `units` say otherwise."""
        if self.units is None or self.is_byte_level:
            return list(map(self.byte_ids.__getitem__, piece))
        return self.units.ids(piece, self.alphabet)

    @cached_property
    def is_byte_level(self) -> bool:
        """Return True if every byte has a token, with no prefix or suffix, so that no symbol is ever missing."""
        units = self.units
        if units is None:
            return True
        plain = not (units.characters or units.prefix or units.suffix)
        return plain and all(bytes([byte]) in self.alphabet for byte in range(256))

    @cached_property
    def covers_utf8(self) -> bool:
        """Return True if the same holds for all bytes that occur in UTF-8: some files omit the 13 others."""
        units = self.units
        if units is None:
            return True
        plain = not (units.characters or units.prefix or units.suffix or units.symbols)
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
        return BPEModel, (dict(self.tokens), merges, dict(self.alphabet), self.ignore_merges, self.units)
