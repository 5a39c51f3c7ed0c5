"""All segmentations of a word at once: the likeliest one (Viterbi), and the expected count of each token.

There are up to 2^(n-1) cuts of n characters. But the best cut up to a position doesn't depend on how the word goes on,
so one number for each position is enough: the best (or, for expectations, the summed) probability of all cuts that end
there.

Chapter: WordPiece and Unigram. Cost: O(n * longest token) for a word of n characters.
Source: Kudo 2018, section 3.2. Logarithms throughout, since the probability of a long word underflows a float.
"""

import math
from collections.abc import Mapping


def viterbi(word: str, scores: Mapping[str, float], max_length: int, unknown: float) -> tuple[list[str], float]:
    """Return the segmentation of `word` with the highest sum of scores, and that sum.

    A character that isn't a token is a piece by itself and scores `unknown`. Ties go to the cut with the longer last
    token.

    >>> viterbi("aab", {"a": -1.0, "b": -1.0, "aa": -2.5, "ab": -1.5}, 2, -9.0)
    (['a', 'ab'], -2.5)
    """
    best = [0.0] + [-math.inf] * len(word)
    best_start = [0] * (len(word) + 1)
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - max_length), end):
            score = scores.get(word[start:end])
            if score is None:
                if end - start > 1:
                    continue
                score = unknown
            if best[start] + score > best[end]:
                best[end], best_start[end] = best[start] + score, start
    pieces: list[str] = []
    end = len(word)
    while end:
        pieces.append(word[best_start[end] : end])
        end = best_start[end]
    return pieces[::-1], best[-1]


def expected_counts(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """Return the expected count of each token in `words`: all segmentations count, weighted by their probability.

    Forward: the summed probability of all cuts of each prefix. Backward: from the end of a word, which every cut
    reaches, divide that certainty among the positions where the last token may have started. Every character must be a
    token.

    >>> counts = expected_counts({"ab": 4}, {"a": math.log(0.5), "b": math.log(0.5), "ab": math.log(0.75)})
    >>> {piece: round(count, 3) for piece, count in counts.items()}
    {'ab': 3.0, 'b': 1.0, 'a': 1.0}
    """
    max_length = max(map(len, scores))
    expected: dict[str, float] = {}
    get, log, exp = scores.get, math.log, math.exp
    for word, occurrences in words.items():
        forward = [0.0]
        ending_at: list[list[tuple[int, str, float]]] = [[]]
        for end in range(1, len(word) + 1):
            candidates = [
                (start, piece, forward[start] + score)
                for start in range(max(0, end - max_length), end)
                if (score := get(piece := word[start:end])) is not None
            ]
            top = max(value for _, _, value in candidates)
            forward.append(top + log(sum(exp(value - top) for _, _, value in candidates)))
            ending_at.append(candidates)
        certainty = [0.0] * len(word) + [1.0]
        for end in range(len(word), 0, -1):
            if certainty[end]:
                for start, piece, value in ending_at[end]:
                    share = certainty[end] * exp(value - forward[end])
                    certainty[start] += share
                    expected[piece] = expected.get(piece, 0.0) + occurrences * share
    return expected
