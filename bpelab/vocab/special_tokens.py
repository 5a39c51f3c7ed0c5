"""Special tokens: strings with an id of their own, and the rules for when text may become one.

Text is untrusted. A special token's string inside ordinary text is plain text, cut and merged like any other, unless
the caller says otherwise: those in `allowed_special` become their id, those in `disallowed_special` raise an error.
Added tokens that aren't special belong to the vocabulary (runs of spaces, for example) and always match.

Chapter: Special tokens. Cost: one search over the text (see added_token_matcher.py).
Source: the parameters are tiktoken's (`core.py`), the default is not: there everything is disallowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from .._support.fork_safety import fork_guard
from .._support.lazy_property import cached_property
from .._support.read_only_dict import ReadOnlyDict
from .._support.textio import valid_text
from ..errors import SpecialTokenError
from .added_tokens import AddedToken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Literal, Protocol, Self, TypeVar

    from .added_token_matcher import AddedTokenMatcher
    from .added_tokens import Span

    class Sliceable(Protocol):
        """A text that can be sliced: a str, or an aligned string, which tracks its characters' origins."""

        def __getitem__(self, span: slice, /) -> Self: ...

    Special = Literal["all"] | Collection[str]
    Text = TypeVar("Text", bound=Sliceable)

HIGHEST_ID = (1 << 32) - 1
"""The highest id that tokenizer files and arrays of ids can hold."""
ROLES = ("bos", "eos", "pad", "unk")
"""The roles that a special token may have."""
UNCHANGED = "special tokens can't be changed: tokenizer.with_special_tokens(names) returns a new tokenizer"
LONGEST_NAME = 4_096
"""The greatest length of a special token, in characters."""


def _all_valid(names: list[str], ids: list[int], aliases: bool) -> bool:
    """Return whether all names and ids are valid. A fast check of all at once, because a file may have a million."""
    if not names:
        return True
    if set(map(type, names)) != {str} or set(map(type, ids)) != {int}:
        return False
    together = "".join(names)
    return (
        all(names)
        and len(set(names)) == len(names)
        and max(map(len, names)) <= LONGEST_NAME
        and (aliases or len(set(ids)) == len(ids))
        and min(ids) >= 0
        and max(ids) <= HIGHEST_ID
        and valid_text(together) == together
    )


