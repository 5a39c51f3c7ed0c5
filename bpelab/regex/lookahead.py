r"""Patterns that look ahead over several characters, `(?=(\d{3})+(?!\d))`: one scan from the end, then a table.

Whether a look succeeds at a place depends on the text behind that place alone. So the text is read from its end, and
at each place it is noted from which positions of the looks' automaton a match can be reached; what the looks see then
is part of the character's class, and the pattern is run by a table as any other. Cost: linear in the text; sets of
positions are worked out when they are first met. Chapter: Regex pre-tokenization.
"""

from collections.abc import Iterator

from .dfa import DFA, NotRegular
from .regex_dfa import MAX_CLASSES, alphabet, determinized, two_stages
from .regex_nfa import NFA, Operation, build_nfa, targets
from .regex_sets import Dialect
from .regex_syntax import parse

MOST_KNOWN = 20_000
"""Steps that are remembered; then the memory begins anew."""


class AheadDFA:
    """The matches of a pattern with such looks.

    >>> list(AheadDFA(r"\\d+?(?=(\\d{3})+(?!\\d))|\\d+", "rust").spans("1234567 12"))
    [(0, 1), (1, 4), (4, 7), (8, 10)]

    Raises NotRegular for what is beyond this, too, and PatternError for a pattern that is malformed.
    """

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        nfa = build_nfa(parse(pattern, dialect), far=True)
        self._ways = 1 << len(nfa.aheads)
        starts, classes, masks = alphabet(nfa)
        if len(masks) * self._ways > MAX_CLASSES:
            raise NotRegular(f"it tells more than {MAX_CLASSES} kinds of places apart")
        first = len(nfa.sets) - len(nfa.aheads)
        places = [mask | seen << first for mask in masks for seen in range(self._ways)]
        stages = two_stages(starts, classes)
        self._table = determinized(nfa, stages, places)
        self._kinds = DFA(*stages, len(masks), self._table.trans, ())
        self._looks = _Looks(nfa, masks)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """As `DFA.spans`."""
        codes = self._kinds.kinds(text) + bytes([self._kinds.width - 1])
        seen = self._looks.seen(codes)
        return self._table.spans_of(bytes([kind * self._ways + what for kind, what in zip(codes, seen)]))


class _Looks:
    """What the looks see, from the end of a text to its beginning."""

    def __init__(self, nfa: NFA, masks: list[int]) -> None:
        self._masks, self._aheads = masks, nfa.aheads
        self._operations: dict[int, Operation] = {}
        waiting = list(nfa.aheads)
        while waiting:
            at = waiting.pop()
            if at not in self._operations:
                operation = self._operations[at] = nfa.operations[at]
                waiting += targets(operation)
        self._known: dict[tuple[frozenset[int], int, int], tuple[frozenset[int], int]] = {}

    def seen(self, kinds: bytes) -> bytearray:
        """For every place of the text, and its end, the looks that succeed there, as bits."""
        found = bytearray(len(kinds))
        known, after = self._known, frozenset[int]()
        for place in range(len(kinds) - 1, -1, -1):
            key = after, kinds[place], kinds[place - 1]  # before the first character is the edge, as behind the last
            if (step := known.get(key)) is None:
                if len(known) >= MOST_KNOWN:
                    known.clear()
                step = known[key] = self._step(*key)
            after, found[place] = step
        return found

    def _step(self, after: frozenset[int], here: int, behind: int) -> tuple[frozenset[int], int]:
        """The positions that lead to a match from a place, and the looks among them."""
        mask, last = self._masks[here], self._masks[behind]
        reached, size = set[int](), -1
        while len(reached) > size:
            size = len(reached)
            for at, operation in self._operations.items():
                if operation[0] == "match":
                    leads = True
                elif operation[0] == "read":
                    leads = bool(mask & operation[1]) and operation[2] in after
                elif operation[0] == "next":
                    leads = bool(mask & operation[1]) != operation[2] and operation[3] in reached
                elif operation[0] == "last":
                    leads = bool(last & operation[1]) != operation[2] and operation[3] in reached
                else:
                    leads = not reached.isdisjoint(targets(operation))
                if leads:
                    reached.add(at)
        return frozenset(reached), sum((at in reached) << bit for bit, at in enumerate(self._aheads))
