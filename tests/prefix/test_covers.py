"""Covers: those of the definition, for random vocabularies and patterns; and what isn't served is refused by name."""

import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bpelab import BPEModel, BPETokenizer, ModelError, PatternError
from bpelab.errors import BPELabError
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.normalizers import NormalizerSequence, Prepend, Replace
from bpelab.prefix import ByteModel, covers as module
from bpelab.prefix.covers import branches, last_settled
from bpelab.prefix.definition import covers_by_definition, first_cover
from bpelab.prefix.neighbours import Neighbours
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.regex.matchers import Pattern
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, encoding
from .random_vocabularies import random_beginning, random_case, random_sentencepiece

LONGER = 4
T = BPETokenizer.train("low lower lowest " * 9, 262)


@cache
def published(name):
    return BPETokenizer.from_tiktoken(encoding(name))


def written(tokenizer, text):
    return [
        b"|".join(tokenizer.convert_ids_to_tokens(ids)).decode("utf-8", "replace") for ids in tokenizer.covers(text)
    ]


@given(st.integers(0, 2**32), st.sampled_from([random_case, random_sentencepiece]))
def test_they_are_those_of_the_definition(seed, kind):
    rng = random.Random(seed)
    tokenizer, alphabet = kind(rng)
    for _ in range(amount(3, 6)):
        data = random_beginning(rng, alphabet)
        assert tokenizer.covers(data) == covers_by_definition(tokenizer, data, alphabet, LONGER), data


@given(st.integers(0, 2**32), st.sampled_from([random_case, random_sentencepiece]))
def test_every_encoding_begins_with_exactly_one(seed, kind):
    rng = random.Random(seed)
    tokenizer, alphabet = kind(rng)
    text = "".join(rng.choices(alphabet, k=30))
    ids, data = tokenizer.encode(text), text.encode()
    for end in (0, 1, rng.randrange(len(data)), len(data)):
        begun = [cover for cover in tokenizer.covers(data[:end]) if ids[: len(cover)] == cover]
        assert begun == [list(first_cover(tokenizer, ids, data[:end]))]


@given(st.integers(0, 2**32), st.sampled_from([random_case, random_sentencepiece]))
def test_last_tokens_that_are_kept_are_those_of_the_walk(seed, kind):
    """Arrays, made at once and kept, and the same tokens one by one."""
    rng = random.Random(seed)
    tokenizer, alphabet = kind(rng)
    for _ in range(3):
        data = random_beginning(rng, alphabet)
        kept, walked = (list(branches(tokenizer, data, beyond=True, arrays=arrays)) for arrays in (True, False))
        assert [(*each[:3], each.beyond.tolist()) for each in kept] == [
            (*each[:3], sorted(set(each.beyond))) for each in walked
        ]


def test_what_is_kept_goes_with_the_tokenizer():
    """Between two questions, so many others are asked about that the first one is forgotten."""
    byte_model = ByteModel(lambda ids: [0.0] * 262, T)
    first = byte_model.next_bytes("slo")
    for seed in range(5):
        T.with_special_tokens([f"<{seed}>"]).covers("é日 1'\n"[seed:])
        assert byte_model.next_bytes("slo").probabilities == first.probabilities


@given(st.integers(0, 2**32))
def test_all_tokens_that_fit_at_once(seed):
    tokenizer, _ = random_case(random.Random(seed))
    neighbours, tokens = Neighbours(tokenizer), sorted(tokenizer.model.tokens)[90:]
    for left in tokens[-20:]:
        expected = [neighbours.fits(left, right) for right in tokens]
        assert neighbours.fitting(left, np.array(tokens)).tolist() == expected


@given(st.text(max_size=40), st.integers(0, 40), st.sampled_from(["cl100k_base", "gpt2"]))
def test_published_vocabularies(text, end, name):
    tokenizer = published(name)
    data = text.encode()[:end].rstrip(b" ")  # the next test has a space, which takes a second
    cover = first_cover(tokenizer, tokenizer.encode(text), data)
    found = tokenizer.covers(data)
    assert list(cover) in found
    for ids in found[:20]:
        assert tokenizer.decode_bytes(ids).startswith(data)
        assert len(tokenizer.decode_bytes(ids[:-1])) < len(data) or not data


def test_after_a_space_half_the_vocabulary_can_follow():
    tokenizer = published("cl100k_base")
    found = tokenizer.covers("The ")
    spaced = [token for token in tokenizer.model.tokens.values() if token.startswith(b" ")]
    assert len(found) > 0.99 * len(spaced) > 40_000
    the = tokenizer.token_to_id("The")
    assert all(len(ids) == 2 and ids[0] == the for ids in found)


