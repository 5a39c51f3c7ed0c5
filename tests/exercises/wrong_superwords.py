"""Plausible wrong answers to the exercises of *Superwords*."""

from bpelab.trainers.naive import count_pairs, replace_pair


def only_superwords():
    return [b"in a", b"in a ", b" in a "]


def the_other_tie():
    return [b" a ", b"in a ", b"at"]


def learned(pieces, number, tokens):
    for _ in range(number):
        counts = count_pairs(pieces)
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            return
        tokens.append(tokens[best[0]] + tokens[best[1]])
        pieces = [(replace_pair(ids, best, len(tokens) - 1), count) for ids, count in pieces]


def from_bytes_again(words, wholes, first, second):
    tokens = [bytes([byte]) for byte in range(256)]
    learned([(list(piece), count) for piece, count in words.items()], first, tokens)
    learned([(list(piece), count) for piece, count in wholes.items()], second, tokens)
    return tokens[256:]


def one_stage(words, wholes, first, second):
    tokens = [bytes([byte]) for byte in range(256)]
    learned([(list(piece), count) for piece, count in wholes.items()], first + second, tokens)
    return tokens[256:]


def fewer_tokens(tokenizer, prompt, rest):
    apart = tokenizer.count_tokens(prompt) + tokenizer.count_tokens(rest)
    return apart - tokenizer.count_tokens(prompt + rest)


def ids_not_found(tokenizer, prompt, rest):
    whole = tokenizer.encode(prompt + rest)
    return sum(number not in whole for number in tokenizer.encode(prompt))


def zero(tokenizer, prompt, rest):
    return 0


def the_merges(merges, first):
    return set(merges[first:])


def bytes_that_meet(merges, first):
    return {(left[-1:], right[:1]) for left, right in merges[first:]}


def superwords_last(words, superwords, size):
    taken = min(len(words), size)
    return taken, min(len(superwords), size - taken)


def ties_to_superwords(words, superwords, size):
    both = sorted([*((-count, 1) for count in words), *((-count, 0) for count in superwords)])[:size]
    return sum(kind for _, kind in both), sum(1 - kind for _, kind in both)


WRONG = {
    "superwords.1": [only_superwords, the_other_tie],
    "superwords.2": [from_bytes_again, one_stage],
    "superwords.3": [fewer_tokens, ids_not_found, zero],
    "superwords.4": [the_merges, bytes_that_meet],
    "superwords.5": [superwords_last, ties_to_superwords],
}
