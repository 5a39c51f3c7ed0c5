"""Which tokens can come next: those with which the ids so far are still the beginning of some text's encoding.

Inside a piece a token must be compatible with the one before it, since the encoding of a piece is the only sequence in
which all neighbours are (`encoders/trie.py`); no token crosses a piece's border, and the bytes of all are UTF-8
(`byte_states.py`). A token that no merges make is valid only as a whole piece, of a model that takes those first
(`ignore_merges`), and then no other tokens spell that piece.

Cost: a walk through the part of the trie that goes on from the given bytes; all of it if none are given.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ..core.tokenizer import Tokenizer
from ..encoders.trie import TOKEN, Node, TrieEncoder, build_trie
from ..errors import ModelError
from ..model.merge_recovery import compatible
from ..regex.dfa import NotRegular, dfa_for
from .byte_states import DEAD, PieceStates
from .piece_borders import PieceBorders

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
        check_served(tokenizer)
        model, split = tokenizer.model, tokenizer.pipeline.split
        self.tokens = model.tokens
        self.encoder = TrieEncoder(model)
        unreachable = model.recovered_merges.unreachable if model.ignore_merges else ()
        self.whole = {model.tokens[token]: token for token in unreachable if model.tokens[token]}
        self._whole_trie = build_trie(self.whole)[0]
        self.whole_prefixes = {token[:size] for token in self.whole for size in range(len(token) + 1)}
        pattern, dialect = ("(?s:.+)", "rust") if split is None else (split.pattern, split.dialect)
        self.states = PieceStates(PieceBorders(dfa_for(pattern, dialect)))
        self._has_border: dict[Place, bool] = {}
        self.start: Places = frozenset([self.at_border(self.states.start)])

    def after(self, places: Iterable[Place], rest: bytes) -> dict[int, Places]:
        """Return the tokens that can follow, each with the places after it.

        Their bytes and `rest` agree: one begins with the other.
        """
        found: dict[int, Places] = {}
        for place in places:
            for token, reached in self._from(place, rest):
                known = found.get(token)
                found[token] = frozenset(reached) if known is None else known.union(reached)
        return found

    def can_end(self, places: Places) -> bool:
        """Return whether the tokens so far are the beginning of some text's encoding."""
        return any(place.last == NO_TOKEN for place in places) or any(map(self._leads_to_a_border, places))

    def at_border(self, state: int) -> Place:
        """Return the place between two pieces, in this state."""
        return Place(state, NO_TOKEN, b"" if self.whole else None)

    def follow(self, place: Place, token: int) -> list[Place]:
        """Return the places after a token that follows one place; none if it can't."""
        state = self.states.read_all(place.state, self.tokens[token])
        if state == DEAD:
            return []
        if self.tokens[token] in self.whole:
            closed = self.states.close(state) if place.last == NO_TOKEN else DEAD
            return [] if closed == DEAD else [self.at_border(closed)]
        return self._reached(place, token, state) if self.compatible(place.last, token) else []

    def compatible(self, last: int, token: int) -> bool:
        """Return whether a token can follow the one before it, in the same piece; after NO_TOKEN each can."""
        encoder = self.encoder
        return last == NO_TOKEN or compatible(last, token, encoder.splits, encoder.rank_of, encoder.merged)

    def longer(self, piece: bytes | None, token: int) -> bytes | None:
        """Return the bytes of a piece after one more token, as far as a place has to know them."""
        piece = None if piece is None else piece + self.tokens[token]
        return piece if piece in self.whole_prefixes else None

    def _reached(self, place: Place, token: int, state: int) -> list[Place]:
        """Return the places after a compatible token, with whose bytes the state is `state`."""
        piece = self.longer(place.piece, token)
        reached = [Place(state, token, piece)]
        if (closed := self.states.close(state)) != DEAD and (piece is None or piece not in self.whole):
            reached.append(self.at_border(closed))
        return reached

    def _from(self, place: Place, rest: bytes) -> Iterator[tuple[int, list[Place]]]:
        """Yield the tokens that can follow one place, the shortest first."""
        for token, state in self._walk(self.encoder.trie, place.state, rest):
            if self.compatible(place.last, token):
                yield token, self._reached(place, token, state)
        if place.last == NO_TOKEN and self.whole:
            for token, state in self._walk(self._whole_trie, place.state, rest):
                if (closed := self.states.close(state)) != DEAD:
                    yield token, [self.at_border(closed)]

    def _walk(self, trie: Node, state: int, rest: bytes) -> Iterator[tuple[int, int]]:
        """Yield the tokens of a trie that fit into a piece after `state`, the shortest first, and the state after each.

        Their bytes and `rest` agree.
        """
        read = self.states.read
        waiting = deque([(trie, state, 0)])
        while waiting:
            node, state, size = waiting.popleft()
            for byte in node if size >= len(rest) else rest[size : size + 1]:
                child = node.get(byte)
                if child is None or byte == TOKEN or (after := read(state, byte)) == DEAD:
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


def check_served(tokenizer: Tokenizer) -> None:
    """Raise ModelError unless a tokenizer's ids are decided by one pattern and merges of bytes."""
    spec, pipeline, need = tokenizer.spec, tokenizer.pipeline, "covers and constraints need"
    if not tokenizer.model.is_byte_level:
        raise ModelError(f"{need} a model whose initial symbols are the 256 bytes, and this one has others")
    if spec.normalizer is not None:
        raise ModelError(f"{need} a tokenizer without a normalizer, which gives different texts the same ids")
    if (added := next((token for token in spec.special_tokens.tokens if not token.special), None)) is not None:
        raise ModelError(f"{need} a text to be all pieces, and the added token {added.content!r} is found first")
    if spec.pre_tokenizer is not None and pipeline.split is None:
        raise ModelError(f"{need} a pre-tokenizer that is one pattern, not {spec.pre_tokenizer!r:.200}")
    if not TrieEncoder.supports(tokenizer.model):
        raise ModelError(f"{need} merges in which every token ranks after its parts")


@lru_cache(4)
def valid_tokens(tokenizer: Tokenizer) -> ValidTokens:
    """Return the ValidTokens of a tokenizer, kept for the four used last. Raises PatternError, ModelError."""
    try:
        return ValidTokens(tokenizer)
    except NotRegular as error:
        raise NotRegular(f"covers and constraints need a pattern that an automaton runs: {error}") from error
