r"""Compare two split patterns: prove that they cut every text alike, or find a shortest text that they cut differently.

This is a breadth-first walk over all situations that texts can lead to, on both DFAs at once. When a character is read,
the end of the match isn't known yet: `\s+(?!\S)` gives back a space, `a*b|a` reads to the end in vain. So the walk
guesses where each match ends, and continues the searches that would prove a guess wrong: their states must not reach
another match. Each text has exactly one run of right guesses; the texts that differ are those whose runs differ in a
cut.

Cost: the pairs of situations that texts lead to, some hundreds for published patterns, times the kinds of characters.
Chapter: Regex pre-tokenization. Source: Hopcroft and Karp 1971, "A linear algorithm for testing equivalence of finite
automata", for the walk over pairs; Aho, Sethi and Ullman 1986, section 3.8, for matches whose end is known only later.
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
"""The most pairs of situations that a comparison may visit (some 10 s)."""
BEGINNING, BETWEEN = -1, -2
"""Values used instead of a state: at the start of the text; after a character that isn't in a match."""


class Situation(NamedTuple):
    """The situation of one pattern's search between two characters.

    Attributes:
        state: the state of the search whose match continues, BEGINNING, or BETWEEN.
        failing: the states of searches that must find no further match; otherwise a guess was wrong.
    """

    state: int
    failing: frozenset[int]


Kind = tuple[int, int]
"""The class of a character for each of the two patterns."""
Pair = tuple[Situation, Situation, Kind, bool]
"""The situation of each pattern, the kind of the previous character, and whether the cuts have differed yet."""


@dataclass(frozen=True)
class PatternDifference:
    """A shortest text that two patterns cut differently.

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
    """The DFA of a pattern, and whether empty matches cut (in Hugging Face they do, in tiktoken they don't)."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.dfa: DFA = dfa_for(pattern, dialect)
        self.empty_cuts = dialect == "oniguruma"

    def step(self, now: Situation, before: int, kind: int) -> Iterator[tuple[bool, Situation]]:
        """Yield (whether there is a cut before this character, the situation after it) for each guess.

        `before` and `kind` are the classes of the previous character and of this one.
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
        """Return whether all guesses were right if the text ends here."""
        edge = self.dfa.width - 1
        ended = now.state < 0 or self._read(now.state, edge)[0]
        return ended and not any(self._read(state, edge)[0] for state in now.failing)

    def pieces(self, text: str) -> tuple[str, ...]:
        """Return the pieces of a text: the matches and the text between them."""
        cuts = {0, len(text)}
        for start, end in self.dfa.spans(text):
            if start < end or self.empty_cuts:
                cuts |= {start, end}
        order = sorted(cuts)
        return tuple(text[start:end] for start, end in zip(order, order[1:]))


def compare_patterns(
    pattern: str, other: str, dialect: Dialect = "rust", other_dialect: Dialect | None = None
) -> PatternDifference | None:
    r"""Return a shortest text that two regular expressions cut differently, or None if they cut every text alike.

    Pieces are the matches and the text between them. `other_dialect` is by default `dialect`.

    >>> print(compare_patterns(r"\p{N}{1,3}|\p{L}+", r"\p{N}{1,2}|\p{L}+"))
    '000' is cut into ['000'] and ['00', '0']
    >>> compare_patterns(r"\s+(?!\S)|\s|\S+", r"\s+(?=\s|$)|\s|\S+") is None
    True

    Either result is a proof, since the walk covers all situations that texts can lead to. Raises NotRegular if no DFA
    can run a pattern or there are more than `MAX_PAIRS` pairs of situations, and PatternError for a malformed pattern.
    """
    first, second = _Pattern(pattern, dialect), _Pattern(other, other_dialect or dialect)
    text = _shortest(first, second)
    return None if text is None else PatternDifference(text, first.pieces(text), second.pieces(text))


def joint_kinds(first: DFA, second: DFA) -> dict[Kind, str]:
    """Return an example character for each pair of classes that occurs, printable if possible."""
    kinds: dict[Kind, str] = {}
    seen: set[tuple[int, int]] = set()
    for block, rows in enumerate(zip(first.stage1, second.stage1)):
        if rows in seen or 0xD8 <= block < 0xE0:  # no text has surrogates
            continue
        seen.add(rows)
        classes = (table.stage2[row << 8 : (row + 1) << 8] for table, row in zip((first, second), rows))
        for char, pair in zip(map(chr, range(block << 8, (block + 1) << 8)), zip(*classes)):
            if pair not in kinds or (char.isprintable() and not kinds[pair].isprintable()):
                kinds[pair] = char
    return dict(sorted(kinds.items(), key=lambda item: (not item[1].isprintable(), item[1])))


def _shortest(first: _Pattern, second: _Pattern) -> str | None:
    """Return a shortest text with different cuts, by breadth-first search, or None."""
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
