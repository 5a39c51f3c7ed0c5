"""bpelab.tiktoken against tiktoken itself: ids, errors, the names that both have. Its own suite: tests/conformance."""

import base64
import inspect
import os
import pickle
import random
import subprocess
import sys

import pytest
from hypothesis import given, strategies as st

import bpelab.tiktoken as ours
from bpelab import ENCODERS, BPELabError, BPEModel, BPETokenizer, TokenizerFileError
from bpelab.cli.main import main
from bpelab.core.unstable_tokens import encode_bytes
from bpelab.formats.tiktoken_file import read_ranks, save_ranks

from ..conftest import amount, encoding

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
        assert ids == other._encode_bytes(data) == encode_bytes(mine.tokenizer.pipeline, data), data
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
    for name in ("gpt-4", "GPT-4"):
        with pytest.raises(ValueError, match=r'is cl100k_base: call encoding_for_model\("gpt-4"\)$'):
            ours.get_encoding(name)
    with pytest.raises(ValueError, match=r"did you mean gpt2\?"):
        ours.get_encoding("GPT2")
    with pytest.raises(ValueError, match=r'did you mean encoding_for_model\("gpt-4o"\)\?'):
        ours.get_encoding("gpt4o")
    with pytest.raises(KeyError, match=r"did you mean gpt-4\?"):
        ours.encoding_for_model("GPT-4")
    with pytest.raises(KeyError, match=r'call get_encoding\("cl100k_base"\)'):
        ours.encoding_for_model("cl100k_base")
    with pytest.raises(ValueError, match=r"no encoding or model named 'GPT2': did you mean gpt2\?"):
        BPETokenizer.from_tiktoken("GPT2")
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


IN_ITS_PLACE = """
import sys
import bpelab.tiktoken
from bpelab import BPETokenizer
sys.modules["tiktoken"] = bpelab.tiktoken
import tiktoken
from tiktoken.load import load_tiktoken_bpe
assert tiktoken is bpelab.tiktoken
for encoding in (tiktoken.get_encoding("gpt2"), tiktoken.encoding_for_model("gpt-4")):
    assert isinstance(encoding, bpelab.tiktoken.Encoding)
    print(encoding.name, *encoding.encode("hello world"), *BPETokenizer.from_tiktoken(encoding.name).encode("hello"))
print(*tiktoken.list_encoding_names(), BPETokenizer.from_tiktoken("gpt-4").to_tiktoken().n_vocab)
"""
WITHOUT_TIKTOKEN = """
import sys
sys.modules["tiktoken"] = sys.modules["tiktoken_ext"] = None
import bpelab.tiktoken
sys.modules["tiktoken"] = bpelab.tiktoken
try:
    bpelab.tiktoken.get_encoding("gpt2")
except bpelab.MissingDependencyError as error:
    print(error)
"""


def test_it_may_stand_in_the_place_of_tiktoken(tmp_path):
    """As other packages, which import tiktoken, are made to use it. The cache is empty: vocabularies are read anew."""
    for name in NAMES:
        encoding(name)
    printed = run_alone(IN_ITS_PLACE, tmp_path)
    names = " ".join(theirs.list_encoding_names())
    assert printed == f"gpt2 31373 995 31373\ncl100k_base 15339 1917 15339\n{names} 100277\n"
    assert run_alone(WITHOUT_TIKTOKEN, tmp_path).startswith("tiktoken is not installed: pip install")


def run_alone(program: str, cache) -> str:
    environment = {**os.environ, "BPELAB_CACHE": str(cache)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout


def test_modules_and_tables_that_programs_read():
    assert ours.__version__ == theirs.__version__
    assert ours.model.MODEL_TO_ENCODING is theirs.model.MODEL_TO_ENCODING
    assert ours.model.MODEL_PREFIX_TO_ENCODING is theirs.model.MODEL_PREFIX_TO_ENCODING
    assert ours.load.load_tiktoken_bpe and not hasattr(ours.model, "no_such_table")


def test_an_encoding_becomes_a_tokenizer():
    encoding("gpt2")
    for each in (ours.get_encoding("gpt2"), theirs.get_encoding("gpt2")):
        again = BPETokenizer.from_tiktoken(each)
        assert again == BPETokenizer.from_tiktoken("gpt2") and again.eos_token == "<|endoftext|>"
    with pytest.raises(TypeError, match="name of an encoding or an Encoding, not int"):
        BPETokenizer.from_tiktoken(5)


def test_a_token_without_bytes(tmp_path):
    """As Whisper's multilingual.tiktoken has one, whose line is `= 50256`: no text becomes it, and it is no text."""
    encoding("gpt2")
    ranks = BYTES | {b"ab": 256, b"": 257, b"abab": 258}
    given = {"pat_str": r"\w+|\W+", "mergeable_ranks": ranks, "special_tokens": {"<|s|>": 259}, "explicit_n_vocab": 260}
    mine, other = ours.Encoding("mine", **given), theirs.Encoding("mine", **given)
    tokenizers = [BPETokenizer.from_tiktoken(each) for each in (mine, other)]
    tokenizers += [tokenizers[0].with_options(encoder=name) for name in ENCODERS]
    rng = random.Random(1)
    for _ in range(200):
        text = "".join(rng.choices("ab c\n", k=rng.randint(0, 12)))
        expected = other.encode(text)
        assert all(each.encode(text) == expected for each in (mine, *tokenizers)), text
    for ids in ([257], [97, 257, 258, 257], []):
        assert all(each.decode_bytes(ids) == other.decode_bytes(ids) for each in (mine, *tokenizers))
    assert (mine.n_vocab, mine.token_byte_values()) == (other.n_vocab, other.token_byte_values())
    assert mine.encode_single_token(b"") == other.encode_single_token(b"") == 257
    assert sorted(mine.tokenizer.model.merges) == [(97, 98), (256, 256)]
    assert tokenizers[0].to_tiktoken()._mergeable_ranks == ranks
    tokenizers[0].save(tmp_path)
    saved = BPETokenizer.from_pretrained(tmp_path)
    assert saved.decode([257, 97]) == "a" and saved.encode("abab ab") == other.encode("abab ab")
    save_ranks(tokenizers[0].spec, tmp_path / "a.tiktoken")
    assert ours.load.load_tiktoken_bpe(str(tmp_path / "a.tiktoken")) == ranks == read_ranks(tmp_path / "a.tiktoken")
    opened = BPETokenizer.from_pretrained(tmp_path / "a.tiktoken", pattern=r"\w+|\W+")
    assert opened.encode("abab ab") == other.encode("abab ab") and opened.decode([257, 97]) == "a"


def test_a_file_of_ranks_without_a_pattern_says_what_to_pass(tmp_path, capsys):
    (tmp_path / "a.tiktoken").write_bytes(
        b"".join(base64.b64encode(byte) + b" %d\n" % at for byte, at in BYTES.items())
    )
    with pytest.raises(TokenizerFileError, match='name the one to split with, as in pattern="cl100k"'):
        BPETokenizer.from_pretrained(tmp_path / "a.tiktoken")
    assert main(["count", "low", "-t", str(tmp_path / "a.tiktoken")]) == 1
    assert "as in --pattern cl100k" in capsys.readouterr().err


def test_bytes_need_a_tokenizer_of_bytes():
    plain = BPETokenizer(BPEModel.from_merges([(b"a", b"b")]))
    assert encode_bytes(plain.pipeline, b"ab\xff") == [256, 255]
    with pytest.raises(BPELabError, match="one pattern alone"):
        encode_bytes(plain.with_options(normalizer="NFC").pipeline, b"ab")
