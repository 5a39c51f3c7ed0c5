"""The tokenizer as its users meet it."""

import copy
import math
import pickle
import random
import threading

import pytest
from hypothesis import given, strategies as st

from bpelab import (
    BPEModel,
    BPETokenizer,
    SpecialTokenError,
    TemplateProcessing,
    UnknownTokenError,
)
from bpelab.core.spec import TokenizerSpec
from bpelab.core.tokenizer import Tokenizer
from bpelab.encoders import ENCODERS
from bpelab.normalizers import NFC, Lowercase, NormalizerSequence, Prepend, Replace, Strip
from bpelab.notebook import book_text
from bpelab.postprocessors import BertProcessing, ByteLevel
from bpelab.pretokenizers import PATTERNS
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.split import Split
from bpelab.regex.matchers import Pattern
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, fuzz_text

SPECIAL = ["<|end|>", "<|end|><|of|>", "<|start|>"]


@pytest.fixture(scope="module")
def tokenizer() -> BPETokenizer:
    return BPETokenizer.train(
        book_text()[:100_000], 900, special_tokens=SPECIAL, eos_token="<|end|>", bos_token="<|start|>"
    )


@given(text=st.text())
def test_lossless(tokenizer, text):
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode_bytes(ids) == text.encode() == b"".join(tokenizer.tokenize(text))