def test_a_border_that_depends_on_what_follows():
    """The last of several spaces goes to the next word, or stays if there is none."""
    tokenizer = BPETokenizer(BPEModel.from_merges([(b" ", b" "), (b" ", b"a")]), pattern="gpt2")
    assert written(tokenizer, "a  ") == ["a| | ", "a| | a", "a|  "]
    assert written(tokenizer, "a  a") == ["a| | a"]
    assert written(tokenizer, "a  b") == ["a| | |b"]


def test_inside_a_character():
    assert written(T, "é".encode()[:1]) == ["\ufffd"]
    with pytest.raises(ValueError, match="no text begins with these bytes: at 1, invalid start byte"):
        T.covers(b"a\xa9")
    with pytest.raises(ValueError, match="at 0, invalid continuation byte"):
        T.covers(b"\xed\xa0")  # of a surrogate


def test_nothing_covers_itself():
    assert T.covers("") == T.covers(b"") == [[]]


def test_special_tokens_are_plain_text():
    tokenizer = T.with_special_tokens(["<|low|>"])
    assert tokenizer.covers("<|low|>") == T.covers("<|low|>") == [T.encode("<|low|>")]


def test_a_token_that_only_a_whole_piece_becomes():
    """No merges make `abc`; with ignore_merges a piece becomes it, and no other tokens do."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 256}
    whole = BPETokenizer(BPEModel.from_ranks(ranks), pattern="gpt2")
    assert written(whole, "ab") == ["a|b", "abc"]
    assert written(whole, "abc") == ["a|b|c", "abc"]  # of abcd, and of abc
    assert written(whole, "abc ") == ["abc| "]
    merged = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=False), pattern="gpt2")
    assert written(merged, "abc") == ["a|b|c"]


def test_a_whole_piece_is_spelled_by_no_other_tokens():
    """Where it ends isn't certain before the next digit, so both spellings are followed until then."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"111": 256}
    tokenizer = BPETokenizer(BPEModel.from_ranks(ranks), pattern="cl100k")
    assert written(tokenizer, "1112") == ["111|2"]


def test_a_token_after_which_nothing_fits():
    """Two `a` are one piece only before a `b`, and with that they are another token."""
    merges = [(b"a", b"a"), (b"aa", b"b")]
    assert written(BPETokenizer(BPEModel.from_merges(merges), pattern="a{0,2}b|a"), "a") == ["a", "aab"]
    assert written(BPETokenizer(BPEModel.from_merges(merges[:1]), pattern="a{0,2}b|a"), "a") == ["a", "aa"]


def test_a_long_text_costs_no_more_than_its_end():
    text = "lower lowest " * 5_000
    assert last_settled(T, text.encode()) == len(text) - 1
    assert T.covers(text + "low")[0][:-1] == T.encode(text)[:-1]


CHARACTERS = BPEModel({0: b"a"}, {}, {b"a": 0}, initial_symbols=InitialSymbols(characters=True))
SPACES = Replace(Pattern("String", " "), "▁")


def sentencepiece(**options):
    """A tokenizer of characters, a and a space, and bytes; `symbols` and others change it."""
    names = {f"<0x{byte:02X}>".encode(): byte for byte in range(256)} | {
        "▁".encode(): 256,
        b"a": 257,
        b"<0x61><0x62>": 258,
    }
    letters = {token: names[token] for token in options.pop("letters", [b"a", "▁".encode()])}
    symbols = InitialSymbols(True, {byte: byte for byte in range(256)}, **options.pop("symbols", {}))
    merges = options.pop("merges", {})
    model = BPEModel({at: token for token, at in names.items()}, merges, letters, initial_symbols=symbols)
    return BPETokenizer(model, **{"pattern": None, "normalizer": SPACES} | options)


def added(*tokens):
    return SpecialTokens(AddedToken(*token) if isinstance(token, tuple) else token for token in tokens)


def plain(text, **flags):
    return AddedToken(text, 300, special=False, **flags)


