"""Plausible wrong answers to the exercises of *WordPiece and Unigram*."""

from collections import Counter
from math import log


def what_was_found(word, vocabulary):
    pieces, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        ends = [end for end in range(begin + 1, len(word) + 1) if mark + word[begin:end] in vocabulary]
        if not ends:
            return [*pieces, "[UNK]"]
        pieces.append(mark + word[begin : ends[-1]])
        begin = ends[-1]
    return pieces


def unmarked(word, vocabulary):
    pieces, begin = [], 0
    while begin < len(word):
        ends = [end for end in range(begin + 1, len(word) + 1) if word[begin:end] in vocabulary]
        if not ends:
            return ["[UNK]"]
        pieces.append(("##" if begin else "") + word[begin : ends[-1]])
        begin = ends[-1]
    return pieces


def shortest_first(word, vocabulary):
    pieces, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        end = next((end for end in range(begin + 1, len(word) + 1) if mark + word[begin:end] in vocabulary), 0)
        if not end:
            return ["[UNK]"]
        pieces.append(mark + word[begin:end])
        begin = end
    return pieces


def zero_is_none(word, scores):
    if not word:
        return 0.0
    sums = []
    for end in range(1, len(word) + 1):
        score, rest = scores.get(word[:end]), zero_is_none(word[end:], scores)
        if score and rest is not None:
            sums.append(score + rest)
    return max(sums, default=None)


def fewest_pieces(word, scores):
    found, total = word, 0.0
    while found:
        fitting = [piece for piece in scores if found.startswith(piece)]
        if not fitting:
            return None
        best = max(fitting, key=len)
        total, found = total + scores[best], found[len(best) :]
    return total


def best_first_piece(word, scores):
    if not word:
        return 0.0
    fitting = [piece for piece in scores if word.startswith(piece)]
    if not fitting:
        return None
    best = max(fitting, key=scores.get)
    rest = best_first_piece(word[len(best) :], scores)
    return None if rest is None else scores[best] + rest


def _counts(words):
    single, pairs = Counter(), Counter()
    for symbols, occurrences in words:
        for symbol in symbols:
            single[symbol] += occurrences
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += occurrences
    return single, pairs


def most_frequent(words):
    _, pairs = _counts(words)
    return max(sorted(pairs), key=pairs.get)


def wordpiece_score(words):
    single, pairs = _counts(words)
    return max(sorted(pairs), key=lambda pair: pairs[pair] / (single[pair[0]] * single[pair[1]]))


def without_the_number_of_tokens(words):
    single, pairs = _counts(words)
    return max(sorted(pairs), key=lambda pair: pairs[pair] * log(pairs[pair] / (single[pair[0]] * single[pair[1]])))


def _gain(words, order):
    single, pairs = _counts(words)
    total = sum(single.values())
    odds = {pair: pairs[pair] * total / (single[pair[0]] * single[pair[1]]) for pair in pairs}
    return max(order(pairs), key=lambda pair: pairs[pair] * log(odds[pair]))


def each_word_once(words):
    return _gain([(symbols, 1) for symbols, _ in words], sorted)


def first_met(words):
    return _gain(words, list)


WRONG = {
    "wordpiece_unigram.1": [what_was_found, unmarked, shortest_first],
    "wordpiece_unigram.2": [fewest_pieces, best_first_piece, zero_is_none],
    "wordpiece_unigram.3": [most_frequent, wordpiece_score, without_the_number_of_tokens, each_word_once, first_met],
}
