"""The exercises of *WordPiece and Unigram*."""

import math
from collections import Counter
from collections.abc import Iterator

from ..exercise import Exercise
from ..fixtures import call_with_set, is_close, show_with_set


def bert_pieces(word, vocabulary):
    """Return the pieces of `word`: always the longest that fits, ["[UNK]"] if none does.

    bert_pieces("unhappy", {"un", "##hap", "##py", "happy"}) is ["un", "##hap", "##py"].
    The empty word has no pieces.
    """
    pieces, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""  # only the first piece has none
        ends = [end for end in range(begin + 1, len(word) + 1) if mark + word[begin:end] in vocabulary]
        if not ends:
            return ["[UNK]"]  # the pieces before are thrown away: longest match never goes back
        pieces.append(mark + word[begin : ends[-1]])
        begin = ends[-1]
    return pieces


def likeliest_by_trying(word, scores):
    """Return the highest sum of scores over all cuts of `word`; None if it can't be cut.

    A cut consists of pieces that have a score. `word` is not empty.

    likeliest_by_trying("ab", {"a": -1.0, "b": -1.0, "ab": -3.0}) is -2.0.
    """
    if not word:
        return 0.0
    sums = []
    for size in range(1, len(word) + 1):
        if word[:size] in scores:
            rest = likeliest_by_trying(word[size:], scores)
            if rest is not None:
                sums.append(scores[word[:size]] + rest)
    return max(sums, default=None)


def best_by_gain(words):
    """Return the pair with the largest gain; ties go to the pair that sorts first.

    best_by_gain([(["t", "h"], 50), (["t", "o"], 20), (["x", "y"], 2)]) is ("t", "h").
    """
    single, pairs = Counter(), Counter()
    for symbols, occurrences in words:
        for symbol in symbols:
            single[symbol] += occurrences
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += occurrences
    total = sum(single.values())

    def gain(pair):
        return pairs[pair] * math.log(pairs[pair] * total / (single[pair[0]] * single[pair[1]]))

    return max(sorted(pairs), key=gain)


def _marked() -> Iterator[tuple[str, list[str]]]:
    lists: tuple[list[str], ...] = (
        ["a"],
        ["a", "##a"],
        ["a", "ab", "##b"],
        ["a", "##b", "##bc", "b", "bc"],
        ["ab", "##ab", "##a", "##c"],
        ["un", "##hap", "##py", "happy", "unhap"],
        ["##a", "##b"],
    )
    for word in ("", "a", "b", "aa", "ab", "abc", "abcb", "abab", "unhappy", "happy", "unhap", "#a", "##a"):
        for pieces in lists:
            yield word, pieces


def _scored() -> Iterator[tuple[str, dict[str, float]]]:
    tables: tuple[dict[str, float], ...] = (
        {"a": -1.0},
        {"a": 0.0, "b": -1.0},
        {"a": -1.0, "b": -1.0, "ab": -3.0},
        {"a": -1.0, "b": -1.0, "ab": -1.5, "aba": -4.0},
        {"a": -2.0, "ab": -1.0, "bc": -0.5, "c": -4.0},
        {},
    )
    for word in ("a", "b", "ab", "ba", "aba", "abc", "abab", "abcabc", "ababababab"):
        for table in tables:
            yield word, table


def _counted() -> Iterator[tuple[list[tuple[list[str], int]]]]:
    yield ([(["a", "b"], 1)],)
    for first, second in ("ab", "cd"), ("cd", "ab"):
        yield ([(list(first), 2), (list(second), 2)],)
    yield ([(["t", "h"], 50), (["t", "o"], 20), (["x", "y"], 2)],)
    yield ([(["t", "h", "e"], 9), (["t", "o"], 3), (["h", "e", "n"], 2), (["q", "u"], 4)],)
    yield ([(["e", "t"], 30), (["e", "s"], 30), (["s", "t"], 4), (["o", "n"], 11), (["n", "e"], 9)],)
    yield ([(["e", "n"], 40), (["e", "e", "n", "e"], 30), (["n", "e"], 35), (["th", "at"], 7), (["th", "e"], 5)],)
    yield ([(list("lower"), 2), (list("newst"), 6), (list("widest"), 3), (list("low"), 5)],)
    yield ([(list("banana"), 2), (list("bandana"), 1), (list("cab"), 3), (list("dab"), 3)],)


def _has_one_best(words: list[tuple[list[str], int]]) -> bool:
    """Return whether the best pair is clear, however the gain is computed: no overlaps, and ties only by counts."""
    if any(occurrences < 1 or "" in symbols for symbols, occurrences in words):
        return False
    if any(a == b == c for symbols, _ in words for a, b, c in zip(symbols, symbols[1:], symbols[2:])):
        return False
    single: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for symbols, occurrences in words:
        for symbol in symbols:
            single[symbol] += occurrences
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += occurrences
    counts = {(n, single[left], single[right]) for (left, right), n in pairs.items()}
    gains = sorted(n * math.log(n * sum(single.values()) / (left * right)) for n, left, right in counts)
    return len(gains) == 1 or (bool(gains) and not math.isclose(gains[-1], gains[-2], rel_tol=1e-9, abs_tol=1e-9))


EXERCISES = [
    Exercise(
        "wordpiece_unigram.1",
        "As BERT does",
        bert_pieces,
        _marked,
        (
            "Keep the position at which the next piece begins. Only at position 0 is there no `##`.",
            "Of all ends for which the piece is in the vocabulary, take the last. If there is none, return at once.",
        ),
        level="easy",
        next_step="Which words of the book does your own BPE cut in the same way?",
        call=call_with_set,
        format_call=show_with_set,
        is_valid=lambda word, pieces: all(piece.removeprefix("##") for piece in pieces),
    ),
    Exercise(
        "wordpiece_unigram.2",
        "Every cut",
        likeliest_by_trying,
        _scored,
        (
            "A cut is a first piece and a cut of what is left. So the function can call itself.",
            "The empty word has one cut, with the sum 0.0. If a rest can't be cut, it gives None: leave it out.",
            "A score may be 0.0: ask `is None`, or `in scores`.",
        ),
        level="medium",
        next_step="A word of n letters has 2 to the power of n - 1 cuts. Time yours beside the page's, for 20 letters.",
        equal=is_close,
        is_valid=lambda word, scores: word and "" not in scores,
    ),
    Exercise(
        "wordpiece_unigram.3",
        "Mend the score",
        best_by_gain,
        _counted,
        (
            "Count single symbols and pairs first, each word as often as it occurs. N is the sum of the single counts.",
            "The gain of a pair is its count times math.log(count * N / (count of the first * count of the second)).",
            "max over the sorted pairs returns the first of equal ones.",
        ),
        level="medium",
        next_step="Score pairs by their frequency alone, and what you have written is BPE.",
        is_valid=_has_one_best,
    ),
]
