"""Plausible wrong answers to the exercises of *File formats*."""

import struct

from bpelab import PATTERNS, BPEModel, BPETokenizer
from bpelab.unicode.byte_alphabet import from_alphabet, to_alphabet


def strings_at(data, at, skipped=4):
    (length,) = struct.unpack_from("<Q", data, at)
    value = at + 8 + length + skipped
    (size,) = struct.unpack_from("<Q", data, value)
    return data[at + 8 : at + 8 + length], data[value + 8 : value + 8 + size]


def tensors_for_keys(data):
    (tensors,) = struct.unpack_from("<Q", data, 8)
    key, value = strings_at(data, 24)
    return tensors, key.decode(), value.decode()


def still_bytes(data):
    (keys,) = struct.unpack_from("<Q", data, 16)
    return keys, *strings_at(data, 24)


def no_type(data):
    (keys,) = struct.unpack_from("<Q", data, 16)
    key, value = strings_at(data, 24, 0)
    return keys, key.decode(), value.decode(errors="replace")


def length_in_characters(data):
    (keys,) = struct.unpack_from("<Q", data, 16)
    key, value = strings_at(data, 24)
    rest = data[24 + 8 + len(key) + 4 + 8 :].decode(errors="replace")
    return keys, key.decode(), rest[: len(value)]


def parts_only(vocab, merges):
    for index, merge in enumerate(merges):
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        if left not in vocab or right not in vocab:
            return index
    return None


def result_only(vocab, merges):
    for index, merge in enumerate(merges):
        if "".join(merge).replace(" ", "") not in vocab:
            return index
    return None


def split_at_any_space(vocab, merges):
    for index, merge in enumerate(merges):
        parts = merge.split() if isinstance(merge, str) else merge
        if len(parts) != 2 or not {*parts, "".join(parts)} <= vocab.keys():
            return index
    return None


def any_sample(model, samples):
    tried = {name: BPETokenizer(model, pattern=name) for name in PATTERNS}
    return [name for name, t in tried.items() if any(t.encode(text) == ids for text, ids in samples.items())]


def same_count(model, samples):
    tried = {name: BPETokenizer(model, pattern=name) for name in PATTERNS}
    return [n for n, t in tried.items() if all(len(t.encode(text)) == len(ids) for text, ids in samples.items())]


def first_only(model, samples):
    for name in PATTERNS:
        tokenizer = BPETokenizer(model, pattern=name)
        if all(tokenizer.encode(text) == ids for text, ids in samples.items()):
            return [name]
    return []


def comes_back(model, samples):
    tried = {name: BPETokenizer(model, pattern=name) for name in PATTERNS}
    return [name for name, t in tried.items() if all(t.decode(ids) == text for text, ids in samples.items())]


def all_in_the_alphabet(vocab, special):
    return {token_id: from_alphabet(token) for token, token_id in vocab.items()}


def no_alphabet(vocab, special):
    return {token_id: token.replace("Ġ", " ").encode() for token, token_id in vocab.items()}


def special_left_out(vocab, special):
    return {token_id: from_alphabet(token) for token, token_id in vocab.items() if token not in special}


def in_the_order_of_the_table(ranks):
    model = BPEModel.from_ranks(ranks)
    lines = []
    for token in ranks:
        if len(token) > 1:
            left, right = model.recovered_merges.splits[model.ids[token]]
            lines.append(f"{to_alphabet(model.tokens[left])} {to_alphabet(model.tokens[right])}")
    return lines


def every_pair(ranks):
    model = BPEModel.from_ranks(ranks)
    ordered = sorted(model.merges, key=lambda pair: model.merges[pair][0])
    return [f"{to_alphabet(model.tokens[a])} {to_alphabet(model.tokens[b])}" for a, b in ordered]


def without_the_alphabet(ranks):
    model = BPEModel.from_ranks(ranks)
    pairs = model.recovered_merges.splits.values()
    return [f"{model.tokens[a].decode('latin-1')} {model.tokens[b].decode('latin-1')}" for a, b in pairs]


WRONG = {
    "formats.1": [tensors_for_keys, still_bytes, no_type, length_in_characters],
    "formats.2": [parts_only, result_only, split_at_any_space],
    "formats.3": [any_sample, same_count, first_only, comes_back],
    "formats.4": [all_in_the_alphabet, no_alphabet, special_left_out],
    "formats.5": [in_the_order_of_the_table, every_pair, without_the_alphabet],
}
