"""Plausible wrong answers to the exercises of *Measuring*."""

from collections import Counter

from bpelab import BPEModel, BPETokenizer
from bpelab.encoders import NaiveEncoder
from bpelab.exercises.chapters.measuring import ANSWERS
from bpelab.unicode.byte_alphabet import from_alphabet


def code_points():
    return {**ANSWERS, "bytes": [ord(char) for char in "hé!"]}


def from_the_right():
    return {**ANSWERS, "pairs": [97, 256, 256]}


def all_that_occurs():
    return {**ANSWERS, "at least 2": 4}


def shorter_is_better():
    return {**ANSWERS, "why bytes": "shorter"}


def larger_is_riskier():
    return {**ANSWERS, "larger": True}


def larger_helps_on_all():
    return {**ANSWERS, "helps on": ["the harbour", "7401", "гавань"]}


def larger_helps_on_none():
    return {**ANSWERS, "helps on": []}


def fewer_tokens_are_fewer_operations():
    return {**ANSWERS, "helps for": ["tiny", "32 layers"]}


def small_models_have_more_to_gain():
    return {**ANSWERS, "helps for": ["tiny"]}


def half_done():
    return {"bytes": ANSWERS["bytes"]}


def missing_only(home, other, text):
    used = Counter(home.tokenize(text))
    saved = [(token, used[token]) for token in used if token not in other.model.ids]
    return sorted(saved, key=lambda entry: (-entry[1], entry[0]))


def bytes_saved(home, other, text):
    used = Counter(home.tokenize(text))
    saved = [(token, (len(token) - 1) * used[token]) for token in used if len(token) > 1]
    return sorted(saved, key=lambda entry: (-entry[1], entry[0]))


def each_once(home, other, text):
    encode = NaiveEncoder(other.model).encode_piece
    saved = [(token, len(encode(token)) - 1) for token in set(home.tokenize(text))]
    return sorted([entry for entry in saved if entry[1]], key=lambda entry: (-entry[1], entry[0]))


def without_the_ties(home, other, text):
    encode = NaiveEncoder(other.model).encode_piece
    used = Counter(home.tokenize(text))
    saved = [(token, used[token] * (len(encode(token)) - 1)) for token in used]
    return sorted([entry for entry in saved if entry[1]], key=lambda entry: -entry[1])


def byte_order(lines, text):
    pairs = [
        tuple(from_alphabet(part) for part in line.split(" ")) for line in lines if not line.startswith("#version")
    ]
    return BPETokenizer(BPEModel.from_merges(pairs), pattern="gpt2").encode(text)


def every_hash_is_a_comment(lines, text):
    from bpelab.exercises.chapters.measuring import encode_with_merges

    return encode_with_merges([line for line in lines if not line.startswith("#")], text)


def characters_as_bytes(lines, text):
    from bpelab.exercises.chapters.measuring import encode_with_merges

    return encode_with_merges(lines, text.replace(" ", "Ġ"))


def never_tied(shape, memory, tokens):
    rest = (shape.weights["attention"] + shape.weights["feed-forward"]) * shape.bytes_per_weight
    row = 2 * shape.hidden * shape.bytes_per_weight
    return max(0, int((memory - rest - tokens * shape.cache_bytes) // row))


def below_zero(shape, memory, tokens):
    rest = (shape.weights["attention"] + shape.weights["feed-forward"]) * shape.bytes_per_weight
    row = (1 if shape.tied else 2) * shape.hidden * shape.bytes_per_weight
    return int((memory - rest - tokens * shape.cache_bytes) // row)


def no_cache(shape, memory, tokens):
    rest = (shape.weights["attention"] + shape.weights["feed-forward"]) * shape.bytes_per_weight
    row = (1 if shape.tied else 2) * shape.hidden * shape.bytes_per_weight
    return max(0, int((memory - rest) // row))


WRONG = {
    "measuring.1": [
        code_points,
        from_the_right,
        all_that_occurs,
        shorter_is_better,
        larger_is_riskier,
        larger_helps_on_all,
        larger_helps_on_none,
        fewer_tokens_are_fewer_operations,
        small_models_have_more_to_gain,
        half_done,
    ],
    "measuring.2": [missing_only, bytes_saved, each_once, without_the_ties],
    "measuring.3": [byte_order, every_hash_is_a_comment, characters_as_bytes],
    "measuring.4": [never_tied, below_zero, no_cache],
}
