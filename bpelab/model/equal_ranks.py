"""Equal ranks: order merges of one rank so that a list of them has the same effect as the table.

In a table, merges of one rank happen from left to right, whatever tokens they make. In a list one merge comes first
everywhere. SentencePiece's vocabularies have tokens of equal score: many when a file was edited by hand, and runs of
spaces.

Chapter: A trie. Cost: a few set operations, and for runs the square of the longest.
"""

from collections.abc import Mapping

MAX_RUN = 64
"""The longest run of one unit, in units, for which an order among equal ranks is proved."""


def order_of_equal_ranks(splits: Mapping[int, tuple[int, int]]) -> list[int] | None:
    """Order tokens of equal rank so that a list of merges has the same effect; return None if no such order is known.

    `splits` has the two parts of each, shorter tokens first. Merges of one rank happen from left to right, and those of
    a list one after another, each everywhere. Where no two tokens can overlap, the order doesn't matter. The other case
    is a run of one unit, such as 2, 3, 4 ... spaces: then the longest comes first, if that is the same
    (`_is_longest_first`). No token of an earlier rank may have one of these as a part, so that nothing happens in
    between.

    >>> order_of_equal_ranks({10: (1, 2), 11: (3, 4)}), order_of_equal_ranks({10: (1, 2), 11: (2, 3)})
    ([10, 11], None)
    >>> order_of_equal_ranks({10: (1, 1), 11: (10, 1), 12: (11, 10)})
    [12, 11, 10]
    """
    powers: dict[int, tuple[int, int]] = {}  # token -> its unit, and how often it is repeated
    runs: dict[int, dict[tuple[int, int], int]] = {}
    for token, parts in splits.items():
        (unit, left), (other, right) = (powers.get(part, (part, 1)) for part in parts)
        if unit == other and unit not in splits:
            powers[token] = unit, left + right
            runs.setdefault(unit, {})[left, right] = left + right
    lefts, rights = ({parts[side] for parts in splits.values()} for side in (0, 1))
    for token in splits.keys() - powers:
        left, right = splits[token]
        if left in rights or right in lefts or not {left, right}.isdisjoint(splits) or token in lefts | rights:
            return None
    if not all(map(_is_longest_first, runs.values())):
        return None
    return sorted(splits, key=lambda token: -powers.get(token, (token, 0))[1])


def _is_longest_first(run: Mapping[tuple[int, int], int]) -> bool:
    """Return whether merging a run of one unit from left to right is the same as preferring the longest result.

    `run` maps the lengths of two neighbours to that of the token that they become. Up to twice the longest token, both
    orders are tried. If they take the same steps, they do so for all lengths: the leftmost merges reach the longest
    token without touching what follows it, nothing merges with it, and the rest is a shorter run.
    """
    longest = max(run.values())
    if longest > MAX_RUN:
        return False
    steps = {size: _steps_of_run(run, size, False) for size in range(2, 2 * longest + 1)}
    return steps[longest][-1] == (0, longest) and all(
        _steps_of_run(run, size, True) == taken for size, taken in steps.items()
    )


def _steps_of_run(run: Mapping[tuple[int, int], int], size: int, longest_first: bool) -> list[tuple[int, int]]:
    """Return the merges of a run of `size` units, in order: the left part's index, and the length of the result."""
    lengths, steps = [1] * size, list[tuple[int, int]]()
    while True:
        possible = [(at, run[pair]) for at, pair in enumerate(zip(lengths, lengths[1:])) if pair in run]
        if not possible:
            return steps
        at, length = min(possible, key=lambda step: (-step[1] if longest_first else 0, step[0]))
        lengths[at : at + 2] = [length]
        steps.append((at, length))
