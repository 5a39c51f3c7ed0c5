r"""Compare two split patterns: they cut every text alike, or this is the shortest text that they cut differently.

A walk over all that texts can lead to, breadth first, on the two patterns' DFAs at once. What a search will find isn't
known when a character is read: `\s+(?!\S)` gives back a space, `a*b|a` reads to the end in vain. So the walk guesses
where each match ends, and carries on the searches that would prove a guess wrong: states from which no match may be
reached any more. Each text has one run of right guesses; those that differ in a cut are the texts that differ.

Cost: the pairs of situations that texts lead to, some hundreds for published patterns, times the kinds of characters.
Chapter: Regex pre-tokenization. Source: Hopcroft and Karp 1971, "A linear algorithm for testing equivalence of finite
automata", for the walk over pairs; Aho, Sethi and Ullman 1986, section 3.8, for matches that are known later.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .dfa import DFA, NotRegular, dfa_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .charsets import Dialect

MAX_PAIRS = 300_000
"""The most pairs of situations that a comparison may go through (some 10 s)."""
BEGINNING, BETWEEN = -1, -2
"""Instead of the state of a search: at the beginning of the text; after a character that no match has taken."""


class Situation(NamedTuple):
    """Where one pattern is between two characters.

    Attributes:
        state: of the search whose match goes on, BEGINNING, or BETWEEN.
        failing: the states of searches that must find nothing more, for else a guess was wrong.
    """

    state: int
    failing: frozenset[int]


Kind = tuple[int, int]
"""The class of a character for each of the two patterns."""
Pair = tuple[Situation, Situation, Kind, bool]
"""A situation of each pattern, the kind of the character before, and whether a cut has differed already."""


@dataclass(frozen=True)
class PatternDifference:
    """A text that two patterns cut differently, as short as there is one.

    Attributes:
        text: the text.
        pieces, other_pieces: the pieces that each pattern cuts it into.
    """

    text: str
    pieces: tuple[str, ...]
    other_pieces: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text!r} is cut into {list(self.pieces)!r} and {list(self.other_pieces)!r}"


class _Pattern:
    """The DFA of a pattern, and whether an empty match cuts, as Hugging Face's do and tiktoken's don't."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.dfa: DFA = dfa_for(pattern, dialect)
        self.empty_cuts = dialect == "oniguruma"

    def step(self, now: Situation, before: int, kind: int) -> Iterator[tuple[bool, Situation]]:
        """Yield (whether there is a cut before this character, the situation after it) for each guess.

        `before` and `kind` are the classes of the character before and of this one.
        """
        trans, width = self.dfa.trans, self.dfa.width
        failing = set()
        for state in now.failing:
            matched, then = self._read(state, kind)
            if matched:
                return
            failing.add(then)
        apart = now.state != BETWEEN
        if now.state >= 0:
            matched, then = self._read(now.state, kind)
            if then:
                yield False, Situation(then, frozenset(failing - {0}))
            if not matched:
                return
            failing.add(then)
        step = trans[self.dfa.entries[before] * width + kind]
        then, empty = step >> 1, bool(step & 1)
        if then:
            yield True, Situation(then, frozenset(failing - {0}))
        yield apart or (empty and self.empty_cuts), Situation(BETWEEN, frozenset(failing | {then}) - {0})

    def _read(self, state: int, kind: int) -> tuple[bool, int]:
        step = self.dfa.trans[state * self.dfa.width + kind]
        return bool(step & 1), step >> 1

    def may_end(self, now: Situation) -> bool:
        """Whether all guesses were right if the text ends here."""
        edge = self.dfa.width - 1
        ended = now.state < 0 or self._read(now.state, edge)[0]
        return ended and not any(self._read(state, edge)[0] for state in now.failing)

    def pieces(self, text: str) -> tuple[str, ...]:
        """Return the pieces of a text: the matches, and what lies between them."""
        cuts = {0, len(text)}
        for start, end in self.dfa.spans(text):
            if start < end or self.empty_cuts:
                cuts |= {start, end}
        order = sorted(cuts)
        return tuple(text[start:end] for start, end in zip(order, order[1:]))


def compare_patterns(
    pattern: str, other: str, dialect: Dialect = "rust", other_dialect: Dialect | None = None
) -> PatternDifference | None:
    r"""Return a shortest text that two regular expressions cut differently; None if they cut every text alike.

    Pieces are the matches and what lies between them. `other_dialect` is by default `dialect`.

    >>> print(compare_patterns(r"\p{N}{1,3}|\p{L}+", r"\p{N}{1,2}|\p{L}+"))
    '000' is cut into ['000'] and ['00', '0']
    >>> compare_patterns(r"\s+(?!\S)|\s|\S+", r"\s+(?=\s|$)|\s|\S+") is None
    True

    It is a proof either way, by a walk over all situations that texts can lead to. Raises NotRegular for a pattern that
    no table can run, and where there are more than `MAX_PAIRS` pairs of situations; PatternError for a malformed one.
    """
    first, second = _Pattern(pattern, dialect), _Pattern(other, other_dialect or dialect)
    text = _shortest(first, second)
    return None if text is None else PatternDifference(text, first.pieces(text), second.pieces(text))


def joint_kinds(first: DFA, second: DFA) -> dict[Kind, str]:
    """Return a character for each pair of classes that some character has, printable ones first."""
    kinds: dict[Kind, str] = {}
    seen: set[tuple[int, int]] = set()
    for block, rows in enumerate(zip(first.stage1, second.stage1)):
        if rows in seen or 0xD8 <= block < 0xE0:  # surrogates are in no text
            continue
        seen.add(rows)
        classes = (table.stage2[row << 8 : (row + 1) << 8] for table, row in zip((first, second), rows))
        for char, pair in zip(map(chr, range(block << 8, (block + 1) << 8)), zip(*classes)):
            if pair not in kinds or (char.isprintable() and not kinds[pair].isprintable()):
                kinds[pair] = char
    return dict(sorted(kinds.items(), key=lambda item: (not item[1].isprintable(), item[1])))


def _shortest(first: _Pattern, second: _Pattern) -> str | None:
    """Return a shortest text with different cuts, breadth first; None if there is none."""
    kinds = joint_kinds(first.dfa, second.dfa)
    looks_behind = any(len(set(it.dfa.entries)) > 1 for it in (first, second))
    edge = first.dfa.width - 1, second.dfa.width - 1
    begin = Situation(BEGINNING, frozenset())
    start = begin, begin, edge, False
    origins: dict[Pair, tuple[Pair, str] | None] = {start: None}
    waiting = [start]
    for pair in waiting:
        now, other_now, before, differed = pair
        for kind, char in kinds.items():
            ways = product(first.step(now, before[0], kind[0]), second.step(other_now, before[1], kind[1]))
            for (cut, then), (other_cut, other_then) in ways:
                differs = differed or cut != other_cut
                reached = then, other_then, kind if looks_behind else edge, differs
                if reached in origins:
                    continue
                origins[reached] = pair, char
                if differs and first.may_end(then) and second.may_end(other_then):
                    return _text_of(origins, reached)
                waiting.append(reached)
        if len(waiting) > MAX_PAIRS:
            raise NotRegular(f"the patterns can't be compared: texts lead to more than {MAX_PAIRS:,} situations")
    return None


def _text_of(origins: dict[Pair, tuple[Pair, str] | None], reached: Pair) -> str:
    text = ""
    while (step := origins[reached]) is not None:
        reached, text = step[0], step[1] + text
    return text
