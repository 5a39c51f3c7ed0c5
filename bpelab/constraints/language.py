r"""The texts that an expression matches from end to end, as an automaton that is read from left to right.

It is Thompson's: every place in the expression where the text read so far can have got to. Alternatives have no order
here, since the whole text has to match: `a|ab` has both `a` and `ab`. An expression may look one character ahead or
behind. `ByteStates` makes states of the places as they are reached, so an expression that a table would be too large
for, such as `(a|b)*a(a|b){30}`, costs no more than the texts that are read.

Cost: for each new state, its places, times the kinds of characters.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ..prefix.byte_states import DEAD, ByteStates
from ..prefix.character_kinds import CharacterKinds
from ..regex.ast import Anchor, Node, sequence
from ..regex.dfa import NotRegular
from ..regex.dfa_construction import alphabet, two_stages
from ..regex.nfa import EDGE, NFA, build_nfa, targets

MAX_WORK = 5_000_000
"""The most steps of an expression's automaton that are computed."""


class Spot(NamedTuple):
    """A position in an expression, and what looking behind sees there."""

    behind: int
    at: int


class Reads(NamedTuple):
    """What can be read next: masks of characters, each with the position after it; and whether a match ends here."""

    next: tuple[tuple[int, int], ...]
    match: bool


class Language:
    """The automaton of an expression.

    Attributes:
        distance: for each position, how many characters it takes at least to a match.

    Raises NotRegular for what looks further than one character, and PatternError for a pattern that is too large.
    """

    def __init__(self, node: Node) -> None:
        self._nfa = nfa = build_nfa(sequence([node, Anchor("text_end")]), ordered=False)
        starts, kinds, self._masks = alphabet(nfa)
        self.characters = CharacterKinds(*two_stages(starts, kinds))
        self.start = Spot(EDGE & nfa.behind, nfa.start)
        self.distance = distances(nfa)
        self._looked = 0
        for operation in nfa.operations:
            self._looked |= operation[1] if operation[0] == "next" else 0
        self._known: dict[tuple[Spot, int], Reads] = {}
        self._after: dict[tuple[Spot, int], tuple[Spot, ...]] = {}
        self._work = 0

    def after(self, place: Spot, kind: int) -> tuple[Spot, ...]:
        """Return the places after a character of this kind."""
        found = self._after.get((place, kind))
        if found is None:
            mask = self._masks[kind]
            reads = self._reads(place, mask).next
            found = tuple({Spot(mask & self._nfa.behind, target) for wanted, target in reads if wanted & mask})
            self._after[place, kind] = found
        self._count(1 + len(found))
        return found

    def can_end(self, place: Spot) -> bool:
        """Return whether the text may end here."""
        return self._reads(place, EDGE).match

    def _count(self, steps: int) -> None:
        self._work += steps
        if self._work > MAX_WORK:
            raise NotRegular(f"the constraint took more than {MAX_WORK:,} steps: simplify its repetitions")

    def _reads(self, place: Spot, ahead: int) -> Reads:
        """Return what can be read at a place, before a character, or the edge of the text, with this mask."""
        key = place, ahead & self._looked
        if key not in self._known:
            seen, match, found = {place.at}, False, []
            for at in (waiting := [place.at]):
                operation = self._nfa.operations[at]
                if operation[0] == "read":
                    found.append((operation[1], operation[2]))
                    continue
                match |= operation[0] == "match"
                tested = {"next": ahead, "last": place.behind}.get(operation[0])
                if tested is None or bool(tested & operation[1]) != operation[2]:  # type: ignore[operator, misc]
                    fresh = [new for new in targets(operation) if new not in seen and new in self.distance]
                    seen.update(fresh)
                    waiting += fresh
            self._count(len(waiting))
            self._known[key] = Reads(tuple(read for read in found if read[1] in self.distance), match)
        return self._known[key]


def distances(nfa: NFA) -> dict[int, int]:
    """Return the number of characters from each position to a match, if all that looks ahead or behind is true."""
    before: dict[int, list[int]] = {}
    for at, operation in enumerate(nfa.operations):
        for target in targets(operation):
            before.setdefault(target, []).append(at)
    found, waiting = dict[int, int](), deque([(0, at) for at, what in enumerate(nfa.operations) if what[0] == "match"])
    while waiting:
        distance, at = waiting.popleft()
        if found.setdefault(at, distance) < distance or (at in found and found[at] != distance):
            continue
        for earlier in before.get(at, ()):
            if earlier not in found:
                reads = nfa.operations[earlier][0] == "read"
                (waiting.append if reads else waiting.appendleft)((distance + reads, earlier))
    return found


def matches(node: Node) -> Callable[[str], bool]:
    """Return a function that says whether an expression matches a text from end to end."""
    language = Language(node)
    states: ByteStates[Spot] = ByteStates(language)

    def match(text: str) -> bool:
        state = states.read_all(states.start, text.encode())
        return state != DEAD and any(map(language.can_end, states.places(state)))

    return match
