"""How texts are spelled in tokens: as the tokenizer spells them, or anyhow."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from .._support.numpy_import import np
from ..core.tokenizer import Tokenizer
from ..errors import ModelError
from ..prefix.character_kinds import CharacterKinds
from ..prefix.valid_tokens import NO_TOKEN, Place, Places, ValidTokens, valid_tokens
from .state_table import Numbers, StateTable
from .token_trie import TokenTrie

FEW = 24
"""So few tokens are compared with the one before one by one."""
MAX_FITS = 100_000
"""The most pairs of tokens of which is kept whether one fits after the other."""


MAX_WAYS = 100_000
"""The most ways to the end of a piece that are kept."""


class Way(NamedTuple):
    """Bytes with which a piece can go on to its end, and the state of the borders after that."""

    data: bytes
    border: int


class Spelling(ABC):
    """A vocabulary, and which of its tokens may follow each other.

    Attributes:
        tokens: the bytes of each id.
        start: the places at the start of a text.
        borders: the automaton that says where pieces may end.
        characters: the kinds that this automaton tells apart, if any.
        trie: the tokens inside pieces.
        whole: those that are valid only as whole pieces, if there are any.
        has_pieces: whether a text is cut into pieces, which may not end everywhere.
        ways: from places inside a piece, the last ways to its end that were found.
    """

    tokens: Mapping[int, bytes]
    start: Places
    borders: StateTable
    characters: tuple[CharacterKinds, ...] = ()
    trie: TokenTrie
    whole: TokenTrie | None = None
    has_pieces = False

    def __init__(self) -> None:
        self.ways: dict[Place, Way] = {}

    def note(self, place: Place, way: Way) -> None:
        """Keep a way."""
        if len(self.ways) >= MAX_WAYS:
            del self.ways[next(iter(self.ways))]
        self.ways[place] = way

    @abstractmethod
    def close(self, state: int) -> int:
        """Return the state after the end of a piece here; DEAD if none can end."""

    @abstractmethod
    def can_end(self, state: int) -> bool:
        """Return whether the text can end in this state between two pieces."""

    @abstractmethod
    def follow(self, place: Place, token: int) -> list[Place]:
        """Return the places after a token that follows one place; none if it can't."""

    def reached(self, place: Place, token: int, state: int) -> list[Place]:
        """Return the places after a token inside a piece, after which the borders are in this state."""
        return [place]

    def fitting(self, last: int, tokens: Numbers) -> Numbers:
        """Return those of the tokens that can follow the one before, in the same piece."""
        return tokens

    def longer(self, piece: bytes | None, token: int) -> bytes | None:
        """Return the bytes of a piece after one more token, as far as a place has to know them."""
        return None

    def is_whole(self, piece: bytes | None) -> bool:
        """Return whether a piece is valid only as one token."""
        return False

    def begins_whole(self, piece: bytes | None) -> list[int]:
        """Return the tokens with which a piece can be, or become, one that is valid only as one token."""
        return []


class Canonical(Spelling):
    """The ids to which the tokenizer encodes some text, and no others. Raises as `valid_tokens` does."""

    has_pieces = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        check_bytes(tokenizer)
        self.valid: ValidTokens = valid_tokens(tokenizer)
        self._fits = lru_cache(MAX_FITS)(self.valid.neighbours.fits)
        self.tokens = self.valid.tokens
        self._states, added = self.valid.states, added_ids(tokenizer)
        self.start, self.borders = self.valid.start, StateTable(self._states)
        self.characters = (self._states.characters,)
        reached = {data: token for data, token in self.valid.merged_ids.items() if data}
        if special := added.difference(self.valid.served.added.values()).intersection(reached.values()):
            raise ModelError(f"the special token {min(special)} is also a token of plain texts: constraints can't tell")
        self.trie = TokenTrie(reached)
        whole = {data: token for data, token in self.valid.whole.items() if token not in added}
        self.whole = TokenTrie(whole) if whole else None

    def close(self, state: int) -> int:
        """Return the state after the end of a piece here; DEAD if none can end."""
        return self._states.close(state)

    def can_end(self, state: int) -> bool:
        """Return whether the text can end in this state between two pieces."""
        return self._states.can_end(state)

    def follow(self, place: Place, token: int) -> list[Place]:
        """Return the places after a token that follows one place; none if it can't."""
        return self.valid.follow(place, token)

    def reached(self, place: Place, token: int, state: int) -> list[Place]:
        """Return the places after a token inside a piece, after which the borders are in this state."""
        return next(self.valid.reached(place, [(token, state)]))[1] if self._fits(place.last, token) else []

    def fitting(self, last: int, tokens: Numbers) -> Numbers:
        """Return those of the tokens that can follow the one before, in the same piece."""
        if last == NO_TOKEN:
            return tokens
        if len(tokens) < FEW:
            fits = np.array([self._fits(last, token) for token in tokens.tolist()], bool)
        else:
            fits = self.valid.neighbours.fitting(last, tokens)
        found: Numbers = tokens[fits]
        return found

    def longer(self, piece: bytes | None, token: int) -> bytes | None:
        """Return the bytes of a piece after one more token, as far as a place has to know them."""
        return self.valid.longer(piece, token)

    def is_whole(self, piece: bytes | None) -> bool:
        """Return whether a piece is valid only as one token."""
        return piece in self.valid.whole

    def begins_whole(self, piece: bytes | None) -> list[int]:
        """Return the tokens with which a piece can be, or become, one that is valid only as one token."""
        return [] if piece is None else self.valid.begins_whole(piece)


class _NoBorders:
    """The automaton of all bytes: one place."""

    start = 0

    def first_bytes(self, state: int) -> bytes:
        return b""

    def alike(self, first_bytes: bytes) -> list[bytes]:
        return [bytes(range(256))]

    def read(self, state: int, byte: int) -> int:
        return state

    def read_all(self, state: int, data: bytes) -> int:
        return state


class AnySpelling(Spelling):
    """All sequences of tokens that spell a text: the usual mask."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        check_bytes(tokenizer)
        left_out = added_ids(tokenizer)
        tokens = {data: token for token, data in tokenizer.model.tokens.items() if data and token not in left_out}
        states: Any = _NoBorders()
        self.tokens = tokenizer.model.tokens
        self.start, self.borders, self.trie = (
            frozenset([Place(0, NO_TOKEN, None)]),
            StateTable(states),
            TokenTrie(tokens),
        )

    def close(self, state: int) -> int:
        """Return the one state: tokens may end anywhere, inside a character, too."""
        return state

    def can_end(self, state: int) -> bool:
        """Return True: only the text decides."""
        return True

    def follow(self, place: Place, token: int) -> list[Place]:
        """Return the one place."""
        return [place]


def check_bytes(tokenizer: Tokenizer) -> None:
    """Raise ModelError unless a tokenizer's tokens are bytes of the text."""
    if not tokenizer.model.is_byte_level:
        raise ModelError("constraints need a model whose initial symbols are the 256 bytes, and this one has others")


def added_ids(tokenizer: Tokenizer) -> set[int]:
    """Return the ids of special and other added tokens, which no constrained text has."""
    return {token.id for token in tokenizer.spec.special_tokens.tokens}


@lru_cache(8)
def spelling_of(tokenizer: Tokenizer, canonical: bool) -> Spelling:
    """Return how a tokenizer spells texts, kept for those used last."""
    return Canonical(tokenizer) if canonical else AnySpelling(tokenizer)
