"""The way of a text that arrives in parts through the steps of a tokenizer, in the order of `pipeline.py`.

Surrogates are joined; disallowed tokens are looked for; then added tokens, the normalizer, the tokens that are found in
normalized text, and the pre-tokenizer, each of which keeps what it can't decide on yet. Chapter: Streaming.
"""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from ..added_tokens import AddedToken
from ..errors import SpecialTokenError
from ..pipeline import Pipeline
from ..textio import valid_text
from .cutting import Cutter
from .held import Chain, add, joined, length
from .normalizing import normalizing
from .searching import Found, Search


@dataclass(slots=True)
class Now:
    """Where a stream is. A push works on a copy, which is kept if nothing went wrong."""

    normalized: tuple[Any, ...]
    surrogate: str = ""
    checked: Found = Search.start
    characters: int = 0  # that were checked
    found: Found = Search.start
    late: Found = Search.start
    opening: Chain = None  # the text so far, where it is needed for the first piece
    given: bool = False  # whether a token or a part was
    inside: bool = False  # whether we are in a part
    is_first: bool = False  # whether it is the first one
    continued: bool = False  # whether pieces of it were given out
    held: Chain = None

    def copy(self) -> "Now":
        """The same place once more; what it points to never changes."""
        return Now(*_FIELDS(self))


_FIELDS = attrgetter(*(field.name for field in fields(Now)))


class Way:
    """The steps of a pipeline. It never changes; where a stream is, `Now` says."""

    def __init__(self, pipeline: Pipeline, allowed: frozenset[str], disallowed: frozenset[str]) -> None:
        def wanted(token: AddedToken) -> bool:
            return not token.special or token.content in allowed

        special, late = pipeline.special, pipeline.special.late_finder(pipeline.normalizer)
        self._pipeline = pipeline
        self._check = Search(special._finder_of(disallowed), lambda token: True)
        self._search = Search(special.raw_finder, wanted)
        self._normalize = normalizing(pipeline.normalizer)
        self._late = None if late is None else Search(late, wanted)
        self._cutter = Cutter(pipeline)
        self._keeps_opening = pipeline.asks_for_first

    def start(self) -> Now:
        """The beginning of a stream."""
        return Now(self._normalize.start)

    def held(self, now: Now) -> str:
        """What is held back, in the order of the text."""
        late = self._late.held(now.late) if self._late is not None else ""
        arrived = self._search.held(now.found) + self._check.held(now.checked) + now.surrogate
        return joined(now.held) + late + self._normalize.held(now.normalized) + arrived

    def push(self, now: Now, text: str, ids: list[int]) -> None:
        """More text; what becomes sure goes to `ids`. Raises SpecialTokenError for a disallowed token."""
        text = now.surrogate + text
        now.surrogate = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = valid_text(text[: len(text) - len(now.surrogate)])
        if self._keeps_opening and not now.given:
            now.opening = add(now.opening, text)
        now.checked, text = self._check.push(now.checked, text)
        self._refuse(now, text)
        now.found, text = self._search.push(now.found, text)
        self._stretches(now, text, ids)

    def finish(self, now: Now, ids: list[int]) -> None:
        """The end of the text; the rest goes to `ids`."""
        if now.surrogate:
            now.surrogate = ""
            self.push(now, "\ufffd", ids)
        rest, now.checked = self._check.held(now.checked), Search.start
        self._refuse(now, rest)
        now.found, text = self._search.push(now.found, rest)
        self._stretches(now, text + self._search.held(now.found), ids)
        self._end_stretch(now, ids)

    def _refuse(self, now: Now, text: str) -> None:
        for start, _, token in self._check.find(text):
            raise SpecialTokenError(
                f"the text holds the special token {token.content!r} at character {now.characters + start}. Pass "
                "allowed_special to encode it as one, or disallowed_special=() to encode it as plain text."
            )
        now.characters += len(text)

    def _stretches(self, now: Now, text: str, ids: list[int]) -> None:
        """Text that is settled as far as tokens go that stand in the text as it was given."""
        for part, token_id in self._search.split(text):
            if token_id is None:
                now.normalized, ordinary = self._normalize.push(now.normalized, part)
                self._normal(now, ordinary, ids)
            else:
                self._end_stretch(now, ids)
                self._token(now, token_id, ids)

    def _end_stretch(self, now: Now, ids: list[int]) -> None:
        rest, now.normalized = self._normalize.finish(now.normalized), self._normalize.start
        self._normal(now, rest, ids)
        if self._late is not None:
            rest, now.late = self._late.held(now.late), Search.start
            self._parts(now, rest, ids)
        self._end_part(now, ids)

    def _normal(self, now: Now, text: str, ids: list[int]) -> None:
        if self._late is None:
            self._part(now, text, ids)
        else:
            now.late, text = self._late.push(now.late, text)
            self._parts(now, text, ids)

    def _parts(self, now: Now, text: str, ids: list[int]) -> None:
        assert self._late is not None
        for part, token_id in self._late.split(text):
            if token_id is None:
                self._part(now, part, ids)
            else:
                self._end_part(now, ids)
                self._token(now, token_id, ids)

    def _token(self, now: Now, token_id: int, ids: list[int]) -> None:
        now.given, now.opening = True, None
        ids.append(token_id)

    def _part(self, now: Now, text: str, ids: list[int]) -> None:
        """More of a part without tokens."""
        if not text:
            return
        if not now.inside:
            now.inside, now.is_first, now.given = True, not now.given, True
        place = self._cutter.place(now.held, text)
        if place is None or not self._enough(now, place):
            now.held = add(now.held, text)
            return
        settled = joined(add(now.held, text[:place]))
        now.held = add(None, text[place:])
        self._pieces(now, settled, ids)

    def _enough(self, now: Now, place: int) -> bool:
        """Whether the first piece has all that comes from the first character, of which a normalizer may make many."""
        first = self._keeps_opening and now.is_first and not now.continued
        return not first or length(now.held) + place >= self._pipeline.from_first(joined(now.opening))

    def _pieces(self, now: Now, text: str, ids: list[int]) -> None:
        if now.continued:
            pieces = self._cutter.more_pieces(text)
        else:
            from_first = self._pipeline.from_first(joined(now.opening)) if now.is_first else 0
            pieces = self._cutter.pieces(text, from_first)
            now.continued, now.opening = True, None
        ids += self._pipeline.ids_of_pieces(pieces)

    def _end_part(self, now: Now, ids: list[int]) -> None:
        if now.held is not None:
            self._pieces(now, joined(now.held), ids)
        now.held, now.inside, now.is_first, now.continued = None, False, False, False
