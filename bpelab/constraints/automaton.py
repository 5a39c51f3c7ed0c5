"""A constraint as a finite automaton of tokens: what a program without this library needs to mask with it.

A state is where a text has got to; from it lead the tokens that are allowed there. Outlines calls such a table an
index. Cost: a mask for each state. A constraint of a few choices has some hundred states; one with a free string has
far more, since what may follow depends on the token before.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

from .._support.validate import check_size
from ..errors import PatternError

if TYPE_CHECKING:
    from .constraint import Constraint


class TokenAutomaton(NamedTuple):
    """A finite automaton of tokens. The text starts in state 0.

    Attributes:
        transitions: for each state, the tokens that are allowed there, and the state after each.
        finals: the states in which the text may end.
    """

    transitions: list[dict[int, int]]
    finals: frozenset[int]


def token_automaton(constraint: "Constraint", max_states: int = 10_000) -> TokenAutomaton:
    """Return the automaton of a constraint. Raises PatternError if it has more than `max_states` states.

    >>> from bpelab import BPETokenizer
    >>> from bpelab.constraints import Constraint
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> automaton = token_automaton(Constraint.choices(tokenizer, ["low", "lo"]))
    >>> [[tokenizer.id_to_token(token) for token in row] for row in automaton.transitions], sorted(automaton.finals)
    ([[b'lo', b'low'], [], []], [1, 2])
    """
    check_size(max_states, "max_states", 1)
    matchers = [constraint.matcher()]
    numbers: dict[Hashable, int] = {matchers[0].state: 0}
    transitions: list[dict[int, int]] = []
    for matcher in matchers:  # which grows
        transitions.append({})
        for token in matcher.allowed().tolist():
            after = matcher.copy()
            after.advance(token)
            if after.state not in numbers:
                if len(numbers) == max_states:
                    raise PatternError(f"the constraint has more than {max_states:,} states of tokens: narrow it")
                numbers[after.state] = len(matchers)
                matchers.append(after)
            transitions[-1][token] = numbers[after.state]
    finals = frozenset(number for number, matcher in enumerate(matchers) if matcher.can_end)
    return TokenAutomaton(transitions, finals)
