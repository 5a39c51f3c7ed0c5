"""Plausible wrong answers to the exercises of *Claims, tested*."""

from bisect import bisect_right

from bpelab.exercises import EXERCISES


def equals_are_cases(tokenizer, counts):
    ordered = sorted(counts, key=counts.get, reverse=True)
    results = [
        tokenizer.count_tokens(more) <= tokenizer.count_tokens(less)
        for place, more in enumerate(ordered)
        for less in ordered[place + 1 :]
    ]
    return sum(results), len(results)


def has_to_be_shorter(tokenizer, counts):
    pairs = [(one, other) for one in counts for other in counts if counts[one] > counts[other]]
    return sum(tokenizer.count_tokens(one) < tokenizer.count_tokens(other) for one, other in pairs), len(pairs)


def as_they_come(tokenizer, counts):
    words = list(counts)
    pairs = [(one, other) for i, one in enumerate(words) for other in words[i:] if counts[one] > counts[other]]
    return sum(tokenizer.count_tokens(one) <= tokenizer.count_tokens(other) for one, other in pairs), len(pairs)


def fewest(model, piece):
    """What this exercise asked for in the first edition, as exercise encoding.5 still does."""
    return EXERCISES["encoding.5"].solution(model, piece)


def always_the_same(tokenizer):
    return "日", 1


def in_english(tokenizer):
    return "The harbour at midnight", 2


def no_ids_at_all(tokenizer):
    return "", 0


def text_that_starts_so(tokenizer, prompt):
    ids, tokens = tokenizer.encode(prompt), tokenizer.model.tokens
    if not ids:
        return [], []
    start = tokenizer.decode(ids[-1:])
    return ids[:-1], sorted(i for i, t in tokens.items() if t.decode("utf-8", "replace").startswith(start))


def only_longer_ones(tokenizer, prompt):
    ids, tokens = tokenizer.encode(prompt), tokenizer.model.tokens
    if not ids:
        return [], []
    start = tokens[ids[-1]]
    return ids[:-1], sorted(i for i, token in tokens.items() if token.startswith(start) and token != start)


def keeps_all(tokenizer, prompt):
    ids, tokens = tokenizer.encode(prompt), tokenizer.model.tokens
    if not ids:
        return [], []
    return ids, sorted(i for i, token in tokens.items() if token.startswith(tokens[ids[-1]]))


def binary_search(count, text, limit):
    counts = [count(text[:end]) for end in range(len(text) + 1)]
    return text[: bisect_right(counts, limit) - 1]


def until_it_no_longer_fits(count, text, limit):
    end = 0
    while end < len(text) and count(text[: end + 1]) <= limit:
        end += 1
    return text[:end]


def whole_words(count, text, limit):
    while text and count(text) > limit:
        text = text.rpartition(" ")[0]
    return text


def one_character_short(count, text, limit):
    return max((text[:end] for end in range(len(text)) if count(text[:end]) <= limit), key=len, default="")


WRONG = {
    "claims.1": [equals_are_cases, has_to_be_shorter, as_they_come, fewest],
    "claims.2": [always_the_same, in_english, no_ids_at_all],
    "claims.3": [text_that_starts_so, only_longer_ones, keeps_all],
    "claims.4": [binary_search, until_it_no_longer_fits, whole_words, one_character_short],
}
