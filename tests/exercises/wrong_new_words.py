"""Plausible wrong answers to the exercises of *New words for an old model*."""

import math


def one_level(ids, made_of):
    return [part for token in ids for part in made_of.get(token, (token,))]


def the_other_way_round(ids, made_of):
    old, waiting = [], list(reversed(ids))
    while waiting:
        token = waiting.pop()
        if token in made_of:
            waiting += made_of[token]
        else:
            old.append(token)
    return old


def parts_that_no_merge_makes(merges):
    made = {left + right for left, right in merges}
    parts = {part for pair in merges for part in pair if len(part) > 1}
    return parts - made


def one_pass(merges):
    found = set()
    for left, right in merges:
        tokens = [bytes([byte]) for byte in left + right]
        for pair in merges:
            at = 0
            while at + 1 < len(tokens):
                if (tokens[at], tokens[at + 1]) == pair:
                    tokens[at : at + 2] = [pair[0] + pair[1]]
                at += 1
            if (left, right) == pair:
                break  # only the merges up to its own
        if tokens != [left + right]:
            found.add(left + right)
    return found


def seldom_first(merges, counts, number):
    made = [left + right for left, right in merges]
    return sorted(made, key=lambda token: (counts.get(token, 0), -made.index(token)))[:number]


def last_first(merges, counts, number):
    return [left + right for left, right in reversed(merges)][:number]


def counts_stay(merges, counts, number):
    left_over, gone = list(merges), []
    while left_over and len(gone) < number:
        needed = {part for pair in left_over for part in pair}
        leaves = [pair for pair in reversed(left_over) if pair[0] + pair[1] not in needed]
        best = min(leaves, key=lambda pair: counts.get(pair[0] + pair[1], 0))
        gone.append(best[0] + best[1])
        left_over.remove(best)
    return gone


def made_only(rows, parts):
    made = [[sum(column) / len(ids) for column in zip(*(rows[token] for token in ids))] for ids in parts if ids]
    return rows + made


def each_once(rows, parts):
    chosen = [[rows[token] for token in set(ids)] or rows for ids in parts]
    return rows + [[sum(column) / len(some) for column in zip(*some)] for some in chosen]


def sums(rows, parts):
    return rows + [[sum(column) for column in zip(*([rows[token] for token in ids] or rows))] for ids in parts]


def per_token(tokens, probabilities):
    return -sum(map(math.log2, probabilities)) / len(tokens)


def in_nats(tokens, probabilities):
    return -sum(map(math.log, probabilities)) / sum(map(len, tokens))


WRONG = {
    "new_words.1": [one_level, the_other_way_round],
    "new_words.2": [parts_that_no_merge_makes, one_pass],
    "new_words.3": [seldom_first, last_first, counts_stay],
    "new_words.4": [made_only, each_once, sums],
    "new_words.5": [per_token, in_nats],
}
