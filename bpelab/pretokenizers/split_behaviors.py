"""Split behaviours: where a match goes, by the five values of Hugging Face's `SplitDelimiterBehavior`.

The text is cut into matches and the gaps between them. A behaviour then drops the matches, isolates them, or merges
them with a neighbour. Cost: linear in the number of spans. Chapter: Regex pre-tokenization.
Source: tokenizers/src/tokenizer/normalizer.rs, `NormalizedString::split`.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def check_behavior(behavior: str) -> None:
    """Raise ValueError for a behaviour that doesn't exist."""
    if behavior not in BEHAVIORS:
        raise ValueError(f"there is no split behaviour {behavior!r}; choose one of {', '.join(BEHAVIORS)}")


def pieces(text: str, spans: Iterable[tuple[int, int]], behavior: str, invert: bool = False) -> list[str]:
    """Return the pieces of `text`, cut at the matches `spans` under `behavior`, in order and without empty ones.

    `spans` are ascending (start, end) pairs. With `invert` the gaps between the matches count as the matches. Raises
    ValueError for a behaviour that doesn't exist.

    >>> pieces("a-b", [(1, 2)], "Removed"), pieces("a-b", [(1, 2)], "MergedWithNext")
    (['a', 'b'], ['a', '-b'])
    >>> pieces("a--b", [(1, 2), (2, 3)], "Contiguous")
    ['a', '--', 'b']
    """
    check_behavior(behavior)
    parts = [(start, end, matched != invert) for start, end, matched in _with_gaps(len(text), spans)]
    if behavior == "Removed":
        return [text[start:end] for start, end, delimiter in parts if not delimiter and start < end]
    if behavior == "MergedWithNext":
        joined = [(start, end) for end, start in _joined([(b, a, m) for a, b, m in reversed(parts)], behavior)][::-1]
    else:
        joined = _joined(parts, behavior)
    return [text[start:end] for start, end in joined if start < end]


def starts_of_remaining(spans: Iterable[tuple[int, int]], length: int, invert: bool) -> list[int]:
    """Return the start offsets of the pieces of a `length`-character text that the behaviour Removed keeps.

    >>> starts_of_remaining([(1, 2), (3, 4)], 5, invert=False), starts_of_remaining([(1, 2)], 5, invert=True)
    ([0, 2, 4], [1])
    """
    return [start for start, end, matched in _with_gaps(length, spans) if matched == invert and start < end]


def _with_gaps(length: int, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """Iterate over (start, end, matched) for the spans and for the gaps between them."""
    previous = 0
    for start, end in spans:
        if previous != start:
            yield previous, start, False
        yield start, end, True
        previous = end
    if previous != length:
        yield previous, length, False


def _joined(parts: list[tuple[int, int, bool]], behavior: str) -> list[tuple[int, int]]:
    """Merge `parts` into (start, end) pieces: each part extends the previous piece or starts its own.

    An empty match starts a piece too, which shows only if the next part is merged into it.
    """
    out: list[tuple[int, int]] = []
    previous = False
    for start, end, delimiter in parts:
        if behavior == "Isolated":
            glued = False
        elif behavior == "Contiguous":
            glued = delimiter == previous
        else:
            glued = delimiter and not previous
        if glued and out:
            out[-1] = out[-1][0], end
        else:
            out.append((start, end))
        previous = delimiter
    return out
