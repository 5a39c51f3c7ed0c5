"""The exercises of *File formats*."""

import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from ...formats.gguf_container import write_metadata
from ...model.bpe import BPEModel
from ...regex.patterns import PATTERNS
from ...tokenizer import BPETokenizer
from ...unicode.byte_alphabet import BYTE_OF_CHAR, from_alphabet, to_alphabet
from ..exercise import Exercise
from ..fixtures import BYTE_RANKS, is_rank_table, learned_merges, rank_tables

Merge = str | list[str]
MERGES = [(b".", b"\n"), (b"\n", b"\n"), (b"1", b"2"), (b"3", b"4"), (b"'", b"s"), (b"a", b"B"), (b"\n", b" ")]
"""Merges across the cuts of one pattern or another."""


def first_entry(data):
    """Return (number of keys, first key, its value) for the bytes of a GGUF file.

    The file is of version 3, little-endian, and the value of its first key is a string.
    """
    (keys,) = struct.unpack_from("<Q", data, 16)
    strings, at = [], 24
    for skipped in (4, 0):  # the type follows the key
        (length,) = struct.unpack_from("<Q", data, at)
        strings.append(data[at + 8 : at + 8 + length].decode())
        at += 8 + length + skipped
    return keys, *strings


def first_bad_merge(vocab, merges):
    """Return the index of the first of `merges` that is invalid, or None.

    `vocab` is token -> id. A merge is a list of two tokens, or a str of two with one
    space between them; any other str is invalid. Both tokens must be in `vocab`, and so
    must the two joined.
    """
    for index, merge in enumerate(merges):
        parts = merge.split(" ") if isinstance(merge, str) else merge
        if len(parts) != 2 or not {*parts, "".join(parts)} <= vocab.keys():
            return index
    return None


def patterns_that_fit(model, samples):
    """Return the names in PATTERNS, in their order, that reproduce all ids in `samples`.

    `samples` is text -> list of ids, and `model` the BPEModel that they come from.
    """
    fitting = []
    for name in PATTERNS:
        tokenizer = BPETokenizer(model, pattern=name)
        if all(tokenizer.encode(text) == ids for text, ids in samples.items()):
            fitting.append(name)
    return fitting


def bytes_of_ids(vocab, special):
    """Return id -> bytes for the `vocab` of a vocab.json, token -> id.

    Tokens are written in the byte alphabet, except for those in the set `special`, which
    are plain text.
    """
    found = {}
    for token, token_id in vocab.items():
        found[token_id] = token.encode() if token in special else from_alphabet(token)
    return found


def merge_lines(ranks):
    """Return the lines of a merges.txt, without its first line, for a table of token -> rank.

    Every token of more than one byte is made by one merge.
    """
    model = BPEModel.from_ranks(ranks)
    pairs = model.recovered_merges.splits.values()
    return [f"{to_alphabet(model.tokens[left])} {to_alphabet(model.tokens[right])}" for left, right in pairs]


def _headers() -> Iterator[tuple[bytes]]:
    files: list[dict[str, Any]] = [
        {"a": "b"},
        {"general.name": "né"},
        {"general.architecture": "llama", "general.type": "vocab"},
        {"general.name": "", "tokenizer.ggml.tokens": ["a", "b", "ab"]},
        {"general.author": "日本語", "b": ["c"], "d": False},
        {f"key.{number}": "x" * (300 - number) for number in range(300)},
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "header.gguf")
        for metadata in files:
            write_metadata(path, metadata)
            yield (path.read_bytes(),)


