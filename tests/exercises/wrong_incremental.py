"""Plausible wrong answers to the exercises of *Incremental training*."""

from collections import Counter
from heapq import heappop
from inspect import getgeneratorlocals
from itertools import product

from bpelab.trainers.naive import count_pairs, replace_pair, train_naive


def positive_only(word, pair, new):
    before, after = count_pairs([(word, 1)]), count_pairs([(replace_pair(word, pair, new), 1)])
    return dict(Counter(after) - Counter(before))


def zeros_too(word, pair, new):
    before, after = count_pairs([(word, 1)]), count_pairs([(replace_pair(word, pair, new), 1)])
    return {key: after.get(key, 0) - before.get(key, 0) for key in before.keys() | after.keys()}


def pairs_not_places(steps):
    state = getgeneratorlocals(steps)
    return sum(not state["counts"][pair] for pair in state["places"])


def next_place(steps):
    state = getgeneratorlocals(steps)
    ids = state["ids"]
    return sum((ids[i], ids[i + 1]) != pair for pair, places in state["places"].items() for i in places)


def believes(heap, counts, least):
    while heap:
        _, pair = heappop(heap)
        if counts[pair] >= least:
            return pair
    return None


def loses(heap, counts, least):
    while heap:
        claimed, pair = heappop(heap)
        if counts[pair] == -claimed >= least:
            return pair
    return None


def longest_first(trainer, alphabet="ab", longest=6):
    for size in range(longest, 0, -1):
        for letters in product(alphabet, repeat=size):
            word = "".join(letters).encode()
            if list(trainer({word: 1}, size, 1)) != list(train_naive({word: 1}, size, 1)):
                return word
    return None


def first_step_only(trainer, alphabet="ab", longest=6):
    for size in range(1, longest + 1):
        for letters in product(alphabet, repeat=size):
            word = "".join(letters).encode()
            if next(iter(trainer({word: 1}, size, 1)), None) != next(train_naive({word: 1}, size, 1), None):
                return word
    return None


def minimum_of_two(trainer, alphabet="ab", longest=6):
    for size in range(1, longest + 1):
        for letters in product(alphabet, repeat=size):
            word = "".join(letters).encode()
            if list(trainer({word: 1}, size)) != list(train_naive({word: 1}, size)):
                return word
    return None


def minimum_of_one(words, num_merges):
    return [(step.left, step.right, step.count) for step in train_naive(words, num_merges, 1)]


def larger_first(words, num_merges):
    sequences = [(list(word), n) for word, n in words.items()]
    merges = []
    while len(merges) < num_merges:
        counts = count_pairs(sequences)
        pair = max(counts, key=lambda pair: (counts[pair], pair), default=None)
        if pair is None or counts[pair] < 2:
            break
        merges.append((*pair, counts[pair]))
        sequences = [(replace_pair(ids, pair, 255 + len(merges)), n) for ids, n in sequences]
    return merges


def counts_all_words_again(words, num_merges):
    return [(step.left, step.right, step.count) for step in train_naive(words, num_merges)]


def counts_all_words_in_its_own_loop(words, num_merges):
    sequences, merges = [([*word], n) for word, n in words.items()], []
    while len(merges) < num_merges:
        counts = Counter()
        for ids, n in sequences:
            for pair in zip(ids, ids[1:]):
                counts[pair] += n
        pair = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if pair is None or counts[pair] < 2:
            break
        merges.append((*pair, counts[pair]))
        new = 255 + len(merges)
        sequences = [(replace_pair(ids, pair, new), n) for ids, n in sequences]
    return merges


WRONG = {
    "incremental.1": [positive_only, zeros_too],
    "incremental.2": [pairs_not_places, next_place],
    "incremental.3": [believes, loses],
    "incremental.4": [longest_first, first_step_only, minimum_of_two],
    "incremental.5": [minimum_of_one, larger_first, counts_all_words_again, counts_all_words_in_its_own_loop],
}