class SpecialTokens:
    """The special and added tokens of a tokenizer: name -> id, or AddedToken objects, which have flags.

    Attributes:
        tokens: every AddedToken.
        ids: name -> id of the special ones.
        names: id -> name of the special ones.
        special_names: the names of the special ones.

    >>> special = SpecialTokens({"<|end|>": 300})
    >>> list(special.split("a<|end|>b", frozenset()))
    [('a<|end|>b', None)]
    >>> list(special.split("a<|end|>b", special.special_names))
    [('a', None), ('<|end|>', 300), ('b', None)]

    Raises SpecialTokenError for a name that is empty, too long or has a lone surrogate, an id below 0 or above
    HIGHEST_ID, and an id or a name that two tokens share. `aliases` allows shared ids for files that have them:
    o200k_harmony gives one id to two names, and decoding returns the first.
    """

    def __init__(self, tokens: Mapping[str, int] | Iterable[AddedToken], aliases: bool = False) -> None:
        if isinstance(tokens, Mapping):
            tokens = [AddedToken(name, token_id) for name, token_id in tokens.items()]
        self.tokens = tuple(tokens)
        names, ids = [token.content for token in self.tokens], [token.id for token in self.tokens]
        if not _all_valid(names, ids, aliases):
            self._refuse(aliases)
        self.contents: dict[int, str] = dict(zip(ids, names))
        if len(self.contents) < len(ids):  # the first alias wins
            self.contents |= dict(zip(reversed(ids), reversed(names)))
        self.ids = ReadOnlyDict({token.content: token.id for token in self.tokens if token.special}, UNCHANGED)
        self.names = {token_id: name for token_id, name in self.contents.items() if name in self.ids}
        self.longest = max((len(token.content) for token in self.tokens), default=0)
        self.special_names = frozenset(self.ids)
        self._all_special = all(token.special for token in self.tokens)
        # If several have the same normalized text, the first special one wins, or else the first one.
        self._normalized = sorted((t for t in self.tokens if t.normalized), key=lambda token: not token.special)
        self._normalized_matcher = lru_cache(4)(self._make_normalized_matcher)
        self._always_matching = lru_cache(4)(self._make_always_matching)
        self.matcher_for = lru_cache(4)(self._make_matcher)

    def _refuse(self, aliases: bool) -> None:
        """Raise SpecialTokenError for the first invalid token."""
        contents: dict[int, str] = {}
        seen: set[str] = set()
        for token in self.tokens:
            name, token_id = token.content, token.id
            if not isinstance(name, str) or not name:
                raise SpecialTokenError(f"a special token is a string of at least one character, not {name!r}")
            if isinstance(token_id, bool) or not isinstance(token_id, int) or token_id < 0:
                raise SpecialTokenError(
                    f"the special token {name!r} has the id {token_id!r}: ids are integers from 0 up"
                )
            if token_id > HIGHEST_ID:
                raise SpecialTokenError(f"the special token {name!r} has the id {token_id}, above {HIGHEST_ID}")
            if len(name) > LONGEST_NAME:
                raise SpecialTokenError(
                    f"the special token {name[:40]!r}... has {len(name):,} characters; it may have {LONGEST_NAME:,}"
                )
            if valid_text(name) != name:
                raise SpecialTokenError(f"the special token {name!r} has a lone surrogate, which no file can hold")
            if token_id in contents and not aliases:
                raise SpecialTokenError(
                    f"the special tokens {contents[token_id]!r} and {name!r} have the same id, {token_id}"
                )
            if name in seen:
                raise SpecialTokenError(f"the special token {name!r} is there twice")
            seen.add(name)
            contents.setdefault(token_id, name)

    @cached_property
    def raw_matcher(self) -> AddedTokenMatcher:
        """Return the matcher of the tokens that match the original text."""
        return _matcher((token.content, token) for token in self.tokens if not token.normalized)

    def _make_normalized_matcher(self, normalize: Callable[[str], str] | None) -> AddedTokenMatcher:
        return _matcher((normalize(t.content) if normalize else t.content, t) for t in self._normalized)

    def _make_matcher(self, names: frozenset[str]) -> AddedTokenMatcher:
        return _matcher((token.content, token) for token in self.tokens if token.content in names)

    def __reduce__(self) -> tuple[object, ...]:
        return SpecialTokens, (self.tokens, True)

    def select(self, names: Special, parameter: str) -> frozenset[str]:
        """Return the names that `names` stands for. Raises SpecialTokenError for a name that isn't a special token."""
        if names == "all":
            return self.special_names
        if isinstance(names, str):
            raise SpecialTokenError(f'{parameter} is "all" or a collection of names, not the string {names!r}')
        if not isinstance(names, Iterable):
            raise TypeError(f'{parameter} is "all" or a collection of names, () for none, not {names!r}')
        names = frozenset(names)
        if unknown := sorted(names - self.special_names):
            raise SpecialTokenError(f"{parameter} names {unknown[0]!r}, which is not a special token of this tokenizer")
        return names

    def check_text(
        self, text: str, allowed_special: Special, disallowed_special: Special
    ) -> tuple[str, frozenset[str]]:
        """Return `text` without lone surrogates, and the names of the special tokens that may occur in it.

        Raises SpecialTokenError for a name that isn't a special token, and if a disallowed one occurs.
        """
        text = valid_text(text)
        allowed = self.select(allowed_special, "allowed_special")
        self.check(text, self.select(disallowed_special, "disallowed_special") - allowed)
        return text, allowed

    def split(
        self,
        text: Text,
        allowed: frozenset[str],
        normalizer: Callable[[str], str] | None = None,
        normalize: Callable[[Text], Text] | None = None,
    ) -> Iterator[tuple[Text, int | None]]:
        """Yield ordinary segments as (text, None) and added tokens as (text, id), in order.

        Special tokens match only if they are in `allowed`; other added tokens always match. Ordinary text is
        normalized, and then searched for the tokens that match normalized text. `text` is a str, or another text that
        can be sliced and has a str; `normalize` then does to it what `normalizer` does to a str.
        """
        for start, stop, token_id in self.raw_spans(str(text), allowed):
            ordinary = text[start:stop]
            if token_id is not None:
                yield ordinary, token_id
                continue
            if normalizer is not None:
                ordinary = (normalize or normalizer)(ordinary)  # type: ignore[arg-type,assignment]
            for begin, end, late_id in self.normalized_spans(str(ordinary), allowed, normalizer):
                yield ordinary[begin:end], late_id

    def raw_spans(self, text: str, allowed: frozenset[str]) -> Iterator[Span]:
        """Yield the spans of the tokens that match the original text, and of the segments between them."""
        if allowed or not self._all_special:
            yield from self.raw_matcher.spans(text, _is_allowed(allowed))
        elif text:
            yield 0, len(text), None

    def normalized_spans(
        self, text: str, allowed: frozenset[str], normalize: Callable[[str], str] | None
    ) -> Iterator[Span]:
        """Yield the spans of the tokens that match normalized text, and of the segments between them."""
        if self._normalized and (allowed or not self._all_special):
            yield from self._normalized_matcher(normalize).spans(text, _is_allowed(allowed))
        elif text:
            yield 0, len(text), None

    def normalized_matcher(self, normalize: Callable[[str], str] | None) -> AddedTokenMatcher | None:
        """Return the matcher of the tokens that match normalized text, or None if there are no such tokens."""
        return self._normalized_matcher(normalize) if self._normalized else None

    def matchers(
        self, normalize: Callable[[str], str] | None, special: bool
    ) -> tuple[AddedTokenMatcher | None, AddedTokenMatcher | None]:
        """Return the matchers for original and for normalized text, or None; without `special`, those of other tokens.

        Tokens that aren't special always match; where no special one is allowed, these are all that can.
        """
        return (self.raw_matcher, self.normalized_matcher(normalize)) if special else self._always_matching(normalize)

    def _make_always_matching(
        self, normalize: Callable[[str], str] | None
    ) -> tuple[AddedTokenMatcher | None, AddedTokenMatcher | None]:
        """Return the matchers of tokens that aren't special, for the original and the normalized text, or None."""
        added = [token for token in self.tokens if not token.special]
        original = [(token.content, token) for token in added if not token.normalized]
        late = [(normalize(t.content) if normalize else t.content, t) for t in added if t.normalized]
        return _matcher(original) if original else None, _matcher(late) if late else None

    def check(self, text: str, disallowed: frozenset[str]) -> None:
        """Raise SpecialTokenError if a disallowed special token occurs in `text`."""
        if not disallowed:
            return
        for start, _, token in self.matcher_for(disallowed).find(text, lambda token: True):
            raise disallowed_token(token, start)

    def may_cross(self, text: str, cut: int) -> bool:
        """Return whether a token in `text` could start before `cut` and end after it.

        That includes tokens hidden by another one, since that one may itself be hidden by an earlier token.
        """
        if not self.tokens:
            return False
        start = max(0, cut - self.longest + 1)
        window, offset = text[start : cut + self.longest - 1], cut - start
        matcher, position = self.matcher_for(frozenset(token.content for token in self.tokens)), 0
        while (found := matcher.first(window, position)) is not None and found[0] < offset:
            if found[1] > offset:
                return True
            position = found[0] + 1
        return False


def disallowed_token(token: AddedToken, at: int) -> SpecialTokenError:
    """Return the error for a disallowed special token at character `at` of a text."""
    return SpecialTokenError(
        f"the text holds the special token {token.content!r} at character {at}. Pass allowed_special to encode it as "
        "one, or disallowed_special=() to encode it as plain text."
    )


def _matcher(tokens: Iterable[tuple[str, AddedToken]]) -> AddedTokenMatcher:
    with fork_guard:  # imported on first use: most texts need no search
        from .added_token_matcher import AddedTokenMatcher
    return AddedTokenMatcher(tokens)


def _is_allowed(allowed: frozenset[str]) -> Callable[[AddedToken], bool]:
    return lambda token: not token.special or token.content in allowed
