"""Plausible wrong answers to the exercises of *A model answers*."""


def _by_share(probabilities):
    return sorted(range(len(probabilities)), key=lambda token: -probabilities[token])


def stays_below(probabilities, p):
    kept, reached = [], 0
    for token in _by_share(probabilities):
        reached += probabilities[token]
        if reached > p and kept:
            break
        kept.append(token)
    return kept


def one_more(probabilities, p):
    kept, reached = [], 0
    for token in _by_share(probabilities):
        if reached > p:
            break
        kept.append(token)
        reached += probabilities[token]
    return kept


def each_of_at_least_p(probabilities, p):
    return [token for token in _by_share(probabilities) if probabilities[token] >= p]


def in_order_of_ids(probabilities, p):
    kept, reached = [], 0
    for token, share in enumerate(probabilities):
        kept.append(token)
        reached += share
        if reached >= p:
            break
    return kept


def none_for_zero(probabilities, p):
    kept, reached = [], 0
    for token in _by_share(probabilities):
        if reached >= p:
            break
        kept.append(token)
        reached += probabilities[token]
    return kept


def with_the_stop(said, stop, max_tokens):
    ids = []
    for token in said[:max_tokens]:
        ids.append(token)
        if token in stop:
            return ids, "stop"
    return ids, "length"


def looks_one_further(said, stop, max_tokens):
    for place, token in enumerate(said[: max_tokens + 1]):
        if token in stop:
            return said[:place], "stop"
    return said[:max_tokens], "length"


def leaves_stops_out(said, stop, max_tokens):
    ids = [token for token in said[:max_tokens] if token not in stop]
    return ids, "stop" if len(ids) < max_tokens else "length"


def the_last_stop(said, stop, max_tokens):
    places = [place for place, token in enumerate(said[:max_tokens]) if token in stop]
    return (said[: places[-1]], "stop") if places else (said[:max_tokens], "length")


def nothing_for_the_same(held, prompt):
    shared = 0
    while shared < min(len(held), len(prompt)) and held[shared] == prompt[shared]:
        shared += 1
    return len(prompt) - shared


def what_is_equal_anywhere(held, prompt):
    return max(len(prompt) - sum(one == two for one, two in zip(held, prompt)), 1)


def by_length(held, prompt):
    return max(len(prompt) - len(held), 1)


def as_sets(held, prompt):
    return max(len([token for token in prompt if token not in held]), 1)


WRONG = {
    "model_answers.1": [stays_below, one_more, each_of_at_least_p, in_order_of_ids, none_for_zero],
    "model_answers.2": [with_the_stop, looks_one_further, leaves_stops_out, the_last_stop],
    "model_answers.3": [nothing_for_the_same, what_is_equal_anywhere, by_length, as_sets],
}
