"""The streaming pipeline: a tokenizer's steps, for text that arrives in parts, in the order of `core/pipeline.py`.

The steps: join surrogates, check for disallowed tokens, match added tokens, normalize, match the tokens that occur in
normalized text, and pre-tokenize. Each holds back what it can't decide yet. Chapter: Streaming.
"""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from .._support.textio import valid_text
from ..core.pipeline import Pipeline
from ..normalizers.base import stage_of
from ..texts.text_buffer import Chain, add, join, length
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import disallowed_token
from .added_token_search import MatchState, StreamMatcher
from .pre_tokenizing import StreamSplitter


@dataclass(slots=True)
class StreamState:
    """The state of a stream. A push works on a copy, which replaces the state if nothing goes wrong."""

    normalized: tuple[Any, ...]
    surrogate: str = ""
    checked: MatchState = StreamMatcher.start
    characters: int = 0  # checked so far
    raw_match: MatchState = StreamMatcher.start
    normalized_match: MatchState = StreamMatcher.start
    opening: Chain = None  # the text so far, if needed for the first piece
    has_passed_on: bool = False  # whether a token or a segment was passed on
    in_segment: bool = False  # whether a segment is open
    first_segment: bool = False  # whether it is the first segment
    continued: bool = False  # whether pieces of it were returned
    buffered: Chain = None

    def copy(self) -> "StreamState":
        """Return a shallow copy; the fields' values are immutable."""
        return StreamState(*_FIELDS(self))


_FIELDS = attrgetter(*(field.name for field in fields(StreamState)))


class StreamPipeline:
    """The steps of a pipeline. It is immutable; `StreamState` has the state of a stream."""

    def __init__(self, pipeline: Pipeline, allowed: frozenset[str], disallowed: frozenset[str]) -> None:
        def is_allowed(token: AddedToken) -> bool:
            return not token.special or token.content in allowed

        special, normalized_matcher = pipeline.special, pipeline.special.normalized_matcher(pipeline.normalizer)
        self.pipeline = pipeline
        self._check = StreamMatcher(special.matcher_for(disallowed), lambda token: True)
        self._search = StreamMatcher(special.raw_matcher, is_allowed)
        self._normalize = stage_of(pipeline.normalizer)
        self._normalized_search = None if normalized_matcher is None else StreamMatcher(normalized_matcher, is_allowed)
        self._cutter = StreamSplitter(pipeline)
        self._keeps_opening = pipeline.depends_on_position

    def start(self) -> StreamState:
        """Return the initial state of a stream."""
        return StreamState(self._normalize.start)

    def buffered(self, state: StreamState) -> str:
        """Return the text that is held back, in order."""
        in_search = self._normalized_search.buffered(state.normalized_match) if self._normalized_search else ""
        arrived = self._search.buffered(state.raw_match) + self._check.buffered(state.checked) + state.surrogate
        return join(state.buffered) + in_search + self._normalize.buffered(state.normalized) + arrived

    def push(self, state: StreamState, text: str, ids: list[int]) -> None:
        """Process more text and append settled ids to `ids`. Raises SpecialTokenError for a disallowed token."""
        text = state.surrogate + text
        state.surrogate = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = valid_text(text[: len(text) - len(state.surrogate)])
        if self._keeps_opening and not state.has_passed_on:
            state.opening = add(state.opening, text)
        state.checked, text = self._check.push(state.checked, text)
        self._check_disallowed(state, text)
        state.raw_match, text = self._search.push(state.raw_match, text)
        self._feed_raw(state, text, ids)

    def finish(self, state: StreamState, ids: list[int]) -> None:
        """End the text and append the remaining ids to `ids`."""
        if state.surrogate:
            state.surrogate = ""
            self.push(state, "\ufffd", ids)
        rest, state.checked = self._check.buffered(state.checked), StreamMatcher.start
        self._check_disallowed(state, rest)
        state.raw_match, text = self._search.push(state.raw_match, rest)
        self._feed_raw(state, text + self._search.buffered(state.raw_match), ids)
        self._close_normalizer(state, ids)

    def _check_disallowed(self, state: StreamState, text: str) -> None:
        for start, _, token in self._check.find(text):
            raise disallowed_token(token, state.characters + start)
        state.characters += len(text)

    def _feed_raw(self, state: StreamState, text: str, ids: list[int]) -> None:
        """Process text that is settled for tokens matched in unnormalized text."""
        for part, token_id in self._search.split(text):
            if token_id is None:
                state.normalized, ordinary = self._normalize.push(state.normalized, part)
                self._route(state, ordinary, ids)
            else:
                self._close_normalizer(state, ids)
                self._emit(state, token_id, ids)

    def _close_normalizer(self, state: StreamState, ids: list[int]) -> None:
        rest, state.normalized = self._normalize.finish(state.normalized), self._normalize.start
        self._route(state, rest, ids)
        if self._normalized_search is not None:
            rest, state.normalized_match = self._normalized_search.buffered(state.normalized_match), StreamMatcher.start
            self._feed_normalized(state, rest, ids)
        self._close_segment(state, ids)

    def _route(self, state: StreamState, text: str, ids: list[int]) -> None:
        if self._normalized_search is None:
            self._feed_text(state, text, ids)
        else:
            state.normalized_match, text = self._normalized_search.push(state.normalized_match, text)
            self._feed_normalized(state, text, ids)

    def _feed_normalized(self, state: StreamState, text: str, ids: list[int]) -> None:
        assert self._normalized_search is not None
        for part, token_id in self._normalized_search.split(text):
            if token_id is None:
                self._feed_text(state, part, ids)
            else:
                self._close_segment(state, ids)
                self._emit(state, token_id, ids)

    def _emit(self, state: StreamState, token_id: int, ids: list[int]) -> None:
        state.has_passed_on, state.opening = True, None
        ids.append(token_id)

    def _feed_text(self, state: StreamState, text: str, ids: list[int]) -> None:
        """Process more text of a segment without added tokens."""
        if not text:
            return
        if not state.in_segment:
            state.in_segment, state.first_segment, state.has_passed_on = True, not state.has_passed_on, True
        offset = self._cutter.last_boundary(state.buffered, text)
        if offset is None or not self._prefix_complete(state, offset):
            state.buffered = add(state.buffered, text)
            return
        if offset < 0:
            text, offset = join(add(state.buffered, text)), offset + length(state.buffered)
            state.buffered = None
        settled = join(add(state.buffered, text[:offset]))
        state.buffered = add(None, text[offset:])
        self._encode(state, settled, ids)

    def _prefix_complete(self, state: StreamState, offset: int) -> bool:
        """Return whether the first piece has everything from the first character, which a normalizer may expand."""
        first = self._keeps_opening and state.first_segment and not state.continued
        return not first or length(state.buffered) + offset >= self.pipeline.chars_from_first(join(state.opening))

    def _encode(self, state: StreamState, text: str, ids: list[int]) -> None:
        if state.continued:
            ids += self._cutter.more_ids(text)
        else:
            chars_from_first = self.pipeline.chars_from_first(join(state.opening)) if state.first_segment else 0
            ids += self.pipeline.encode_segment(text, chars_from_first)
            state.continued, state.opening = True, None

    def _close_segment(self, state: StreamState, ids: list[int]) -> None:
        if state.buffered is not None:
            self._encode(state, join(state.buffered), ids)
        state.buffered, state.in_segment, state.first_segment, state.continued = None, False, False, False
