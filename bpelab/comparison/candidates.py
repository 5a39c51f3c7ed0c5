"""Candidate texts and characters that may reveal a difference between two tokenizers.

Two components are likely to disagree on the strings they contain: a character to replace, a delimiter, a token's name.
So the strings in the differing components are tried, alone and among letters and spaces. Then come the tokens of both
vocabularies, since ids differ if only one tokenizer makes a token, and then single characters.

Cost: linear in the vocabularies.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass
from itertools import chain, islice

from ..pretokenizers.split import Split
from ..regex.dfa import NotRegular, dfa_for
from ..regex.equivalence import joint_kinds
from .models import as_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..core.tokenizer import Tokenizer

MOST_TOKENS = 50_000
"""The number of tokens tried from each vocabulary, the shortest first."""
AROUND = ("{}", " {}", "{} ", " {} ", "a{}", "{}a", "a{}a", "a {}", "{} a", "1{}", "_{}", "{}{}", "{} {}")
"""Contexts in which a string is tried."""
COMMON = " a1.\nA'é日"


def strings_of(component: object) -> Iterator[str]:
    """Yield the strings that a component contains, except regular expressions.

    >>> from bpelab.normalizers import Prepend
    >>> list(strings_of(Prepend("▁")))
    ['▁']
    """
    if isinstance(component, str):
        yield component
    elif isinstance(component, tuple | list | frozenset):
        for part in component:
            yield from strings_of(part)
    elif is_dataclass(component) and not isinstance(component, Split):
        regex = getattr(component, "kind", None) == "Regex"
        for field in () if regex else fields(component):
            yield from strings_of(getattr(component, field.name))


def placed(strings: Iterable[str]) -> Iterator[str]:
    """Yield strings, also in lower and upper case, alone and next to letters, digits and spaces."""
    for string in strings:
        for spelled in dict.fromkeys((string, string.lower(), string.upper(), string.title())):
            yield from (around.replace("{}", spelled) for around in AROUND)


def tokens_of(*tokenizers: Tokenizer) -> Iterator[str]:
    """Yield the shortest tokens of each vocabulary, as texts."""
    for tokenizer in tokenizers:
        yield from as_texts(islice(sorted(tokenizer.model.tokens.values(), key=len), MOST_TOKENS))


def with_contexts(tokens: Iterable[str], chars: Iterable[str], most: int = 2_000) -> Iterator[str]:
    """Yield the first tokens with some characters before them, after them, or on both sides."""
    chars = list(chars)
    for token in islice(tokens, most):
        for char in chars:
            yield char + token
            yield token + char
            yield char + token + char


def characters() -> Iterator[str]:
    """Yield the characters of the first two planes, which include most that normalizers change, and some sequences."""
    yield from map(chr, chain(range(0xD800), range(0xE000, 0x20000)))
    yield from (letter + chr(mark) for letter in "aeinouAEO" for mark in range(0x300, 0x370))
    yield from ("\u1100\u1161", "\uac00\u11a8", " a", "a ", " a ", "a  a", "\r\n", "\u0915\u093c")


def frequent_characters(*tokenizers: Tokenizer) -> Counter[str]:
    """Count the characters in the tokens from `tokens_of` that have more than one character."""
    return Counter(chain.from_iterable(token for token in tokens_of(*tokenizers) if len(token) > 1))


def distinguishing_characters(
    first: Split | None, second: Split | None, text: str, frequent: Counter[str]
) -> list[str]:
    """Return the most frequent characters of each kind that occurs in `text`; two patterns define the kinds.

    Returns none if a pattern has no table.
    """
    if first is None or second is None:
        return []
    try:
        one, two = dfa_for(first.pattern, first.dialect), dfa_for(second.pattern, second.dialect)
    except NotRegular:
        return []
    examples = joint_kinds(one, two)
    members: dict[tuple[int, int], list[str]] = {kind: [] for kind in examples}
    for char, _ in frequent.most_common():
        members[one.codes[ord(char)], two.codes[ord(char)]].append(char)
    kinds = [(one.codes[ord(char)], two.codes[ord(char)]) for char in dict.fromkeys(text)]
    return [char for kind in kinds for char in [*members[kind], examples[kind]][:2]]
