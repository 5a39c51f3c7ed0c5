"""Special tokens: strings with an id of their own, and the question when a text may speak as one.

Text is untrusted. A special token's string inside ordinary text is plain text, cut and merged like any other, unless
the caller says otherwise: `allowed_special` names those that become their id, `disallowed_special` those that are an
error. Where several fit at one place the longest wins.

Chapter: Special tokens, chat templates, injection. Cost: one regular-expression search over the text.
Source: the parameters are tiktoken's (`core.py`), the default is not: there everything is disallowed.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Literal

from .errors import SpecialTokenError

Special = Literal["all"] | Collection[str]


@lru_cache(64)
def _any_of(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name)))))


class SpecialTokens:
    """The special tokens of a tokenizer: name -> id.

    >>> special = SpecialTokens({"<|end|>": 300})
    >>> list(special.split("a<|end|>b"))
    [('a', None), ('<|end|>', 300), ('b', None)]

    Raises SpecialTokenError for an empty name, a negative id, and an id that two names share (unless `aliases`, for
    files that do so: o200k_harmony gives one id to two names; the first of them is the one that is decoded).
    """

    def __init__(self, ids: Mapping[str, int], aliases: bool = False) -> None:
        self.ids = dict(ids)
        self.names: dict[int, str] = {}
        for name, token_id in self.ids.items():
            if not isinstance(name, str) or not name:
                raise SpecialTokenError(f"a special token is a string of at least one character, not {name!r}")
            if isinstance(token_id, bool) or not isinstance(token_id, int) or token_id < 0:
                raise SpecialTokenError(
                    f"the special token {name!r} has the id {token_id!r}: ids are integers from 0 up"
                )
            if token_id in self.names and not aliases:
                raise SpecialTokenError(
                    f"the special tokens {self.names[token_id]!r} and {name!r} have the same id, {token_id}"
                )
            self.names.setdefault(token_id, name)
        self.longest = max(map(len, self.ids), default=0)
        self._everything = frozenset(self.ids)

    def select(self, chosen: Special, parameter: str) -> frozenset[str]:
        """The names that `chosen` stands for. Raises SpecialTokenError for a name that is no special token."""
        if chosen == "all":
            return self._everything
        if isinstance(chosen, str):
            raise SpecialTokenError(f'{parameter} is "all" or a collection of names, not the string {chosen!r}')
        names = frozenset(chosen)
        if unknown := sorted(names - self._everything):
            raise SpecialTokenError(f"{parameter} names {unknown[0]!r}, which is not a special token of this tokenizer")
        return names

    def split(self, text: str, allowed: frozenset[str] | None = None) -> Iterator[tuple[str, int | None]]:
        """Ordinary stretches as (text, None) and special tokens as (name, id), in order; all of them by default."""
        names = self._everything if allowed is None else allowed
        end = 0
        if names:
            for match in _any_of(names).finditer(text):
                if match.start() > end:
                    yield text[end : match.start()], None
                yield match[0], self.ids[match[0]]
                end = match.end()
        if end < len(text):
            yield text[end:], None

    def check(self, text: str, disallowed: frozenset[str]) -> None:
        """Raise SpecialTokenError if a disallowed special token stands in `text`."""
        if disallowed and (match := _any_of(disallowed).search(text)):
            raise SpecialTokenError(
                f"the text holds the special token {match[0]!r} at character {match.start()}. Pass "
                "allowed_special to encode it as one, or disallowed_special=() to encode it as plain text."
            )

    def any_across(self, text: str, cut: int) -> bool:
        """Whether a special token in `text` begins before `cut` and ends after it."""
        if not self.ids:
            return False
        start = max(0, cut - self.longest + 1)
        window = text[start : cut + self.longest - 1]
        return any(m.start() < cut - start < m.end() for m in _any_of(self._everything).finditer(window))
