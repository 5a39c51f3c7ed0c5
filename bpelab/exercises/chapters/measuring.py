"""The exercises of *Measuring*."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from ...analysis.shape import ModelShape
from ...encoders import NaiveEncoder
from ...model.bpe import BPEModel
from ...notebook.messages import code
from ...tokenizer import BPETokenizer
from ...unicode.byte_alphabet import CHAR_OF_BYTE, from_alphabet, to_alphabet
from ..exercise import Exercise
from ..fixtures import learned_merges, trained_tokenizer


def quick_answers():
    """Return a dict with these eight keys and your answers.

    "bytes": the list of ids of "hé!" if the 256 bytes are the only tokens.
    "pairs": the list of ids of "aaaaa" if a a is the only merge, and makes token 256.
    "at least 2": how many merges training learns from "ab ab ab cd" if only the minimum
        frequency, which is 2, stops it. The pattern gives ab, _ab, _ab, _cd, where _ is
        the space.
    "at least 1": the same with a minimum frequency of 1.
    "why bytes": "shorter", since a text has fewer bytes than characters; "complete",
        since 256 tokens then spell every text; or "whole", since no token then ends
        inside a character.
    "larger": True or False: of two vocabularies trained on one text, 1,000 and 2,000
        tokens, the larger one can need more tokens than the smaller for some text.
    "helps on": which of "the harbour", "7401" and "гавань" need fewer tokens with 270
        tokens than with 260, both trained on "the harbour master, " * 9; a list of texts.
    "helps for": a page is 900 tokens with a vocabulary of 64,000, and 1,000 with one of
        8,000. Which of the shapes "tiny" and "32 layers" above read the page in fewer
        operations with the larger vocabulary? A list of names.
    """
    shapes = {
        "tiny": ModelShape(2, 4, 4, 16, 64, 172, 1024, tied=True),
        "32 layers": ModelShape(32, 32, 8, 128, 4096, 14336, 128256),
    }
    helped = []
    for name, shape in shapes.items():
        sized = {tokens: replace(shape, vocabulary=size) for size, tokens in ((8_000, 1_000), (64_000, 900))}
        small, large = (sum(each.operations_for(tokens).values()) for tokens, each in sized.items())
        if large < small:
            helped.append(name)
    return {
        "bytes": [104, 195, 169, 33],
        "pairs": [256, 256, 97],
        "at least 2": 2,
        "at least 1": 4,
        "why bytes": "complete",
        "larger": False,
        "helps on": ["the harbour"],
        "helps for": helped,
    }


def savings(home, other, text):
    """Return how many tokens each token of `home` saves on `text`: [(token as bytes, tokens saved), ...].

    If `other` encodes the bytes of a token alone as n tokens, the token saves n - 1 each
    time `home` uses it on the text. Sort by the tokens saved, most first, then by token.
    Leave out tokens that save nothing.
    """
    # On the page's texts, "two" saves most with runs of spaces and the signs of code, "one" with common English words.
    encode = NaiveEncoder(other.model).encode_piece
    saved = []
    for token, times in Counter(home.tokenize(text)).items():
        each = len(encode(token)) - 1
        if each:
            saved.append((token, times * each))
    return sorted(saved, key=lambda entry: (-entry[1], entry[0]))


def encode_with_merges(lines, text):
    """Return the ids of `text`, given the lines of a merges.txt and no vocabulary.

    GPT-2's ids are these: the 256 bytes in the order of the byte alphabet, then a token
    for each merge. A line holds the two parts in the byte alphabet, a space between them;
    the first line may be "#version: 0.2". The pattern is "gpt2".
    """
    tokens = [bytes([byte]) for byte in CHAR_OF_BYTE]
    ids = {token: index for index, token in enumerate(tokens)}
    alphabet: dict[bytes, int] = dict(ids)
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for line in lines:
        if line.startswith("#version"):
            continue
        left, right = (from_alphabet(part) for part in line.split(" "))
        pairs[ids[left], ids[right]] = len(pairs), len(tokens)
        ids[left + right] = len(tokens)
        tokens.append(left + right)
    model = BPEModel(dict(enumerate(tokens)), pairs, alphabet)
    return BPETokenizer(model, pattern="gpt2").encode(text)


def largest_vocabulary(shape, memory, tokens):
    """Return the size of the largest vocabulary with which a model fits into `memory` bytes.

    The memory holds the weights of a model of `shape`, whatever `shape.vocabulary` says,
    and a cache of `tokens` tokens. Return 0 if not even a vocabulary of 1 fits.
    """
    weights = shape.weights
    rest = (weights["attention"] + weights["feed-forward"]) * shape.bytes_per_weight
    row = shape.hidden * (1 if shape.tied else 2) * shape.bytes_per_weight
    return max(0, int((memory - rest - tokens * shape.cache_bytes) // row))


ANSWERS: dict[str, Any] = quick_answers()
ABOUT = {
    "bytes": "Encode the text in UTF-8. With no merges an id is a byte.",
    "pairs": "Of equal ranks the leftmost merges first, and then what comes after it.",
    "at least 2": "Count the pairs, merge the most frequent one everywhere, and count again.",
    "at least 1": "Go on after the pairs that occur twice: what is left that occurs once?",
    "why bytes": "A tokenizer with an alphabet of characters meets characters that are not in it.",
    "larger": "The merges of the smaller one are the first merges of the larger one. What is left to do after them?",
    "helps on": "A token that was learned saves only where its bytes occur in the text. Train the two, and count.",
    "helps for": "replace(shape, vocabulary=64_000).operations_for(900) has the parts. The output grows with the "
    "vocabulary, the layers' work with the number of tokens.",
}


def _about_quick(got: Any) -> str | None:
    for key, expected in ANSWERS.items():
        if key not in got:
            return f'There is no answer to "{key}".'
        if got[key] != expected or type(got[key]) is not type(expected):
            return f'The answer to "{key}" is not right. {ABOUT[key]}'
    return None


PROSE = "the harbour and the harbour master, the ferry and the fog, "
CODE = "    return x\n    if x:\n        return y\n"


def _two() -> Iterator[tuple[tuple[str, int], tuple[str, int], str]]:
    few = ("a", 256)
    prose, script, accents = (PROSE * 3, 290), (CODE * 3, 290), ("né à la né 日本 日本 " * 3, 270)
    for home, other in ((("abab", 257), few), (prose, few), (few, prose), (prose, script), (script, prose)):
        for text in ("ab abab", PROSE, CODE, "    if the harbour:\n        return fog\n"):
            yield home, other, text
    yield accents, few, "né 日本"
    yield few, accents, "né 日本"


def _show_two(name: str, home: tuple[str, int], other: tuple[str, int], text: str) -> str:
    trainings = [f"BPETokenizer.train({code(corpus)}, {size}, progress=False)" for corpus, size in (home, other)]
    return f"{name}({trainings[0]}, {trainings[1]}, {code(text)})"


def _merge_files() -> Iterator[tuple[list[str], str]]:
    yield [], "a"
    yield [], "né 日\n"
    corpora: list[dict[bytes, int]] = [
        {b"ab": 2},
        {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3},
        {b" the": 5, b" that": 3, b"the": 1, " né".encode(): 4, b"\n\n": 2},
    ]
    texts = ("abab", "the lowest, the newest né\n\n", " that's 1907", "!\x00~")
    for words, num_merges in product(corpora, (1, 4, 20)):
        pairs = [f"{to_alphabet(left)} {to_alphabet(right)}" for left, right in learned_merges(words, num_merges)]
        for text in texts:
            yield pairs, text
            yield ["#version: 0.2", *pairs], text
    yield ["# #", "## ##"], "#### #"  # a comment only if it names a version


def _shapes() -> Iterator[tuple[ModelShape, int, int]]:
    small = ModelShape(layers=1, heads=2, kv_heads=1, head_size=4, hidden=8, feed_forward=16, vocabulary=10)
    large = ModelShape(layers=4, heads=8, kv_heads=2, head_size=16, hidden=128, feed_forward=300, vocabulary=1000)
    for shape in (small, large):
        for changes in ({}, {"tied": True}, {"gated": False, "bytes_per_weight": 4}, {"bytes_per_cached": 1}):
            changed = replace(shape, **changes)
            for memory, tokens in product((0, 1_000, 3_000, 2_000_000, 2_345_677), (0, 7, 500)):
                yield changed, memory, tokens


EXERCISES = [
    Exercise(
        "measuring.1",
        "Quick answers",
        quick_answers,
        lambda: iter([()]),
        (
            'Run what you can\'t work out: BPETokenizer(BPEModel.from_merges([(b"a", b"a")])).encode("aaaaa").',
            "For the minimum frequency: ab is counted in three pieces, and each merge changes what can be counted.",
        ),
        level="easy",
        next_step="Which one did you get wrong at first? Its chapter shows why.",
        problem=_about_quick,
    ),
    Exercise(
        "measuring.2",
        "Where it is saved",
        savings,
        _two,
        (
            "Counter(home.tokenize(text)) says how often each token is used.",
            'ENCODERS["naive"](other.model).encode_piece(token) cuts any bytes, whether they are text or not.',
            "Sort by (-saved, token).",
        ),
        level="medium",
        next_step="Which ten tokens save the most? They tell what the vocabulary was trained on.",
        call=lambda answer, home, other, text: answer(trained_tokenizer(*home), trained_tokenizer(*other), text),
        format_call=_show_two,
        is_valid=lambda home, other, text: False,
    ),
    Exercise(
        "measuring.3",
        "Merges are enough",
        encode_with_merges,
        _merge_files,
        (
            "The keys of CHAR_OF_BYTE (bpelab.unicode.byte_alphabet) are the bytes, in the order of the alphabet.",
            "A merge makes the next id: 256 for the first one. Its parts have ids already.",
            "BPEModel(tokens, merges, alphabet) takes {id: bytes}, {(left id, right id): (rank, new id)} and "
            "{bytes: id} of the 256 bytes.",
        ),
        level="hard",
        next_step='Compare with `tiktoken.get_encoding("gpt2")` if you have it.',
        is_valid=lambda lines, text: False,
    ),
    Exercise(
        "measuring.4",
        "Room for words",
        largest_vocabulary,
        _shapes,
        (
            "shape.weights names the parts. Those of attention and feed-forward don't depend on the vocabulary.",
            "One more token is one more row of shape.hidden weights, and one more in the output where it isn't tied.",
            "The cache takes tokens * shape.cache_bytes, and each weight shape.bytes_per_weight.",
        ),
        level="medium",
        next_step="What does a context of twice the length cost in vocabulary?",
        is_valid=lambda shape, memory, tokens: False,
    ),
]
