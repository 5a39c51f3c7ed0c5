r"""Families of split patterns whose pieces can be found by arithmetic on bit masks (`bit_rules.py`).

Nearly all published split patterns are variations of two, GPT-2's and cl100k's: they differ in six parameters, the
fields of `Family`. A pattern's DFA decides its family, so any spelling works. Only two things count: what the DFA does
with ASCII, and whether any character at all can still lead to a match. The rules rely on nothing else, so a pattern
that differs only on other characters (Qwen 3.5's on marks) is in the same family.

A table holds the hashes of these automata. It has a row only for automata whose pieces the rules provably find:
`tests/regex/test_pattern_families.py` runs the proof for every row. Chapter: Native code.
"""

from __future__ import annotations

from collections import namedtuple

from .._support.light_hash import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dfa import DFA

NO_CONTRACTIONS, SMALL_BEFORE_WORDS, BEFORE_WORDS, AFTER_WORDS = range(4)
"""How contractions (`'s`, `'ll` ...) are cut: not; as pieces before words, lower case only or any case; after words."""


class Family(namedtuple("Family", "any_prefix digits lines after_punctuation contractions cased")):
    r"""The parameters of a family of split patterns: six small integers, in the order in which C takes them.

    Attributes:
        any_prefix: 1 if any character except a line break, a letter or a digit may precede the letters of a word
            (`[^\r\n\p{L}\p{N}]?`); 0 if only a space may, before letters and before digits (` ?\p{L}+| ?\p{N}+`).
        digits: the most digits in a piece; 0 for any number of them.
        lines: 1 if white space up to its last line break is a piece (`\s*[\r\n]+`); else 0.
        after_punctuation: what belongs to the punctuation before it: 0 nothing, 1 line breaks (`[\r\n]*`), 2 line
            breaks and slashes (`[\r\n/]*`).
        contractions: NO_CONTRACTIONS, SMALL_BEFORE_WORDS, BEFORE_WORDS or AFTER_WORDS.
        cased: 1 if an upper-case letter after a lower-case one starts a word; else 0.
    """

    __slots__ = ()
    any_prefix: int
    digits: int
    lines: int
    after_punctuation: int
    contractions: int
    cased: int


_GPT2 = Family(0, 0, 0, 0, SMALL_BEFORE_WORDS, 0)
_CL100K = Family(1, 3, 1, 1, BEFORE_WORDS, 0)
_O200K = Family(1, 3, 1, 2, AFTER_WORDS, 1)
FAMILIES = {
    "gpt2": _GPT2,
    "cl100k": _CL100K,  # Llama 3's pattern too, which differs only where white space ends a text
    "qwen2": _CL100K._replace(digits=1),
    "o200k": _O200K,
    "tekken": _O200K._replace(digits=1, contractions=NO_CONTRACTIONS),
    "youtu": _O200K._replace(digits=1),
    "kimi-k2": _O200K._replace(after_punctuation=1),
    "kimi-k2 in llama.cpp": _O200K._replace(after_punctuation=1, cased=0),
    "minicpm5": _CL100K._replace(digits=0),
    "seed-coder": _CL100K._replace(digits=1, after_punctuation=0),
    "ufakzeka": _CL100K._replace(digits=1, contractions=NO_CONTRACTIONS),
}
"""The families, named after a pattern in `patterns.py` or a pre-tokenizer of llama.cpp."""

MAX_STATES = 127
"""The most states that an automaton of a family has."""

AUTOMATA = {
    "b5ba253a258d4426": "gpt2",
    "3cc984c09e5bd577": "cl100k",
    "d85cc5abc12c24ec": "cl100k",  # Llama 3's
    "b681aeecd40cd7c4": "qwen2",
    "2e53b2f28b978ed6": "qwen2",  # Ling's, with possessive repetitions
    "16fffaa3a3e9fa5f": "o200k",
    "cbfe701335a4c059": "tekken",
    "df70922c786c95dc": "youtu",
    "c2b426c899babcff": "kimi-k2",
    "ce1b604bf2519b3e": "kimi-k2 in llama.cpp",
    "63ec8dce52a26361": "minicpm5",
    "4d227de331c4df3e": "seed-coder",
    "b37063b82b2331e8": "ufakzeka",
}
"""A dict from the first 16 digits of an `ascii_automaton`'s SHA-256 to the name of its family."""


def family_of(dfa: DFA) -> Family | None:
    r"""Return the family of the pattern that was compiled to `dfa`, or None. Cost: a millisecond.

    >>> from bpelab.regex.dfa import dfa_for
    >>> family_of(dfa_for(r"'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s"))
    Family(any_prefix=0, digits=0, lines=0, after_punctuation=0, contractions=1, cased=0)
    """
    name = AUTOMATA.get(automaton_hash(dfa))
    return FAMILIES[name] if name else None


def automaton_hash(dfa: DFA) -> str:
    """Return the key of `dfa` in AUTOMATA, or "" if it has lookbehind or too many states."""
    if len(set(dfa.entries)) > 1 or len(dfa.trans) > MAX_STATES * dfa.width:
        return ""
    return sha256(ascii_automaton(dfa)).hex()[:16]


def ascii_automaton(dfa: DFA) -> bytes:
    """Return the restriction of `dfa` to ASCII, minimized, with states numbered in the order they are reached.

    Each state has 129 bytes: for every character, twice the next state, plus 1 if a match ends before it; at the end,
    whether a match ends at the end of the text. State 0 ends a search: no character, ASCII or not, can lead to a match.
    State 1 is the initial one. `dfa` has at most MAX_STATES states and no lookbehind.
    """
    width, entry = dfa.width, dfa.entries[0]
    classes = dfa.stage2[dfa.stage1[0] << 8 :][:128]
    columns = list(dict.fromkeys(classes))
    rows = [dfa.trans[at : at + width] for at in range(0, len(dfa.trans), width)]
    parts = [0] + [1] * (len(rows) - 1)
    while True:  # split the parts until all states in a part are equivalent (Moore 1956)
        keys: dict[tuple[int, ...], int] = {}
        finer = [
            keys.setdefault(
                (part, row[-1] & 1, *[parts[row[column] >> 1] << 1 | row[column] & 1 for column in columns]), len(keys)
            )
            for part, row in zip(parts, rows)
        ]
        if len(keys) == len(set(parts)):
            break
        parts = finer
    numbers, order, automaton = {parts[0]: 0, parts[entry]: 1}, [0, entry], b""
    for state in order:
        steps = bytearray(256)
        for column in columns:
            target, matched = rows[state][column] >> 1, rows[state][column] & 1
            if parts[target] not in numbers:
                numbers[parts[target]] = len(order)
                order.append(target)
            steps[column] = numbers[parts[target]] << 1 | matched
        automaton += classes.translate(steps) + bytes([rows[state][-1] & 1])
    return automaton
