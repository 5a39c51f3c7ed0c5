"""Plausible wrong answers to the exercises of *Characters, words, subwords*."""

from collections import Counter
from math import log


def divides_by_nothing(tokenizer, text):
    return tokenizer.unknown_count(text) / len(tokenizer.encode(text))


def share_of_words(tokenizer, text):
    return tokenizer.unknown_count(text) / max(1, len(text.split()))


def shortest_pieces(word, pieces):
    found = []
    while fitting := [piece for piece in sorted(pieces) if word.startswith(piece)]:
        found.append(min(fitting, key=len))
        word = word[len(found[-1]) :]
    return found, word


def nothing_where_it_fails(word, pieces):
    found, left = [], word
    while fitting := [piece for piece in pieces if left.startswith(piece)]:
        found.append(max(fitting, key=len))
        left = left[len(found[-1]) :]
    return ([], word) if left else (found, "")


def skips_what_does_not_fit(word, pieces):
    found, left = [], ""
    while word:
        fitting = max((piece for piece in pieces if word.startswith(piece)), key=len, default="")
        if fitting:
            found.append(fitting)
        else:
            left += word[0]
        word = word[len(fitting) or 1 :]
    return found, left


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


def one_token(tokenizer, names):
    return [name for name in names if len(tokenizer.encode(name)) == 1]


def comes_back(tokenizer, names):
    return [name for name in names if tokenizer.decode(tokenizer.encode(name)) == name]


def in_the_vocabulary(tokenizer, names):
    return [name for name in names if name in tokenizer.vocabulary]


WRONG = {
    "subwords.1": [divides_by_nothing, share_of_words],
    "subwords.2": [shortest_pieces, nothing_where_it_fails, skips_what_does_not_fit],
    "subwords.3": [fewest_pieces, best_first_piece, zero_is_none],
    "subwords.4": [most_frequent, wordpiece_score, without_the_number_of_tokens, each_word_once, first_met],
    "subwords.5": [one_token, comes_back, in_the_vocabulary],
}
