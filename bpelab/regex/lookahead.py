r"""Lookaheads over several characters, `(?=(\d{3})+(?!\d))`: one backward scan, then a DFA.

Whether a lookahead succeeds at an offset depends only on the text after that offset. So the text is scanned from its
end, recording at each offset from which positions of the lookaheads' NFA a match can be reached. The lookaheads that
succeed then become part of the character's class, and the pattern runs on a DFA like any other. Cost: linear in the
text; sets of positions are computed on first use. Chapter: Regex pre-tokenization.
"""

from collections.abc import Iterator

from .charsets import Dialect
from .dfa import DFA, NotRegular
from .dfa_construction import MAX_CLASSES, alphabet, determinize, two_stages
from .nfa import NFA, Operation, build_nfa, targets
from .parser import parse

MOST_KNOWN = 20_000
"""The most memoized steps; when full, the memo is cleared."""


class AheadDFA:
    """Finds the matches of a pattern with lookaheads over several characters.

    >>> list(AheadDFA(r"\\d+?(?=(\\d{3})+(?!\\d))|\\d+", "rust").spans("1234567 12"))
    [(0, 1), (1, 4), (4, 7), (8, 10)]

    Raises NotRegular if this can't run the pattern either, and PatternError if it is malformed.
    """

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        nfa = build_nfa(parse(pattern, dialect), far=True)
        self._ways = 1 << len(nfa.aheads)
        starts, classes, masks = alphabet(nfa)
        if len(masks) * self._ways > MAX_CLASSES:
            raise NotRegular(f"it distinguishes more than {MAX_CLASSES} kinds of positions")
        first = len(nfa.sets) - len(nfa.aheads)
        offsets = [mask | seen << first for mask in masks for seen in range(self._ways)]
        stages = two_stages(starts, classes)
        self._table = determinize(nfa, stages, offsets)
        self._kinds = DFA(*stages, len(masks), self._table.trans, ())
        self._looks = _Looks(nfa, masks)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate as `DFA.spans` does."""
        codes = self._kinds.kinds(text) + bytes([self._kinds.width - 1])
        seen = self._looks.seen(codes)
        return self._table.spans_of(bytes([kind * self._ways + what for kind, what in zip(codes, seen)]))


class _Looks:
    """Evaluates the lookaheads from the end of a text to its start."""

    def __init__(self, nfa: NFA, masks: list[int]) -> None:
        self._masks, self._aheads = masks, nfa.aheads
        self._operations: dict[int, Operation] = {}
        waiting = list(nfa.aheads)
        while waiting:
            at = waiting.pop()
            if at not in self._operations:
                operation = self._operations[at] = nfa.operations[at]
                waiting += targets(operation)
        self._cache: dict[tuple[frozenset[int], int, int], tuple[frozenset[int], int]] = {}

    def seen(self, kinds: bytes) -> bytearray:
        """Return, for every offset including the end, the lookaheads that succeed there as a bit mask."""
        found = bytearray(len(kinds))
        cache, after = self._cache, frozenset[int]()
        for offset in range(len(kinds) - 1, -1, -1):
            key = after, kinds[offset], kinds[offset - 1]  # kinds[-1], before the first character, is the edge
            if (step := cache.get(key)) is None:
                if len(cache) >= MOST_KNOWN:
                    cache.clear()
                step = cache[key] = self._step(*key)
            after, found[offset] = step
        return found

    def _step(self, after: frozenset[int], here: int, behind: int) -> tuple[frozenset[int], int]:
        """Return the positions that lead to a match from an offset, and the lookaheads among them as bits."""
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
