"""Plausible wrong answers to the exercises of *Training*."""

import itertools

from bpelab.exercises.chapters import training
from bpelab.trainers.naive import count_pairs, replace_pair, train_naive
from bpelab.unicode.byte_alphabet import to_alphabet


def forgets_special(vocab_size, special_tokens):
    return vocab_size - 256 if vocab_size >= 256 else -1


def zero_for_too_small(vocab_size, special_tokens):
    return max(0, vocab_size - 256 - len(special_tokens))


def words_once(words, steps):
    sequences = [list(word) for word in words]
    sizes = [sum(map(len, sequences))]
    for step in steps:
        sequences = [replace_pair(ids, (step.left, step.right), 256 + step.rank) for ids in sequences]
        sizes.append(sum(map(len, sequences)))
    return sizes


def believes_counts(words, steps):
    sizes = [sum(len(word) * number for word, number in words.items())]
    for step in steps:
        sizes.append(sizes[-1] - step.count)
    return sizes


def with_overlaps(sequences):
    return count_pairs(sequences)


def halved(sequences):
    return {(a, b): n // 2 if a == b else n for (a, b), n in count_pairs(sequences).items()}


def _train(words, num_merges, choose):
    sequences = [(list(word), n) for word, n in words.items()]
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for rank in range(num_merges):
        counts = count_pairs(sequences)
        if not counts or max(counts.values()) < 2:
            break
        pair = choose(counts)
        merges.append((tokens[pair[0]], tokens[pair[1]]))
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        sequences = [(replace_pair(ids, pair, 256 + rank), n) for ids, n in sequences]
    return merges


def smallest_first(words, num_merges):
    return [step.token for step in train_naive(words, num_merges)]


def last_seen(words, num_merges):
    merges = _train(words, num_merges, lambda counts: max(reversed(counts), key=counts.get))
    return [left + right for left, right in merges]


def stops_too_late(words, num_merges):
    return [step.token for step in train_naive(words, num_merges, 1)]


def by_bytes(words, num_merges):
    return _train(words, num_merges, lambda counts: min(counts, key=lambda pair: (-counts[pair], pair)))


def tokens_before_bytes(words, num_merges):
    def place(token):
        return token if token > 255 else 1000 + ord(to_alphabet(bytes([token])))

    return _train(
        words, num_merges, lambda counts: min(counts, key=lambda pair: (-counts[pair], place(pair[0]), place(pair[1])))
    )


def train_by_first_seen(words, vocab_size):
    vocab = {bytes([byte]): byte for byte in range(256)}
    sequences = [([bytes([byte]) for byte in word], count) for word, count in words.items()]
    while len(vocab) < vocab_size:
        counts = {}
        for tokens, count in sequences:
            for pair in itertools.pairwise(tokens):
                counts[pair] = counts.get(pair, 0) + count
        if not counts or max(counts.values()) < 2:
            break
        left, right = max(counts, key=counts.get)
        vocab[left + right] = len(vocab)
        for tokens, _ in sequences:
            for index in range(len(tokens)):
                if tokens[index : index + 2] == [left, right]:
                    tokens[index : index + 2] = [left + right]
    return vocab


def train_on_distinct_words(words, vocab_size):
    return training.train(dict.fromkeys(words, 2), vocab_size)


WRONG = {
    "training.1": [forgets_special, zero_for_too_small],
    "training.2": [words_once, believes_counts],
    "training.3": [with_overlaps, halved],
    "training.4": [smallest_first, last_seen, stops_too_late],
    "training.5": [by_bytes, tokens_before_bytes],
    "training.6": [train_by_first_seen, train_on_distinct_words],
}