def _lists() -> Iterator[tuple[dict[str, int], list[Merge]]]:
    yield {"a": 0, "b": 1, "ab": 2}, []
    yield {"a": 0, "b": 1, "ab": 2}, ["a b"]
    yield {"a": 0, "b": 1, "ab": 2}, [["a", "b"]]
    yield {"a": 0, "b": 1}, ["a b"]
    yield {"a": 0, "ab": 2}, [["a", "b"]]
    yield {"b": 0, "ab": 2}, [["a", "b"]]
    yield {"a": 0, " ": 1, "a ": 2}, [["a", " "]]
    yield {"a": 0, " ": 1, "a ": 2}, ["a  "]
    yield {"1": 0, "\u00a0": 1, "0": 2, "1\u00a0": 3, "\u00a00": 4}, ["1 \u00a0", "\u00a0 0"]
    random = Random(14)
    pairs = learned_merges({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 12)
    for _ in range(40):
        listed: list[Merge] = [[left.decode(), right.decode()] for left, right in pairs]
        tokens = sorted({part for merge in listed for part in (*merge, "".join(merge))})
        vocab = {token: number for number, token in enumerate(tokens) if random.random() > 0.03}
        yield vocab, [" ".join(merge) if random.random() < 0.5 else merge for merge in listed]


def _is_list(vocab: Any, listed: Any) -> bool:
    return all(isinstance(merge, str) or (len(merge) == 2 and all(merge)) for merge in listed) and "" not in vocab


def _samples() -> Iterator[tuple[BPEModel, dict[str, list[int]]]]:
    model = BPEModel.from_merges(MERGES)
    groups = (["a"], ["12"], [".\n\n"], ["1234"], ["'s"], ["aB"], [" \n "], ["a", ".\n\n"], ["'S 123", "aB \n "])
    for name in PATTERNS:
        tokenizer = BPETokenizer(model, pattern=name)
        for texts in groups:
            yield model, {text: tokenizer.encode(text) for text in texts}


def _are_samples(model: BPEModel, samples: Any) -> bool:
    joined = {text: b"".join(model.tokens[token_id] for token_id in ids) for text, ids in samples.items()}
    return all(text.encode() == data for text, data in joined.items())


def _vocabularies() -> Iterator[tuple[dict[str, int], set[str]]]:
    yield {"a": 0}, set()
    yield {"Ġ": 0, "a": 1, "Ġa": 2}, set()
    yield {"é": 0, "Ã": 1, "©": 2, "Ã©": 3}, set()
    yield {"a": 0, "<|end|>": 5}, {"<|end|>"}
    yield {"a": 0, "<é>": 1}, {"<é>"}
    yield {"a": 1, "Ġ": 0}, {"Ġ"}
    yield {"a": 3, "<日本>": 9}, {"<日本>", "<not here>"}
    random = Random(14)
    letters = list(BYTE_OF_CHAR)
    for _ in range(20):
        tokens = {"".join(random.choices(letters, k=random.randint(1, 4))) for _ in range(10)}
        ids = random.sample(range(1000), len(tokens))
        yield dict(zip(sorted(tokens), ids)), set(random.sample(sorted(tokens), 2))


def _is_vocabulary(vocab: Any, special: Any) -> bool:
    ordinary = "".join(token for token in vocab if token not in special)
    return set(ordinary) <= BYTE_OF_CHAR.keys() and len(set(vocab.values())) == len(vocab) and "" not in vocab


def _tables() -> Iterator[tuple[dict[bytes, int]]]:
    yield (dict(BYTE_RANKS),)
    yield (BYTE_RANKS | {b" t": 256, b"he": 257, b" the": 258},)
    yield (BYTE_RANKS | {b" \n": 300, b" \n\xc3": 290, b"\n\xc3": 280},)
    seen: list[dict[bytes, int]] = []
    for ranks, _ in rank_tables():
        if ranks not in seen and _is_made(ranks):
            seen.append(ranks)
            yield (dict(sorted(ranks.items(), reverse=True)),)


def _is_made(ranks: Any) -> bool:
    if not is_rank_table(ranks, b"a"):
        return False
    recovered_merges = BPEModel.from_ranks(ranks).recovered_merges
    return not (recovered_merges.early or recovered_merges.unreachable)


EXERCISES = [
    Exercise(
        "formats.1",
        "The first entry",
        first_entry,
        _headers,
        (
            "Four bytes of magic, four of version, eight to count tensors, eight to count keys. Then the first key.",
            'struct.unpack_from("<Q", data, at) reads eight bytes at `at`, and returns a tuple of one number.',
            "A string begins with its length, which counts bytes and not characters: cut first, decode then.",
            "Between the key and its value are four bytes that say what type the value has.",
        ),
        level="medium",
        next_step="The other keys have the same form, so this is most of a reader of GGUF.",
        is_valid=lambda data: False,
    ),
    Exercise(
        "formats.2",
        "The merge that can't be",
        first_bad_merge,
        _lists,
        (
            "Look up three things for each merge: its two parts, and the two joined.",
            'A str is cut with split(" "). Without the space in brackets, split() also cuts at U+00A0.',
            "If that doesn't return two parts, the merge can't be.",
        ),
        level="easy",
        next_step="Which error does `tokenizers` raise for such a file, and does it name the merge?",
        is_valid=_is_list,
    ),
    Exercise(
        "formats.3",
        "What was it cut with?",
        patterns_that_fit,
        _samples,
        (
            "BPETokenizer(model, pattern=name) is the model with one of the patterns.",
            "Keep a name if `encode` returns the ids of all samples.",
        ),
        level="medium",
        next_step="How few texts tell all of the named patterns apart?",
        is_valid=_are_samples,
    ),
    Exercise(
        "formats.4",
        "Out of the alphabet",
        bytes_of_ids,
        _vocabularies,
        (
            "from_alphabet (bpelab.unicode.byte_alphabet) returns the bytes of an ordinary token.",
            "The é of <é> is a letter, and the é of an ordinary token is the byte 0xE9.",
        ),
        level="medium",
        next_step="With the merges as well, you can open GPT-2's own files.",
        is_valid=_is_vocabulary,
    ),
    Exercise(
        "formats.5",
        "A table as a list",
        merge_lines,
        _tables,
        (
            "BPEModel.from_ranks(ranks).recovered_merges.splits says which two tokens each token is made of.",
            "Its order is that of the ranks, so its values are the lines, in ids.",
            "model.tokens has the bytes of an id, and to_alphabet (bpelab.unicode.byte_alphabet) writes them.",
        ),
        level="medium",
        next_step="With the line `#version: 0.2` on top and your vocab.json beside it, `tokenizers` can open the file.",
        is_valid=_is_made,
    ),
]
