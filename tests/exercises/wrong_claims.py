"""Plausible wrong answers to the exercises of *Claims, tested*."""

from bpelab import BPEModel
from bpelab.exercises import EXERCISES
from bpelab.trainers.naive import replace_pair


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


def never_a_part(merges):
    parts = {part for pair in merges for part in pair}
    return [left + right for left, right in merges if left + right not in parts]


def down_the_list(merges):
    model = BPEModel.from_merges(merges)
    lost = []
    for token_id, token in sorted(model.tokens.items()):
        ids = list(token)
        for pair, (_, new) in sorted(model.merges.items(), key=lambda item: item[1]):
            ids = replace_pair(ids, pair, new)
        if ids != [token_id]:
            lost.append(token)
    return lost[::-1]


def by_any_parts(merges):
    model = BPEModel.from_ranks(BPEModel.from_merges(merges).ids, ignore_merges=False)
    return [model.tokens[i] for i in sorted(model.recovered_merges.unreachable)]


WRONG = {
    "claims.1": [equals_are_cases, has_to_be_shorter, as_they_come, fewest],
    "claims.2": [always_the_same, in_english, no_ids_at_all],
    "claims.3": [text_that_starts_so, only_longer_ones, keeps_all],
    "claims.4": [never_a_part, down_the_list, by_any_parts],
}
