"""Encoding in C against the pure-Python encoders and the Python pre-tokenizer: the same ids, always."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bpelab import BPEModel, BPETokenizer, native
from bpelab.encoders import HeapEncoder
from bpelab.errors import PatternError
from bpelab.notebook import book_text
from bpelab.pretokenizers.split import Split
from bpelab.regex.dfa import NotRegular, dfa_for
from bpelab.regex.patterns import PATTERNS

from ..conftest import amount, encoding
from .test_plan import greedy

pytestmark = [
    pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler"),
    pytest.mark.filterwarnings("ignore:training stopped"),
]

LETTERS = [
    *"aBé日\u0301 \n\r1२'s-!\u3000😀ſ_\tKǅ\u200d٠ა<>|=.,", "  ", "\r\n", "'ll", "the ", "ing", "\n\n", "    ", "12345",
]  # fmt: skip


MODEL = greedy(
    ["aabbcc", "aé日b c", "".join(LETTERS), *("".join(random.Random(n).choices(LETTERS, k=90)) for n in range(40))]
)
"""With merges across the boundaries of a pattern, so that a wrong boundary changes ids."""
HEAP = HeapEncoder(MODEL)


def check(split: Split, in_c, text: str) -> bool:
    """Whether C has an answer; if so it is compared with Python's."""
    found = in_c.encode(text)
    if found is not None:
        pieces = split.split(text)
        assert found == [i for piece in pieces for i in HEAP.encode_piece(piece.encode())], (split.pattern, text[-200:])
    return found is not None


def test_named_patterns_split_as_in_python():
    rng = random.Random(1)
    for name in PATTERNS:
        split = Split(name)
        in_c = native.encoder_for(MODEL, split)
        assert in_c is not None
        for _ in range(amount(300, 20_000)):
            assert check(split, in_c, "".join(rng.choices(LETTERS, k=rng.randint(0, 40))))
        assert check(split, in_c, book_text()[:40_000])


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    kind = rng.randrange(7 if depth < 3 else 2)
    if kind == 0:
        return rng.choice(["a", "b", "c", "é", "[ab]", "[^a]", r"\s", r"\p{L}", "日"])
    if kind == 1:
        return f"(?:{random_pattern(rng, 3)})" + rng.choice(["*", "+", "?", "{1,2}", "*?", "++", ""])
    if kind == 2:
        return "(?:" + random_pattern(rng, depth + 1) + ")" + rng.choice(["*", "+", "?", ""])
    if kind == 3:
        return random_pattern(rng, depth + 1) + rng.choice(["(?=a)", "(?!b)", "$", ""])
    join = "|" if kind == 4 else ""
    return join.join(random_pattern(rng, depth + 1) for _ in range(rng.randint(2, 3)))


def test_what_follows_changes_no_piece_that_is_certain():
    """In a text of more than 4,096 bytes all but the last 64 are split without looking at these."""
    rng, answers, tried = random.Random(7), 0, 0
    patterns = [named.regex for named in PATTERNS.values()] + [random_pattern(rng) for _ in range(amount(60, 2_000))]
    for pattern in patterns:
        try:
            split, in_c = Split(pattern), native.encoder_for(MODEL, Split(pattern))
        except (NotRegular, PatternError):
            continue
        for _ in range(amount(6, 100) if in_c is not None else 0):
            tail = "".join(rng.choices(LETTERS, k=rng.randint(20, 90)))
            text = "".join(rng.choices(LETTERS, k=20)) * rng.randint(1, 3) + "a " * 2_050 + tail
            tried += 1
            answers += check(split, in_c, text)
    assert tried / 2 < answers


def test_random_patterns_split_as_in_python():
    """With gaps, look-ahead and laziness too; those with look-behind or empty matches are left to Python."""
    rng, tried, left = random.Random(2), 0, 0
    while tried < amount(150, 5_000):
        pattern = random_pattern(rng)
        try:
            dfa_for(pattern)
        except NotRegular:
            continue
        split = Split(pattern)
        in_c = native.encoder_for(MODEL, split)
        if in_c is None:
            left += 1
            continue
        tried += 1
        for _ in range(20):
            check(split, in_c, "".join(rng.choices("aabbcé日 \n", k=rng.randint(0, 30))))
    assert left > tried / 10


def test_a_scan_with_too_much_lookahead_is_given_up():
    """Quadratic for a plain scan: Python, which memoizes failures, takes over, and the ids are the same."""
    text = "a" * 20_000
    tokenizer = BPETokenizer(BPEModel.from_merges([(b"a", b"a")]), pattern="a*b|a", encoder="heap")
    assert native.encoder_for(tokenizer.model, Split("a*b|a")).encode(text) is None
    assert tokenizer.with_options(encoder="native").encode(text) == tokenizer.encode(text)