@pytest.mark.parametrize("pattern", [*PATTERNS, None, "[a-z]+"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_lossless_with_any_pattern_and_encoder(pattern, encoder):
    text = book_text()[150_000:170_000]
    reference = BPETokenizer.train(book_text()[:20_000], 500, pattern=pattern)
    tokenizer = reference.with_options(encoder=encoder)
    text = text[:300] if pattern is None and encoder == "naive" else text
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.encode(text) == reference.encode(text)


def test_lone_surrogates_become_replacement_characters(tokenizer):
    assert tokenizer.decode(tokenizer.encode("a\ud800b")) == "a\ufffdb"
    assert tokenizer.encode("\ud83d\ude00") == tokenizer.encode("😀")
    for method in (tokenizer.encode, tokenizer.encode_ordinary, tokenizer.tokenize, tokenizer.count_tokens):
        method("\udfff")
    assert tokenizer.truncate("ab\ud800", 9) == "ab\ufffd"


class TestSpecialTokens:
    def test_are_text_unless_allowed(self, tokenizer):
        ids = tokenizer.encode("a<|end|>b")
        assert not set(ids) & set(tokenizer.special_tokens.values())
        assert tokenizer.decode(ids) == "a<|end|>b"

    def test_allowed(self, tokenizer):
        end, start = tokenizer.special_tokens["<|end|>"], tokenizer.special_tokens["<|start|>"]
        a, b = tokenizer.encode("a"), tokenizer.encode("b")
        assert tokenizer.encode("a<|end|>b", allowed_special="all") == [*a, end, *b]
        assert tokenizer.encode("<|start|>a<|end|>", allowed_special={"<|start|>"})[0] == start
        assert end not in tokenizer.encode("<|start|>a<|end|>", allowed_special={"<|start|>"})

    def test_the_longest_wins(self, tokenizer):
        longer = tokenizer.special_tokens["<|end|><|of|>"]
        assert tokenizer.encode("<|end|><|of|>", allowed_special="all") == [longer]

    def test_disallowed(self, tokenizer):
        with pytest.raises(SpecialTokenError, match=r"'<\|end\|>' at character 2\. .*disallowed_special=\(\)"):
            tokenizer.encode("ab<|end|>", disallowed_special="all")
        tokenizer.encode("ab<|end|>", allowed_special={"<|end|>"}, disallowed_special="all")
        tokenizer.encode("ab<|start|>", disallowed_special={"<|end|>"})

    def test_a_token_that_text_becomes_is_never_special(self):
        made = BPEModel.from_merges([(b"<", b"e"), (b"<e", b">")])
        whole = BPEModel.from_ranks({**{bytes([byte]): byte for byte in range(256)}, b"<e>": 257})
        for model in (made, whole):
            with pytest.raises(SpecialTokenError, match="'<e>' is an ordinary token already, with the id 257"):
                BPETokenizer(model, special_tokens={"<e>": 257})
        unmade = BPEModel.from_vocab({**{bytes([byte]): byte for byte in range(256)}, b"<e>": 257}, [])
        tokenizer = BPETokenizer(unmade, special_tokens={"<e>": 257})  # as some files have it: for its id alone
        assert tokenizer.encode("<e>") == [*b"<e>"]
        assert tokenizer.encode("<e>", allowed_special="all") == [257]

    def test_names_that_are_not_special(self, tokenizer):
        for wrong in ({"<|no|>"}, "<|end|>"):
            with pytest.raises(SpecialTokenError):
                tokenizer.encode("a", allowed_special=wrong)

    def test_what_no_file_could_hold(self, tokenizer):
        for wrong, problem in (
            ({"<|far|>": 1 << 32}, "4294967296, above 4294967295"),
            ({"x" * 5_000: 9_999}, "has 5,000 characters; it may have 4,096"),
            ({"<\ud800>": 9_999}, "lone surrogate"),
        ):
            with pytest.raises(SpecialTokenError, match=problem):
                tokenizer.with_special_tokens(wrong)

    def test_more_of_them(self, tokenizer):
        more = tokenizer.with_special_tokens(["<|a|>", "<|b|>"])
        assert more.special_tokens["<|a|>"] == tokenizer.n_vocab
        assert "<|a|>" not in tokenizer.special_tokens
        assert more.encode("x<|b|>", allowed_special="all")[-1] == tokenizer.n_vocab + 1
        placed = tokenizer.with_special_tokens({"<|a|>": 7_000})
        assert (placed.n_vocab, len(placed)) == (7_001, len(tokenizer) + 1)

    @pytest.mark.parametrize("bad", [{"<|a|>": 3}, {"<|a|>": 897}, ["<|end|>"], [" the"], "<|a|>", [""], {"<|a|>": -4}])
    def test_collisions_are_refused(self, tokenizer, bad):
        with pytest.raises(SpecialTokenError):
            tokenizer.with_special_tokens(bad)

    def test_roles(self, tokenizer):
        assert (tokenizer.eos_token, tokenizer.eos_token_id) == ("<|end|>", tokenizer.special_tokens["<|end|>"])
        assert (tokenizer.pad_token, tokenizer.pad_token_id) == (None, None)
        with pytest.raises(SpecialTokenError, match="pad_token"):
            tokenizer.with_options(pad_token="<pad>")

    def test_post_processor(self, tokenizer):
        wrapped = tokenizer.with_options(post_processor=TemplateProcessing(("<|start|>", "$A", "<|end|>")))
        start, end = tokenizer.bos_token_id, tokenizer.eos_token_id
        assert wrapped.encode("a b") == [start, *tokenizer.encode("a b"), end]
        assert (
            wrapped.encode("a b", add_special_tokens=False) == wrapped.encode_ordinary("a b") == tokenizer.encode("a b")
        )
        assert wrapped.count_tokens("a b") == wrapped.count_tokens("a b", limit=99) == len(wrapped.encode("a b"))
        assert len(wrapped.encode(wrapped.truncate("a b c d e f", 5))) <= 5
        with pytest.raises(ValueError, match="too small: 2 special tokens"):
            wrapped.truncate("a", 1)
        with pytest.raises(SpecialTokenError):
            tokenizer.with_options(post_processor=TemplateProcessing(("<|none|>", "$A")))
        with pytest.raises(SpecialTokenError):
            TemplateProcessing(("<|start|>",))


class TestDecoding:
    @pytest.mark.parametrize("bad", [-1, 100_000, 2**31, 2**63, 2**200])
    def test_unknown_ids(self, tokenizer, bad):
        with pytest.raises(UnknownTokenError, match=f"the id {bad} .position 1"):
            tokenizer.decode([97, bad])
        with pytest.raises(KeyError):
            tokenizer.convert_ids_to_tokens([bad])
        assert tokenizer.decode([97, bad], unknown="skip") == "a"
        assert tokenizer.decode([97, bad], unknown="replace") == "a\ufffd"
        assert tokenizer.id_to_token(bad) is None

    @pytest.mark.parametrize("bad", [[True], [1.0], ["5"], [None], 5, "5", b"5", [[1]], None])
    def test_what_is_no_id(self, tokenizer, bad):
        with pytest.raises(TypeError):
            tokenizer.decode(bad)

    def test_a_wrong_way_with_unknown_ids(self, tokenizer):
        with pytest.raises(ValueError, match="unknown is"):
            tokenizer.decode([97], unknown="ignore")

    def test_numpy(self, tokenizer):
        np = pytest.importorskip("numpy")
        ids = tokenizer.encode("the harbour")
        assert tokenizer.decode(np.array(ids, dtype=np.uint16)) == "the harbour"
        assert tokenizer.decode([np.int64(i) for i in ids]) == "the harbour"
        assert tokenizer.id_to_token(np.int32(97)) == b"a"
        with pytest.raises(TypeError):
            tokenizer.decode(np.array([1.5]))

    def test_invalid_utf8(self, tokenizer):
        ids = [0xE2, 0x82, 97, 0xFF]
        assert tokenizer.decode(ids) == "\ufffda\ufffd"
        assert tokenizer.decode(ids, errors="ignore") == "a"
        with pytest.raises(UnicodeDecodeError):
            tokenizer.decode(ids, errors="strict")

    def test_skipping_special_tokens(self, tokenizer):
        ids = tokenizer.encode("a<|end|>b", allowed_special="all")
        assert tokenizer.decode(ids) == "a<|end|>b"
        assert tokenizer.decode(ids, skip_special_tokens=True) == "ab"
        assert tokenizer.decode_batch([ids, ids], skip_special_tokens=True) == ["ab", "ab"]

    @given(text=st.text("aé日😀 th", max_size=20))
    def test_offsets(self, tokenizer, text):
        ids = tokenizer.encode(text)
        decoded, offsets = tokenizer.decode_with_offsets(ids)
        assert decoded == text
        assert offsets == sorted(offsets)
        for number, offset in enumerate(offsets):  # the bytes before a token begin no later than its character
            before = tokenizer.decode_bytes(ids[:number])
            assert len(text[:offset].encode()) <= len(before) < len(text[: offset + 1].encode())

    @given(ids=st.lists(st.integers(0, 255)))
    def test_offsets_of_any_bytes(self, tokenizer, ids):
        decoded, offsets = tokenizer.decode_with_offsets(ids)
        assert decoded == tokenizer.decode(ids)
        assert offsets == sorted(offsets)
        assert all(0 <= offset < len(decoded) for offset in offsets)


class TestCounting:
    @given(text=st.text("ab é\n1'", max_size=40), limit=st.integers(0, 20))
    def test_count(self, tokenizer, text, limit):
        number = len(tokenizer.encode(text))
        assert tokenizer.count_tokens(text) == number
        assert tokenizer.count_tokens(text, limit) == min(number, limit + 1)

    def test_counting_stops(self, tokenizer):
        fresh = tokenizer.with_options()
        assert fresh.count_tokens(book_text(), limit=10) == 11
        assert fresh.pipeline.cache.statistics().misses < 12

    @pytest.mark.parametrize("normalizer", [None, "NFC", "NFKD"])
    @pytest.mark.parametrize("pattern", [*PATTERNS, None, "[a-z]+"])
    def test_truncate_is_the_longest_prefix(self, pattern, normalizer):
        rng = random.Random(20)
        tokenizer = BPETokenizer.train(
            book_text()[:30_000], 700, pattern=pattern, normalizer=normalizer, special_tokens=["<|end|>"]
        )
        for _ in range(amount(60, 2_000)):
            text = fuzz_text(rng).encode("utf-16", "surrogatepass").decode("utf-16", "replace")[:60]
            counts = [len(tokenizer.encode(text[:n])) for n in range(len(text) + 1)]
            for limit in range(0, max(counts) + 2, 1 + max(counts) // 5):
                best = max(n for n, count in enumerate(counts) if count <= limit)
                assert tokenizer.truncate(text, limit) == text[:best], (text, limit)

    @pytest.mark.parametrize("unit", ["a", "-", "7", " ", "日", "\n"])
    def test_truncate_a_huge_piece(self, tokenizer, unit):
        text, limit = unit * 100_000, 40
        prefix = tokenizer.truncate(text, limit)
        assert len(tokenizer.encode(prefix)) <= limit
        longer = range(len(prefix) + 1, len(prefix) + 200)
        assert all(len(tokenizer.encode(text[:n])) > limit for n in longer)


class TestVocabulary:
    def test_both_ways(self, tokenizer):
        vocabulary = tokenizer.get_vocab()
        assert len(vocabulary) == len(tokenizer) == 900
        assert tokenizer.n_vocab == 900
        for token, token_id in vocabulary.items():
            assert tokenizer.token_to_id(token) == token_id
            assert tokenizer.id_to_token(token_id) == token
        assert tokenizer.token_to_id("<|end|>") == tokenizer.token_to_id(b"<|end|>") == tokenizer.eos_token_id
        assert tokenizer.token_to_id(" the") == tokenizer.token_to_id(b" the")
        assert tokenizer.token_to_id("no such token") is None

    def test_conversions(self, tokenizer):
        ids = tokenizer.encode("the harbour")
        tokens = tokenizer.convert_ids_to_tokens(ids)
        assert tokenizer.convert_tokens_to_ids(tokens) == ids
        assert b"".join(tokens).decode() == "the harbour"
        with pytest.raises(UnknownTokenError, match="no unk token"):
            tokenizer.convert_tokens_to_ids(["no such token"])
        with_unk = tokenizer.with_options(unk_token="<|end|>")
        assert with_unk.convert_tokens_to_ids(["no such token"]) == [tokenizer.eos_token_id]


def test_batches(tokenizer):
    assert tokenizer.encode_batch(["a b", ""]) == [tokenizer.encode("a b"), []]
    with pytest.raises(TypeError, match="several texts"):
        tokenizer.encode_batch("a b")


@pytest.mark.parametrize("bad", [b"bytes", None, 5, ["a"]])
def test_what_is_no_text(tokenizer, bad):
    for method in (tokenizer.encode, tokenizer.encode_ordinary, tokenizer.count_tokens):
        with pytest.raises(TypeError, match="must be a str"):
            method(bad)


def test_the_cache_is_bounded_and_counts():
    tokenizer = BPETokenizer(BPEModel.from_merges([]), cache_size=100, encoder="heap")
    for number in range(1_000):
        tokenizer.encode(f"{number} {number}")
    statistics = tokenizer.pipeline.cache.statistics()
    assert statistics.entries <= statistics.capacity == 100
    assert 0 < statistics.misses < statistics.lookups
    tokenizer.pipeline.cache.clear()
    assert tokenizer.pipeline.cache.statistics() == (0, 0, 0, 100)
    tokenizer.encode("x" * 10_000)
    assert tokenizer.pipeline.cache.statistics().entries == 0  # long pieces are not kept
    none = BPETokenizer(BPEModel.from_merges([]), cache_size=0, encoder="heap")
    assert none.encode("a a") == [97, 32, 97]
    assert none.pipeline.cache.statistics().entries == 0


def test_results_are_the_callers_own(tokenizer):
    first = tokenizer.encode("harbour")
    first.append(-1)
    assert tokenizer.encode("harbour") == first[:-1]


def test_pickles(tokenizer):
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again.encode("the <|end|>", allowed_special="all") == tokenizer.encode("the <|end|>", allowed_special="all")
    assert (again.eos_token, again.pattern, again.special_tokens) == ("<|end|>", "cl100k", tokenizer.special_tokens)


def test_threads_share_one_tokenizer():
    tokenizer = BPETokenizer.train(book_text()[:30_000], 600, cache_size=64)
    texts = [book_text()[start : start + 2_000] for start in range(0, 40_000, 2_000)]
    expected = [tokenizer.encode(text) for text in texts]
    wrong: list[int] = []

    def work() -> None:
        for number, text in enumerate(texts):
            if tokenizer.encode(text) != expected[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_repr(tokenizer):
    assert repr(tokenizer) == "<BPETokenizer: 900 tokens, pattern 'cl100k', 3 special>"


def test_wrong_arguments_are_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    t = BPETokenizer.train("low lower " * 9, 262, special_tokens=["<|end|>"])
    for limit in (2.5, "2", True):
        with pytest.raises(TypeError, match="limit must be an integer"):
            t.count_tokens("low lower", limit)
        with pytest.raises(TypeError, match="max_tokens must be an integer"):
            t.truncate("low lower", limit)
    for limit in (None, 1):
        with pytest.raises(TypeError, match="alowed_special"):
            t.count_tokens("low", limit, alowed_special="all")
        for wrong in (None, 5):
            with pytest.raises(
                TypeError, match=r'^allowed_special is "all" or a collection of names, \(\) for none, not'
            ):
                t.count_tokens("low", limit, allowed_special=wrong)
    with pytest.raises(TypeError, match=r'^disallowed_special is "all" or'):
        t.encode("low", disallowed_special=None)
    with pytest.raises(TypeError, match=r"^a token is bytes or a str, not int: id_to_token takes an id$"):
        t.token_to_id(5)
    for size, error in ((-1, ValueError), (1.5, TypeError), (None, TypeError)):
        with pytest.raises(error, match="cache_size"):
            t.with_options(cache_size=size)
    for dropout in (5, -0.1, math.nan):
        with pytest.raises(ValueError, match="dropout is a probability from 0 to 1, not"):
            t.with_options(dropout=dropout)
    for save in (t.save, t.save_pretrained):
        with pytest.raises(ValueError, match="name of a folder, and it is empty"):
            save("")
    assert not list(tmp_path.iterdir())


def test_integers_of_numpy_are_integers():
    numpy = pytest.importorskip("numpy")
    size = numpy.int64(261)
    t = BPETokenizer.train("low lower " * 9, size, min_frequency=numpy.int32(2))
    assert t.get_vocab() == BPETokenizer.train("low lower " * 9, 261).get_vocab()
    assert t.count_tokens("low lower", numpy.uint8(1)) == 2 and type(t.n_vocab) is int
    assert t.truncate("low lower", numpy.int64(1)) == t.truncate("low lower", 1)
    with pytest.raises(TypeError, match="vocab_size must be an integer"):
        BPETokenizer.train("low", numpy.float64(261))


class TestEquality:
    def test_parts_make_it_and_encoders_do_not(self, tmp_path):
        t = BPETokenizer.train("low lower lowest " * 9, 262, special_tokens=["<|end|>"], normalizer="NFC")
        t.save(tmp_path)
        again = BPETokenizer.from_pretrained(tmp_path)
        assert t == pickle.loads(pickle.dumps(t)) == copy.deepcopy(t) == t.with_options(encoder="heap")
        assert again == BPETokenizer.from_pretrained(tmp_path)
        assert len({t, t.with_options(), pickle.loads(pickle.dumps(t))}) == 1
        others = [t.with_options(**{name: value}) for name, value in (("pattern", "gpt2"), ("normalizer", None))]
        others += [t.with_options(eos_token="<|end|>"), t.with_special_tokens(["<|x|>"])]
        others += [BPETokenizer.train("lower lowest " * 9, 262, special_tokens=["<|end|>"], normalizer="NFC"), "t"]
        assert all(t != other for other in others)

    def test_ranks(self):
        ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
        one, two = BPEModel.from_ranks(ranks), BPEModel.from_ranks(ranks)
        assert one == two and hash(one) == hash(two)
        assert one != BPEModel.from_ranks(ranks, ignore_merges=False) != BPEModel.from_merges([(b"a", b"b")])

    def test_a_class_of_your_own_stays(self):
        t = OfMine(BPEModel.from_merges([(b"a", b"b")]))
        for other in (t.with_options(encoder="heap"), t.with_special_tokens(["<|x|>"]), pickle.loads(pickle.dumps(t))):
            assert type(other) is OfMine
        assert t != BPETokenizer(t.model)


class OfMine(BPETokenizer):
    """At the top of a module, where pickle finds it."""


def test_an_encoder_that_is_gone_is_an_unknown_one():
    with pytest.raises(ValueError, match="there is no encoder 'compiled'; choose one of auto, native, naive"):
        BPETokenizer.train("ab", 256, encoder="compiled")


NORMALIZERS = (
    None,
    NFC(),
    Lowercase(),
    Replace(Pattern("String", " "), "▁"),
    Replace(Pattern("String", "b"), ""),
    NormalizerSequence((Strip(), Prepend("▁"))),
    str.upper,
    lambda text: text.encode().decode(),  # which raises for a lone surrogate
)


@pytest.mark.parametrize("pre_tokenizer", [None, Split("gpt2"), Split("llama3"), Metaspace()], ids=range(4))
@pytest.mark.parametrize("normalizer", NORMALIZERS, ids=range(len(NORMALIZERS)))
def test_short_texts_take_a_shorter_way(normalizer, pre_tokenizer):
    """With added tokens, normalizers and post-processors: the ids are those of the encoder that has no such way."""
    rng = random.Random(f"{pre_tokenizer}")
    model = BPETokenizer.train(["low lower é ▁low▁ abab"] * 3, 266, progress=False).model
    special = SpecialTokens(
        [
            AddedToken("<|end|>", 900),
            AddedToken("<tool>", 901, special=False),
            AddedToken("Low", 902, special=False, normalized=True),
            AddedToken("  ", 903, special=False),
            AddedToken("éa", 904, special=False, normalized=True, single_word=True),
            AddedToken("<s>", 905, lstrip=True),
            AddedToken("a ", 906),  # which hides a part of "  "
            AddedToken("a<tool>b", 907),
            AddedToken("\n", 908, special=False, rstrip=True),
        ]
    )
    for post_processor in (None, ByteLevel(), BertProcessing(sep=("b", 1), cls=("a", 2))):
        chosen = SpecialTokens([token for token in special.tokens if rng.random() < 0.6] or special.tokens)
        spec = TokenizerSpec(
            model,
            pre_tokenizer=pre_tokenizer,
            special_tokens=chosen,
            normalizer=normalizer,
            post_processor=post_processor,
        )
        short, long = Tokenizer.from_spec(spec), Tokenizer.from_spec(spec, encoder="heap")
        parts = [
            "low",
            "Low",
            "é",
            "e\u0301a",
            "a",
            " ",
            "  ",
            "\n",
            "▁",
            "b",
            "\ud800",
            "日本",
            "<|end|>",
            "<tool>",
            "a<tool>b",
            "<s>",
            "<",
        ]
        for _ in range(amount(60, 3_000)):
            text = "".join(rng.choices(parts, k=rng.randint(0, 6)))
            ids = long.encode(text)
            assert short.encode(text) == ids, text
            assert short.encode_batch([text]) == [ids]
            assert short.count_tokens(text) == len(ids)
            assert short.encode(text, add_special_tokens=False) == long.encode_ordinary(text)
            assert short.encode_array(text).tolist() == long.encode_ordinary(text) == short.encode_ordinary(text)
