"""Plausible wrong answers to the exercises of *A trie*."""

from bisect import bisect_right

from bpelab import ENCODERS, NotBPELongestMatch, trace_encode


def by_trying(model, piece):
    if not piece:
        return 1
    return sum(by_trying(model, piece[size:]) for size in range(1, len(piece) + 1) if piece[:size] in model.ids)


def borders(model, piece):
    return 2 ** max(0, len(piece) - 1)


def times_back(encoder, piece):
    return sum(step.action == "back" for step in trace_encode(encoder, piece))


def rejected(encoder, piece):
    tokens = encoder.model.tokens
    return sum(len(tokens[step.token]) for step in trace_encode(encoder, piece) if step.action == "reject")


def facing_bytes(model, left, right):
    pair = model.ids[left[-1:]], model.ids[right[:1]]
    return (left[-1:], right[:1]) if pair in model.merges else None


def any_rank(model, left, right):
    splits, rank_of = model.recovered_merges.splits, model.recovered_merges.rank_of
    a, b = model.ids[left], model.ids[right]
    while True:
        if (a, b) in model.merges:
            return model.tokens[a], model.tokens[b]
        if rank_of.get(a, -1) > rank_of.get(b, -1):
            a = splits[a][1]
        elif b in rank_of:
            b = splits[b][0]
        else:
            return None


def up_to_the_first_too_long(encoder, piece, limit):
    counts = encoder.prefix_counts(piece)
    return next((size - 1 for size, count in enumerate(counts) if count > limit), len(piece))


def halving(encoder, piece, limit):
    return bisect_right(encoder.prefix_counts(piece), limit) - 1


def the_first_tokens(encoder, piece, limit):
    return sum(len(encoder.model.tokens[i]) for i in encoder.encode_piece(piece)[:limit])


def longest_match(model, piece):
    return NotBPELongestMatch(model).encode_piece(piece)


def longest_at_the_end(model, piece):
    ids, end = [], len(piece)
    while end:
        start = next(start for start in range(end) if piece[start:end] in model.ids)
        ids.append(model.ids[piece[start:end]])
        end = start
    return ids[::-1]


def reversed_ids(model, piece):
    return ENCODERS["naive"](model).encode_piece(piece)[::-1]


def longest_always(vocab):
    def encode(piece):
        ids = []
        while piece:
            size = max(size for size in range(1, len(piece) + 1) if piece[:size] in vocab)
            ids.append(vocab[piece[:size]])
            piece = piece[size:]
        return ids

    return encode


def fewest_tokens(vocab):
    def encode(piece):
        best = [[]]
        for end in range(1, len(piece) + 1):
            cuts = [[*best[start], vocab[piece[start:end]]] for start in range(end) if piece[start:end] in vocab]
            best.append(min(cuts, key=len))
        return best[-1]

    return encode


WRONG = {
    "trie.1": [by_trying, borders],
    "trie.2": [times_back, rejected],
    "trie.3": [facing_bytes, any_rank],
    "trie.4": [up_to_the_first_too_long, halving, the_first_tokens],
    "trie.5": [longest_match, longest_at_the_end, reversed_ids],
    "trie.6": [longest_always, fewest_tokens],
}
