"""Plausible wrong answers to the exercises of *Encoding*."""

from itertools import pairwise

from bpelab import ENCODERS, NotBPELongestMatch, trace_encode
from bpelab.trainers.naive import replace_pair


def longest_first():
    return [b"abc", b"abc"]


def left_to_right():
    return [b"abc", b"ab", b"c"]


def as_text():
    return ["ab", "ca", "b", "c"]


def counts_last_look(model, piece):
    ids, rounds = model.initial_ids(piece), 0
    while True:
        rounds += 1
        found = [(*model.merges[pair], pair) for pair in pairwise(ids) if pair in model.merges]
        if not found:
            return ids, rounds
        _, new, pair = min(found)
        ids = replace_pair(ids, pair, new)


def one_place_each(model, piece):
    steps = list(trace_encode(ENCODERS["naive"](model), piece))
    return ENCODERS["naive"](model).encode_piece(piece), len(steps)


def bpe_count(model, piece):
    return len(ENCODERS["naive"](model).encode_piece(piece))


def greedy_count(model, piece):
    return len(NotBPELongestMatch(model).encode_piece(piece))


def every_way(model, piece):
    if not piece:
        return 0
    sizes = range(1, len(piece) + 1)
    return 1 + min(every_way(model, piece[size:]) for size in sizes if piece[:size] in model.ids)


def first_line():
    return 1


def last_line():
    return 6


def the_longest_token(model):
    return max(model.ids, key=len)


def two_letters(model):
    return b"ab"


def longest_token_first(vocab, piece):
    ids = []
    while piece:
        size = max(size for size in range(1, len(piece) + 1) if piece[:size] in vocab)
        ids.append(vocab[piece[:size]])
        piece = piece[size:]
    return ids


def first_pair_that_merges(vocab, piece):
    tokens, index = [bytes([byte]) for byte in piece], 0
    while index < len(tokens) - 1:
        if tokens[index] + tokens[index + 1] in vocab:
            tokens[index : index + 2] = [tokens[index] + tokens[index + 1]]
            index = 0
        else:
            index += 1
    return [vocab[token] for token in tokens]


WRONG = {
    "encoding.1": [longest_first, left_to_right, as_text],
    "encoding.2": [first_line, last_line],
    "encoding.3": [counts_last_look, one_place_each],
    "encoding.4": [the_longest_token, two_letters],
    "encoding.5": [bpe_count, greedy_count, every_way],
    "encoding.6": [longest_token_first, first_pair_that_merges],
}
