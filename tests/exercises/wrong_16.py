"""Plausible wrong answers to the exercises of chapter 16."""

from bpelab import ENCODERS, BPEModel, NotBPELongestMatch
from bpelab.trainers.naive import replace_pair


def as_bpe(model, piece):
    return len(ENCODERS["naive"](model).encode_piece(piece))


def as_longest_match(model, piece):
    return len(NotBPELongestMatch(model).encode_piece(piece))


def all_cuts(model, piece):
    if not piece:
        return 0
    return 1 + min(all_cuts(model, piece[size:]) for size in range(1, len(piece) + 1) if piece[:size] in model.ids)


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
    model = BPEModel.from_ranks(BPEModel.from_merges(merges).ids, take_whole=False)
    return [model.tokens[i] for i in sorted(model.recovered.unreachable)]


WRONG = {
    "16.1": [as_bpe, as_longest_match, all_cuts],
    "16.2": [always_the_same, in_english, no_ids_at_all],
    "16.3": [text_that_starts_so, only_longer_ones, keeps_all],
    "16.4": [never_a_part, down_the_list, by_any_parts],
}
