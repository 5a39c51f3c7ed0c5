"""All ways to cut a word into tokens at once: the likeliest (Viterbi), and what each token is expected to count.

There are up to 2^(n-1) cuts of n characters. But the best cut up to a place doesn't care how the word goes on, so one
number for each place is enough: the best (or, for expectations, the summed) probability of all cuts that end there.

Chapter: Characters, words, subwords. Cost: O(n * longest token) for a word of n characters.
Source: Kudo 2018, section 3.2. Logarithms throughout, since the probability of a long word is less than any float.
"""

import math
from collections.abc import Mapping


def viterbi(word: str, scores: Mapping[str, float], longest: int, unknown: float) -> tuple[list[str], float]:
    """The cut of `word` with the highest sum of scores, and that sum.

    A character that is no token stands alone and scores `unknown`. Of equal cuts, the one whose last token is longer.

    >>> viterbi("aab", {"a": -1.0, "b": -1.0, "aa": -2.5, "ab": -1.5}, 2, -9.0)
    (['a', 'ab'], -2.5)
    """
    best = [0.0] + [-math.inf] * len(word)
    begin = [0] * (len(word) + 1)
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - longest), end):
            score = scores.get(word[start:end])
            if score is None:
                if end - start > 1:
                    continue
                score = unknown
            if best[start] + score > best[end]:
                best[end], begin[end] = best[start] + score, start
    pieces: list[str] = []
    end = len(word)
    while end:
        pieces.append(word[begin[end] : end])
        end = begin[end]
    return pieces[::-1], best[-1]


def expected_counts(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """How often each token is expected in `words`, when each word is cut in all ways, each as often as it is likely.

    Forward: the summed probability of all cuts of each beginning. Backward: from the end of a word, which is reached
    for certain, hand the certainty back to where the last token may have begun. Every character must be a token.

    >>> counts = expected_counts({"ab": 4}, {"a": math.log(0.5), "b": math.log(0.5), "ab": math.log(0.75)})
    >>> {piece: round(count, 3) for piece, count in counts.items()}
    {'ab': 3.0, 'b': 1.0, 'a': 1.0}
    """
    longest = max(map(len, scores))
    expected: dict[str, float] = {}
    get, log, exp = scores.get, math.log, math.exp
    for word, occurrences in words.items():
        forward = [0.0]
        ways: list[list[tuple[int, str, float]]] = [[]]
        for end in range(1, len(word) + 1):
            here = [
                (start, piece, forward[start] + score)
                for start in range(max(0, end - longest), end)
                if (score := get(piece := word[start:end])) is not None
            ]
            top = max(value for _, _, value in here)
            forward.append(top + log(sum(exp(value - top) for _, _, value in here)))
            ways.append(here)
        certainty = [0.0] * len(word) + [1.0]
        for end in range(len(word), 0, -1):
            if certainty[end]:
                for start, piece, value in ways[end]:
                    share = certainty[end] * exp(value - forward[end])
                    certainty[start] += share
                    expected[piece] = expected.get(piece, 0.0) + occurrences * share
    return expected
