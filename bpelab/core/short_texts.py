"""Short texts of a tokenizer with a normalizer or added tokens: few segments, encoded without making a list of them.

Searching a line for the added tokens that always match takes less than a microsecond; `Pipeline.segments` takes five
for each segment. So the text between two matches is encoded where it lies. Added tokens that need more than their place
(flags, or special tokens that hide them) are left to `Pipeline.segments`.

Chapter: Special tokens. Cost: one search over the text for each kind of added token, and normalizing it.
"""

from __future__ import annotations

from .._support.textio import valid_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ..normalizers import Normalizer
    from ..pretokenizers.base import Preparation
    from ..vocab.added_token_matcher import AddedTokenMatcher
    from ..vocab.special_tokens import SpecialTokens

    Ids = TypeVar("Ids", list[int], bytearray)

MOST_COMPARED = 2_000_000
"""The greatest sum of squared lengths of special tokens that are compared with the other added tokens."""


def matches_stand_alone(original: AddedTokenMatcher, special_names: frozenset[str]) -> bool:
    """Return whether each match of `original` is a token, whatever lies around it.

    It may be none where tokens have flags, and where a special token, which is plain text, hides a part of it: that
    takes a special token that contains an added token, or ends with the beginning of one.

    Cost: the squared lengths of the special tokens; False if they are more than `MOST_COMPARED`.
    """
    if any(token.lstrip or token.rstrip or token.single_word for token in original.tokens.values()):
        return False
    if sum(len(name) ** 2 for name in special_names) > MOST_COMPARED:
        return False
    from bisect import bisect_left  # most tokenizers' first text doesn't need it

    ordered = sorted(original.tokens)

    def begins_token(text: str) -> bool:
        at = bisect_left(ordered, text)
        return at < len(ordered) and ordered[at].startswith(text)

    return not any(
        original.first(name, 0) or any(begins_token(name[at:]) for at in range(len(name))) for name in special_names
    )


def short_text_encoder(
    special: SpecialTokens,
    normalizer: Normalizer | None,
    prepare: Preparation | None,
    encode: Callable[[str], Ids | None],
    make: Callable[[tuple[int, ...]], Ids],
) -> Callable[[str], Ids | None]:
    """Return a function from a text to its ids, which returns None for a text that needs `Pipeline.segments`.

    Special tokens in the text are plain text. `encode` is C's: it returns None for a text that it doesn't support.
    `make` returns ids in the form in which `encode` does.
    """
    original, normalized = special.matchers(normalizer, special=False)
    stand_alone = original is not None and matches_stand_alone(original, special.special_names)

    def encode_segment(text: str) -> Ids | None:
        if normalizer is not None:
            text = normalizer(valid_text(text))
        if normalized is not None and normalized.first(text, 0) is not None:
            return None
        return encode(text if prepare is None else prepare(text, True))

    def encode_short(text: str) -> Ids | None:
        match = None if original is None else original.first(text, 0)
        if original is None or match is None:
            return encode_segment(text)
        if not stand_alone:
            return None
        ids, end = make(()), 0
        while match is not None:
            start, stop, token = match
            if start > end:
                if (segment := encode_segment(text[end:start])) is None:
                    return None
                ids += segment
            ids += make((token.id,))
            end, match = stop, original.first(text, stop)
        if end == len(text):
            return ids
        segment = encode_segment(text[end:])
        return None if segment is None else ids + segment

    return encode_short