@pytest.mark.parametrize(
    ("tokenizer", "error", "message"),
    [
        (T.with_options(normalizer="NFC"), ModelError, "without a normalizer"),
        (T.with_options(special_tokens=added(plain("<t>", lstrip=True))), ModelError, "'<t>' looks around"),
        (T.with_options(special_tokens=added(plain("t", single_word=True))), ModelError, "'t' looks around"),
        (
            T.with_options(special_tokens=added(plain("t"), AddedToken("u", 301, special=False, normalized=True))),
            ModelError,
            "one search for added tokens, and 'u' needs another",
        ),
        (T.with_options(special_tokens=added(plain("t"), ("<t>", 301))), ModelError, "is special contains 't'"),
        (T.with_options(special_tokens=added(plain(">t"), ("<u>", 301))), ModelError, "end of '<u>' begins another"),
        (BPETokenizer(CHARACTERS, pattern=None, normalizer=SPACES), ModelError, "tokens for all 256 bytes"),
        (sentencepiece(normalizer="NFKC"), ModelError, "only makes spaces ▁, not NFKC"),
        (sentencepiece(normalizer=Replace(Pattern("String", "a"), "▁")), ModelError, "only makes spaces ▁"),
        (sentencepiece(normalizer=None), ModelError, "only makes spaces ▁, not None"),
        (sentencepiece(symbols={"prefix": b"#"}), ModelError, "symbols without marks"),
        (sentencepiece(pattern="gpt2"), ModelError, "and no pattern"),
        (sentencepiece(letters=[b"a"]), ModelError, "needs a token ▁"),
        (sentencepiece(merges={(97, 98): (0, 258)}), ModelError, "tokens of bytes that aren't merged"),
        (
            sentencepiece(special_tokens=added(plain("a", normalized=True))),
            ModelError,
            "of the original text; 'a' is normalized",
        ),
        (
            sentencepiece(normalizer=NormalizerSequence((Prepend("▁"), SPACES)), special_tokens=added(plain("a"))),
            ModelError,
            "is put after each added token",
        ),
        (T.with_options(pre_tokenizer=Metaspace()), ModelError, "one pattern, not Metaspace"),
        (T.with_options(pattern=r"\d+?(?=(\d{3})+(?!\d))|\d+"), PatternError, "a pattern that an automaton runs"),
        (T.with_options(pattern="b*"), PatternError, "can match the empty string"),
    ],
)
def test_refused(tokenizer, error, message):
    with pytest.raises(error, match=message):
        tokenizer.covers("low")


def test_a_text_with_the_sign_for_a_space_is_refused():
    with pytest.raises(ValueError, match="a text with ▁ has the ids of another one"):
        sentencepiece().covers("a▁a")


def test_added_tokens_are_pieces_of_their_own():
    """The pattern sees the edge of a text before one: three spaces stay together there."""
    merges = [(b" ", b" "), (b"  ", b" ")]
    tokenizer = BPETokenizer(BPEModel.from_merges(merges), pattern="gpt2", special_tokens=added(plain("<t>")))
    assert written(tokenizer, "   <") == ["  | |<", "   |<t>"]
    assert tokenizer.covers("a<t")[-1] == [97, 300] == tokenizer.encode("a<t>")


def test_a_character_that_the_vocabulary_lacks_is_spelled_in_bytes():
    tokenizer = sentencepiece()
    assert tokenizer.covers("a é") == [[257, 256, 0xC3, 0xA9]] == [tokenizer.encode("a é")]
    assert tokenizer.covers("é".encode()[:1]) == [[0xC3]]
    assert tokenizer.covers("a") == [[257]]  # not the byte's token


def test_a_merge_before_its_parts():
    """`abc` would be made of ab and c as soon as there is ab. If ab ranks last, there is bc instead."""
    ids = {bytes([byte]): byte for byte in range(256)} | {b"abc": 256, b"bc": 257, b"ab": 258}
    for merges, early, abc, ab in (
        ([(b"ab", b"c"), (b"b", b"c"), (b"a", b"b")], 0, [97, 257], ["a|bc", "ab"]),
        ([(b"ab", b"c"), (b"a", b"b"), (b"b", b"c")], 1, [256], ["abc", "ab"]),
    ):
        tokenizer = BPETokenizer(BPEModel.from_vocab(ids, merges), pattern=None)
        assert tokenizer.model.recovered_merges.early == early
        assert tokenizer.encode("abc") == abc
        assert written(tokenizer, "ab") == ab


def test_threads_share_a_tokenizer():
    """They reach new states at the same time."""
    texts = ["lower ", "é日".encode()[:-1], "low  \n", "1234", "slow'", "  lo"] * 4
    expected = list(map(BPETokenizer(T.model).covers, texts))
    for seed in range(5):
        fresh = T.with_special_tokens([f"<|{seed}|>"])  # not equal to another one, so nothing is cached
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(fresh.covers, texts)) == expected


def test_too_many_sequences(monkeypatch):
    monkeypatch.setattr(module, "MAX_SEQUENCES", 3)
    with pytest.raises(BPELabError, match="more than 3 sequences of tokens fit into the end of this text"):
        BPETokenizer(T.model, pattern=None).covers("lower lower")


def test_other_types():
    with pytest.raises(TypeError, match="text is a str or bytes, not list"):
        T.covers(["low"])
