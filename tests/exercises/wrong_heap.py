"""Plausible wrong answers to the exercises of *A heap*."""

import itertools

from bpelab import ENCODERS, BPEModel
from bpelab.exercises.chapters import encoding
from bpelab.model.trace import HeapStep


def all_pushes(steps):
    return sum(isinstance(step, HeapStep) and step.action == "push" for step in steps)


def stale_stays(steps):
    most = now = 0
    for step in steps:
        if isinstance(step, HeapStep):
            now += {"push": 1, "pop": -1, "stale": 0}[step.action]
            most = max(most, now)
    return most


def what_is_left(steps):
    now = 0
    for step in steps:
        if isinstance(step, HeapStep):
            now += 1 if step.action == "push" else -1
    return now


def forgets_the_way_back(ids, previous, following, node, new):
    other = following[node]
    ids[node], ids[other] = new, None
    following[node] = following[other]
    return [n for n in (previous[node], node) if n >= 0 and following[n] < len(ids)]


def next_number(ids, previous, following, node, new):
    ids[node], ids[node + 1] = new, None
    following[node] = following[node + 1]
    if following[node] < len(ids):
        previous[following[node]] = node
    return [n for n in (previous[node], node) if n >= 0 and following[n] < len(ids)]


def runs_off_the_end(ids, previous, following, node, new):
    other = following[node]
    ids[node], ids[other] = new, None
    following[node] = following[other]
    previous[following[node]] = node
    return [previous[node], node]


def too_short():
    return BPEModel.from_merges([(b"a", b"b")]), b"ab" * 5


def a_run():
    return BPEModel.from_merges([(b"a", b"a")]), b"a" * 20


def up_to_the_limit(model, limit):
    naive, heap = ENCODERS["naive"](model), ENCODERS["heap"](model)
    return lambda piece: (naive if len(piece) <= limit else heap).encode_piece(piece)


def the_other_way(model, limit):
    naive, heap = ENCODERS["naive"](model), ENCODERS["heap"](model)
    return lambda piece: (heap if len(piece) < limit else naive).encode_piece(piece)


def rightmost(model, piece):
    ids = model.initial_ids(piece)
    while True:
        found = [
            (model.merges[ids[i], ids[i + 1]], -i)
            for i in range(len(ids) - 1)
            if model.merges.get((ids[i], ids[i + 1]))
        ]
        if not found:
            return ids
        (_, new), place = min(found)
        ids[-place : 2 - place] = [new]


def scanning(model, piece):
    ids = model.initial_ids(piece)
    while True:
        best = None
        for i in range(len(ids) - 1):
            merge = model.merges.get((ids[i], ids[i + 1]))
            if merge and (best is None or merge < best[0]):
                best = merge, i
        if best is None:
            return ids
        ids[best[1] : best[1] + 2] = [best[0][1]]


def stale_entries_merge(vocab, piece):
    tokens, index = [bytes([byte]) for byte in piece], 0
    ranks = sorted((vocab[a + b], index) for index, (a, b) in enumerate(itertools.pairwise(tokens)) if a + b in vocab)
    for _, index in ranks:
        if index + 1 < len(tokens) and tokens[index] and tokens[index + 1]:
            tokens[index], tokens[index + 1] = tokens[index] + tokens[index + 1], None
    return [vocab[token] for token in tokens if token in vocab]


WRONG = {
    "heap.1": [all_pushes, stale_stays, what_is_left],
    "heap.2": [forgets_the_way_back, next_number, runs_off_the_end],
    "heap.3": [too_short, a_run],
    "heap.4": [up_to_the_limit, the_other_way],
    "heap.5": [rightmost, scanning],
    "heap.6": [encoding.encode_piece, stale_entries_merge],
}
