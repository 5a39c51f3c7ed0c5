"""Which tokens can come next: those with which the ids so far are still the beginning of some text's encoding.

Inside a piece a token must be compatible with the one before it, since the encoding of a piece is the only sequence in
which all neighbours are (`encoders/trie.py`); no token crosses a piece's border, and the bytes of all are UTF-8
(`byte_states.py`). A token that no merges make is valid only as a whole piece, of a model that takes those first
(`ignore_merges`), and then no other tokens spell that piece. An added token is a piece of its own, and a character that
the vocabulary lacks may be spelled by tokens of bytes.

Cost: a walk through the part of the trie that goes on from the given bytes; all of it if none are given.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .._support.lazy_property import cached_property
from ..core.tokenizer import Tokenizer
from ..encoders.trie import TOKEN, Node, build_trie
from ..regex.dfa import NotRegular, dfa_for
from .added_borders import AddedBorders
from .borders import Borders
from .byte_states import DEAD, PieceStates, Token
from .neighbours import Neighbours
from .piece_borders import PieceBorders
from .served import token_texts

if TYPE_CHECKING:
    from .last_tokens import LastTokens

NO_TOKEN = -1


class Place(NamedTuple):
    """Where a sequence of tokens has got to.

    Attributes:
        state: of the bytes so far.
        last: the token before, in the same piece; NO_TOKEN where a piece begins.
        piece: the bytes of the piece so far, if they begin a token that is valid only as a whole piece.
    """

    state: int
    last: int
    piece: bytes | None


Places = frozenset[Place]


class ValidTokens:
    """The tokens that can follow, for a tokenizer of bytes that cuts by one pattern, or not at all.

    Raises ModelError, saying what is missing, for other tokenizers, and PatternError for a pattern without a DFA.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.served = served = token_texts(tokenizer)
        self.tokens, model, split = served.texts, tokenizer.model, tokenizer.pipeline.split
        self.neighbours = Neighbours(tokenizer, served.byte_tokens.values())
        reachable = self.neighbours.reachable.difference(served.byte_tokens.values())
        spaces = b" " if served.never else None  # replaced before merging, so no token with one is reached
        self.merged_ids = {
            self.tokens[token]: token
            for spelled, token in model.ids.items()
            if token in reachable and not (spaces and spaces in spelled)
        }
        self._trie = build_trie(self.merged_ids)[0]
        self.longest = max(map(len, self.tokens.values()))
        self._added_trie = build_trie({text.encode(): token for text, token in served.added.items()})[0]
        unreachable = model.recovered_merges.unreachable if model.ignore_merges else ()
        self.whole = {model.tokens[token]: token for token in unreachable if model.tokens[token]}
        self._whole_trie = build_trie(self.whole)[0]
        self.whole_prefixes = {token[:size] for token in self.whole for size in range(len(token) + 1)}
        pattern, dialect = ("(?s:.+)", "rust") if split is None else (split.pattern, split.dialect)
        pieces = PieceBorders(dfa_for(pattern, dialect))
        borders: Borders[Any] = AddedBorders(served.added, pieces) if served.added else pieces
        self.states = PieceStates(borders, served.characters, served.never)
        self._has_border: dict[Place, bool] = {}
        self.start: Places = frozenset([self.at_border(self.states.start)])

    def after(self, places: Iterable[Place], rest: bytes, *, within: bool = False) -> dict[int, Places]:
        """Return the tokens that can follow, each with the places after it.

        Their bytes and `rest` agree: one begins with the other; with `within`, `rest` with them.
        """
        found: dict[int, Places] = {}
        for place in places:
            for token, reached in self._from(place, rest, within):
                known = found.get(token)
                found[token] = frozenset(reached) if known is None else known.union(reached)
        return found

    @cached_property
    def arrays(self) -> "LastTokens":
        """Return what gives the tokens of `beyond` as arrays, and keeps them. It knows this object's states only."""
        from .last_tokens import LastTokens

        return LastTokens(self)

    def can_end(self, places: Places) -> bool:
        """Return whether the tokens so far are the beginning of some text's encoding."""
        return any(place.last == NO_TOKEN for place in places) or any(map(self._leads_to_a_border, places))

    def beyond(self, places: Places, rest: bytes) -> list[int]:
        """Return the tokens that begin with `rest`, go on, and can follow: a text's encoding begins with them."""
        following = self.after(places, rest).items()
        return [token for token, at in following if len(self.tokens[token]) > len(rest) and self.can_end(at)]

    def at_border(self, state: int) -> Place:
        """Return the place between two pieces, in this state."""
        return Place(state, NO_TOKEN, b"" if self.whole else None)

    def _from(self, place: Place, rest: bytes, within: bool = False) -> Iterator[tuple[int, list[Place]]]:
        """Yield the tokens that can follow one place, of each kind the shortest first."""
        for token, reached in self.reached(place, self.walk(place.state, rest, within=within)):
            if place.last == NO_TOKEN or self.neighbours.fits(place.last, token):
                yield token, reached
        yield from self.from_others(place, rest, within)

    def walk(self, state: int, rest: bytes, *, within: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the tokens made by merges that fit into a piece after `state`, and the state after each."""
        return self._walk(self._trie, state, rest, within=within)

    def reached(self, place: Place, rows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, list[Place]]]:
        """Yield tokens with the places after them, given the states."""
        close = self.states.close
        for token, state in rows:
            piece = self.longer(place.piece, token)
            reached = [Place(state, token, piece)]
            if (closed := close(state)) != DEAD and (piece is None or piece not in self.whole):
                reached.append(self.at_border(closed))
            yield token, reached

    def longer(self, piece: bytes | None, token: int) -> bytes | None:
        """Return the bytes of a piece after one more token, as far as a place has to know them."""
        piece = None if piece is None else piece + self.tokens[token]
        return piece if piece in self.whole_prefixes else None

    def follow(self, place: Place, token: int) -> list[Place]:
        """Return the places after a token that follows one place and isn't an added one; none if it can't."""
        if (state := self.states.read_all(place.state, self.tokens[token])) == DEAD:
            return []
        spelled, found = self.tokens[token], []
        if place.last == NO_TOKEN and self.whole.get(spelled) == token and (closed := self.states.close(state)) != DEAD:
            found.append(self.at_border(closed))
        fits = place.last == NO_TOKEN or self.neighbours.fits(place.last, token)
        if self.merged_ids.get(spelled) == token and fits:  # a token may be both
            found += next(self.reached(place, [(token, state)]))[1]
        return found

    def begins_whole(self, piece: bytes) -> list[int]:
        """Return the tokens with which a piece can be, or become, one that is taken whole."""
        rests = (begun[len(piece) :] for begun in self.whole_prefixes if begun.startswith(piece))
        return [token for rest in rests if (token := self.merged_ids.get(rest)) is not None]

    def from_others(self, place: Place, rest: bytes, within: bool = False) -> Iterator[tuple[int, list[Place]]]:
        """Yield the tokens that no merges make, with the places after them: bytes, whole pieces, added tokens."""
        if rest or not within:
            yield from self._spelled_byte(place.state, rest)
        if place.last == NO_TOKEN:
            for trie, kind in ((self._whole_trie, Token.ORDINARY), (self._added_trie, Token.ADDED)):
                for token, state in self._walk(trie, place.state, rest, kind, within=within):
                    if (closed := self.states.close(state)) != DEAD:
                        yield token, [self.at_border(closed)]

    def _spelled_byte(self, state: int, rest: bytes) -> Iterator[tuple[int, list[Place]]]:
        """Yield the tokens that are a byte of a character which the vocabulary lacks."""
        for byte in rest[:1] or self.served.byte_tokens:
            if (token := self.served.byte_tokens.get(byte)) is None:
                continue
            if (after := self.states.read(state, byte, Token.BYTE)) != DEAD:
                closed = self.states.close(after)
                yield token, [Place(after, token, None)] + ([self.at_border(closed)] if closed != DEAD else [])

    def _walk(
        self, trie: Node, state: int, rest: bytes, kind: Token = Token.ORDINARY, *, within: bool = False
    ) -> Iterator[tuple[int, int]]:
        """Yield the tokens of a trie that fit into a piece after `state`, the shortest first, and the state after each.

        Their bytes and `rest` agree, as for `after`.
        """
        read = self.states.read
        waiting = deque([(trie, state, 0)])
        while waiting:
            node, state, size = waiting.popleft()
            if within and size >= len(rest):
                continue
            for byte in node if size >= len(rest) else rest[size : size + 1]:
                child = node.get(byte)
                if child is None or byte == TOKEN or (after := read(state, byte, kind)) == DEAD:
                    continue
                if (token := child.get(TOKEN)) is not None:
                    yield token, after  # type: ignore[misc]
                waiting.append((child, after, size + 1))

    def _leads_to_a_border(self, place: Place) -> bool:
        """Return whether more tokens can follow until the piece ends; what comes then is free."""
        if place not in self._has_border:
            seen, waiting = {place}, [place]
            while waiting:
                for _, reached in self._from(waiting.pop(), b""):
                    if any(new.last == NO_TOKEN or self._has_border.get(new) for new in reached):
                        self._has_border[place] = True
                        return True
                    more = [new for new in reached if new not in seen and new not in self._has_border]
                    seen.update(more)
                    waiting += more
            self._has_border.update(dict.fromkeys(seen, False))
        return self._has_border[place]


@lru_cache(4)
def valid_tokens(tokenizer: Tokenizer) -> ValidTokens:
    """Return the ValidTokens of a tokenizer, kept for the four used last. Raises PatternError, ModelError."""
    try:
        return ValidTokens(tokenizer)
    except NotRegular as error:
        raise NotRegular(f"this needs a pattern that an automaton runs: {error}") from error