def random_model(rng: random.Random) -> tuple[BPEModel, list[int]]:
    """Trained-looking merges, or any table of ranks: also ones where a token ranks before its parts.

    Of letters, or of the bytes of other characters, where pieces are split into parts.
    """
    alphabet = rng.sample(rng.choice([b"abcdefgh", "aé日語😀".encode()]), rng.randint(1, 5))
    if rng.random() < 0.5:
        tokens, merges, seen = [bytes([byte]) for byte in alphabet], [], set()
        for _ in range(rng.randint(0, 60)):
            pair = rng.choice(tokens), rng.choice(tokens)
            if pair not in seen and len(b"".join(pair)) <= 40:
                seen.add(pair)
                merges.append(pair)
                tokens.append(b"".join(pair))
        return BPEModel.from_merges(merges, ignore_merges=rng.random() < 0.5), alphabet
    words = {bytes(rng.choices(alphabet, k=rng.randint(2, rng.choice([4, 8, 24])))) for _ in range(rng.randint(0, 60))}
    order = rng.sample(sorted(words), len(words))
    if rng.random() < 0.5:
        order.sort(key=len)
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(order)}
    return BPEModel.from_ranks(ranks, ignore_merges=rng.random() < 0.7), alphabet


def test_every_merge_algorithm_returns_the_ids_of_the_heap():
    """By scanning, by backtracking, on the heap, in parts, and from the cache."""
    rng = random.Random(3)
    for _ in range(amount(120, 10_000)):
        model, alphabet = random_model(rng)
        slow, in_c = HeapEncoder(model), native.encoder_for(model, None)
        for _ in range(30):
            size = rng.choice([1, 2, 5, 8, 15, 16, 17, 24, 25, 31, 32, 33, 39, 40, 41, 60, 120, 700])
            piece = bytes(rng.choices([*alphabet, 200], weights=[9] * len(alphabet) + [1], k=size))
            assert in_c.encode_piece(piece) == slow.encode_piece(piece), (piece, model)
            text = piece.decode("utf-8", "replace")
            for _ in range(2):
                assert in_c.encode(text) == slow.encode_piece(text.encode()), (text, model)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_real_vocabularies(name):
    tokenizer = BPETokenizer.from_tiktoken(encoding(name))
    in_c = tokenizer.with_options(encoder="native")
    rng = random.Random(name)
    texts = [book_text()[:100_000]] + [
        "".join(rng.choices(LETTERS, k=rng.choice([1, 3, 10, 60, 400]))) for _ in range(amount(300, 20_000))
    ]
    for text in texts:
        assert in_c.encode(text) == tokenizer.encode(text), text
    for text in ("a" * 30_000, " " * 30_000, "-" * 30_000, "ab" * 9_000, "日本" * 9_000, "\n" * 9_000 + "x"):
        assert in_c.encode(text) == tokenizer.encode(text)


def test_parts_around_the_encoder():
    """Normalizers, added tokens, other pre-tokenizers, and models that only Python encodes."""
    text = book_text()[:3_000] + "<|end|>e\u0301 <|end|>" + "x" * 100
    for options in (
        {"normalizer": "NFC"},
        {"pattern": None},
        {"pattern": r"(?<=a)b|\w+"},
        {"pattern": "gpt2", "special_tokens": ["<|end|>", "<|en"]},
    ):
        tokenizer = BPETokenizer.train(book_text()[:20_000], 500, **{"special_tokens": ["<|end|>"], **options})
        in_c = tokenizer.with_options(encoder="native")
        for allowed in ((), "all"):
            expected = tokenizer.encode(text, allowed_special=allowed)
            assert in_c.encode(text, allowed_special=allowed) == expected
            for one in (tokenizer, in_c):
                array = one.encode_array(text, allowed_special=allowed)
                assert array.dtype == np.uint32 and array.tolist() == expected
        assert in_c.encode("") == in_c.encode_array("").tolist() == []
        assert pickle.loads(pickle.dumps(in_c)).encode(text) == tokenizer.encode(text)
        assert in_c.encode("\ud800a") == tokenizer.encode("\ud800a")


def test_many_threads_on_one_engine():
    tokenizer = BPETokenizer.train(book_text()[:50_000], 800)
    in_c = tokenizer.with_options(encoder="native")
    rng = random.Random(6)
    texts = [book_text()[start : start + rng.randint(0, 3_000)] for start in rng.sample(range(200_000), 200)]
    expected = list(map(tokenizer.encode, texts))
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(in_c.encode, texts * 3)) == expected * 3
