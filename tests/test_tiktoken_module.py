"""bpelab.tiktoken against tiktoken itself: ids, errors, the names that both have. Its own suite: tests/conformance."""

import inspect
import pickle
import random

import pytest
from hypothesis import given, strategies as st

import bpelab.tiktoken as ours
from bpelab import BPELabError, BPEModel, BPETokenizer

from .conftest import amount, encoding

theirs = pytest.importorskip("tiktoken")
NAMES = ["gpt2", "cl100k_base"]
BYTES = {bytes([byte]): byte for byte in range(256)}


@pytest.fixture(params=NAMES)
def both(request):
    return ours.get_encoding(encoding(request.param).name), encoding(request.param)


def public(thing) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_every_name_and_default_is_there():
    assert set(ours.__all__) <= public(theirs)
    assert public(theirs.Encoding) - public(ours.Encoding) == set()
    for name in public(theirs.Encoding):
        expected = getattr(theirs.Encoding, name)
        if not inspect.isfunction(expected):
            continue
        expected, found = (inspect.signature(it).parameters.values() for it in (expected, getattr(ours.Encoding, name)))
        assert [(it.name, it.kind) for it in found] == [(it.name, it.kind) for it in expected], name
        for left, right in zip(found, expected):
            assert left.default == right.default, (name, left)


def test_what_it_is_made_of(both):
    mine, other = both
    assert (mine._pat_str, mine._mergeable_ranks, mine._special_tokens) == (
        other._pat_str,
        other._mergeable_ranks,
        other._special_tokens,
    )
    assert (mine.n_vocab, mine.max_token_value, mine.eot_token) == (
        other.n_vocab,
        other.max_token_value,
        other.eot_token,
    )
    assert mine.special_tokens_set == other.special_tokens_set
    assert mine.token_byte_values() == other.token_byte_values()
    assert repr(mine) == repr(other)
    for token in (0, mine.eot_token):
        assert mine.is_special_token(token) == other.is_special_token(token)


def test_unstable_ends(both):
    """The ids that stay and all that may follow, for texts that stop anywhere."""
    mine, other = both
    rng = random.Random(1)
    texts = ["hello fanta", " \n\n", "a\n \n", "日本", "x<|endoftext|>", "<|endoftext|>y", "", "tod", "\x1c", "a\x85"]
    texts += ["".join(rng.choices("ab t\nö日!9", k=rng.randint(1, 6))) for _ in range(amount(15, 300))]
    for text in texts:
        kept, after = mine.encode_with_unstable(text, allowed_special="all")
        expected_kept, expected_after = other.encode_with_unstable(text, allowed_special="all")
        assert (kept, sorted(after)) == (expected_kept, sorted(map(list, expected_after))), text


def test_bytes_that_are_no_text(both):
    mine, other = both
    rng = random.Random(1)
    for _ in range(amount(500, 50_000)):
        data = bytes(rng.choices(b" \nab\x80\xe6\x97\xa5\xff", k=rng.randint(0, 12)))
        ids = mine._encode_bytes(data)
        assert ids == other._encode_bytes(data) == mine.tokenizer.encode_bytes(data), data
        assert mine.decode_bytes(ids) == data


@given(st.text(), st.sets(st.sampled_from(["<|endoftext|>", "<|fim_prefix|>", "x"])), st.sets(st.sampled_from("ax<")))
def test_special_tokens(text, allowed, disallowed):
    """The same ids, or both refuse; names that are no special tokens count where tiktoken counts them."""
    mine, other = ours.get_encoding(encoding("cl100k_base").name), encoding("cl100k_base")
    for whole in (text, f"{text}<|endoftext|>x", f"<|fim_prefix|>{text}"):
        for options in (
            {},
            {"allowed_special": allowed},
            {"allowed_special": allowed, "disallowed_special": disallowed},
        ):
            try:
                expected = other.encode(whole, **options)
            except ValueError:
                for call in (mine.encode, mine.encode_to_numpy, mine.encode_with_unstable):
                    with pytest.raises(ValueError, match="allowed_special"):
                        call(whole, **options)
                with pytest.raises(ValueError, match="allowed_special"):
                    mine.encode_batch(["", whole], **options)
                continue
            assert mine.encode(whole, **options) == mine.encode_to_numpy(whole, **options).tolist() == expected
            assert mine.encode_batch([whole, ""], **options) == [expected, []]


def test_wrong_ids_and_tokens_are_key_errors(both):
    mine, _ = both
    for wrong in (mine.n_vocab, -1):
        for call in (mine.decode, mine.decode_bytes, mine.decode_tokens_bytes, mine.decode_with_offsets):
            with pytest.raises(KeyError):
                call([wrong])
        with pytest.raises(KeyError):
            mine.decode_single_token_bytes(wrong)
    with pytest.raises(KeyError, match="no such token"):
        mine.encode_single_token("no such token")


def test_unknown_names():
    with pytest.raises(ValueError, match="did you mean cl100k_base"):
        ours.get_encoding("cl100kbase")
    with pytest.raises(ValueError, match="str"):
        ours.get_encoding(5)
    with pytest.raises(KeyError, match="no-such-model"):
        ours.encoding_for_model("no-such-model")
    assert ours.list_encoding_names() == theirs.list_encoding_names()


def test_one_of_your_own():
    encoding("gpt2")
    given = {"pat_str": r"\w+|\W+", "mergeable_ranks": BYTES | {b"ab": 256}, "special_tokens": {"<|s|>": 300}}
    mine, other = ours.Encoding("mine", **given), theirs.Encoding("mine", **given)
    for text in ("abab", "cab <|s|>"):
        assert mine.encode(text, allowed_special="all") == other.encode(text, allowed_special="all")
    assert pickle.loads(pickle.dumps(mine)).encode("ab<|s|>", allowed_special="all") == [256, 300]
    assert pickle.loads(pickle.dumps(ours.get_encoding("gpt2"))).tokenizer is ours.get_encoding("gpt2").tokenizer
    with pytest.raises(KeyError):
        _ = mine.eot_token
    with pytest.raises(ValueError, match="257"):
        ours.Encoding("mine", **{**given, "special_tokens": {}}, explicit_n_vocab=300)
    with pytest.raises(ValueError, match="byte"):
        ours.Encoding("mine", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={})


def test_bytes_need_a_tokenizer_of_bytes():
    plain = BPETokenizer(BPEModel.from_merges([(b"a", b"b")]))
    assert plain.encode_bytes(b"ab\xff") == [256, 255]
    with pytest.raises(BPELabError, match="one pattern alone"):
        plain.with_options(normalizer="NFC").encode_bytes(b"ab")
