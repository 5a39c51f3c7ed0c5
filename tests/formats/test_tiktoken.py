"""tiktoken both ways: encodings loaded, tokenizers handed over, rank files."""

import base64
import itertools
import json
import random
import re
import sys

import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, TokenizerFileError
from bpelab._support.install import install_command
from bpelab.encoders.naive import NaiveEncoder
from bpelab.errors import MissingDependencyError
from bpelab.formats.tiktoken_encoding import rank_table
from bpelab.formats.tiktoken_file import load_ranks, read_ranks, save_ranks
from bpelab.formats.tiktoken_registry import encoding_name
from bpelab.notebook import book_text
from bpelab.tokenizer import open_tokenizer

from ..conftest import ENCODINGS, encoding


@pytest.mark.parametrize("name", [*ENCODINGS, "o200k_harmony"])
def test_encodings_load(name):
    theirs = encoding(name)
    ours = BPETokenizer.from_tiktoken(name)
    assert ours.n_vocab == theirs.n_vocab
    assert ours.special_tokens == theirs._special_tokens
    text = book_text()[:20_000] + "<|endoftext|>"
    assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    assert ours.encode(text) == theirs.encode_ordinary(text)
    assert ours.decode(theirs.encode(text, allowed_special="all")) == text
    assert [theirs.encode_single_token(token) for token in list(ours.get_vocab())[:500]] == list(
        ours.get_vocab().values()
    )[:500]
    assert ours.decode_with_offsets(theirs.encode("日本 é 😀 x")) == theirs.decode_with_offsets(
        theirs.encode("日本 é 😀 x")
    )


def test_names_that_tiktoken_does_not_know():
    pytest.importorskip("tiktoken")
    for name, meant in (("cl100k", "cl100k_base"), ("gpt4o", "gpt-4o"), ("text-davinci-3", "text-davinci-003")):
        with pytest.raises(ValueError, match=f"no encoding or model named '{name}': did you mean {meant}"):
            BPETokenizer.from_tiktoken(name)
    with pytest.raises(ValueError, match=r"no encoding or model named 'zzz': its encodings are .*cl100k_base"):
        BPETokenizer.from_tiktoken("zzz")
    with pytest.raises(TypeError):
        BPETokenizer.from_tiktoken(5)


def test_names_of_models():
    tiktoken = pytest.importorskip("tiktoken")
    from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING

    for name in (*MODEL_TO_ENCODING, *(prefix + "later" for prefix in MODEL_PREFIX_TO_ENCODING)):
        assert encoding_name(name) == tiktoken.encoding_name_for_model(name)
    for name in tiktoken.list_encoding_names():
        assert encoding_name(name) == name
    encoding("o200k_base")
    for ours in (BPETokenizer.from_tiktoken("gpt-4o"), open_tokenizer("gpt-4o")):  # the latter is the command line's
        assert ours.encode("a cat") == encoding("o200k_base").encode("a cat")


@pytest.mark.parametrize("name", [*ENCODINGS, "o200k_harmony"])
def test_eos_token_is_theirs(name):
    theirs = encoding(name)
    for ours in (BPETokenizer.from_tiktoken(name), BPETokenizer.from_tiktoken(theirs)):
        assert (ours.eos_token, ours.eos_token_id) == ("<|endoftext|>", theirs.eot_token)


def test_an_encoding_without_end_of_text_has_no_eos_token():
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    theirs = tiktoken.Encoding("bytes", pat_str="(?s:.)", mergeable_ranks=ranks, special_tokens={"<|end|>": 256})
    assert BPETokenizer.from_tiktoken(theirs).eos_token is None


def test_rank_files_both_ways(tmp_path):
    ours = BPETokenizer.train(book_text()[:30_000], 700)
    save_ranks(ours.spec, tmp_path / "a.tiktoken")
    assert read_ranks(tmp_path / "a.tiktoken") == ours.model.ids
    again = BPETokenizer(BPEModel.from_ranks(read_ranks(tmp_path / "a.tiktoken")))
    assert again.encode(book_text()[:9_000]) == ours.encode(book_text()[:9_000])


def test_tiktoken_reads_our_rank_files(tmp_path, monkeypatch):
    load = pytest.importorskip("tiktoken.load")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # where it would keep a copy of what it reads
    ours = BPETokenizer.train(book_text()[:30_000], 500)
    save_ranks(ours.spec, tmp_path / "a.tiktoken")
    assert load.load_tiktoken_bpe(str(tmp_path / "a.tiktoken")) == ours.model.ids


LINE = base64.b64encode(b"ab").decode()


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (f"{LINE} 1\n{LINE} 2\n", "line 2: repeats the token or the rank of line 1"),
        (f"{LINE} 1\nYWM= 1\n", "line 2: repeats"),
        (f"{LINE}\n", "line 1: expected a token in Base64"),
        (f"{LINE} x\n", "line 1"),
        (f"{LINE} -1\n", "line 1"),
        (f"{LINE} 1 2\n", "line 1"),
        ("!!! 1\n", "line 1"),
        (" 1\n", "line 1"),
        (f"{LINE} {'9' * 5_000}\n", "line 1"),
        ("", "has no tokens"),
    ],
)
def test_rank_files_that_are_wrong(content, where, tmp_path):
    (tmp_path / "x.tiktoken").write_text(content)
    with pytest.raises(TokenizerFileError, match=where):
        read_ranks(tmp_path / "x.tiktoken")


def test_what_tiktoken_cannot_hold():
    pytest.importorskip("tiktoken")
    with pytest.raises(ConversionError, match="NFC"):
        BPETokenizer.train("abab", 257, normalizer="NFC").to_tiktoken()
    ranks = {bytes([b]): b for b in range(256)} | {b"xyz": 256}
    orphan = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=False))
    with pytest.raises(ConversionError, match="no merges make the token b'xyz'"):
        orphan.to_tiktoken()
    whole = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=True))
    assert whole.to_tiktoken().encode("xyz") == whole.encode("xyz") == [256]


def all_cuts(model):
    """The list of merges that Hugging Face makes of a rank table: all ways to cut each token in two tokens."""
    pairs = sorted(model.merges, key=lambda pair: (model.merges[pair][1], pair))
    return [(model.tokens[left], model.tokens[right]) for left, right in pairs]


@pytest.mark.parametrize("ignore_merges", [True, False])
def test_a_list_of_all_cuts_becomes_ranks_again(ignore_merges):
    """As the tokenizer.json of Llama 3.1 and of gpt-oss have it."""
    pytest.importorskip("tiktoken")
    table = BPEModel.from_ranks(BPETokenizer.train(book_text()[:60_000], 700).model.ids)
    listed = BPEModel.from_vocab(table.tokens, all_cuts(table))
    assert len(listed.merges) > 700 - 256
    model = BPEModel(listed.tokens, listed.merges, listed.alphabet, ignore_merges)
    ours = BPETokenizer(model, pattern="llama3", encoder="naive")
    theirs = ours.to_tiktoken()
    rng = random.Random(4)
    for text in [book_text()[60_000:70_000], *("".join(rng.choices("the and", k=30)) for _ in range(200))]:
        assert ours.encode(text) == theirs.encode_ordinary(text)


def test_tables_that_are_called_equal_are_and_the_others_differ_somewhere():
    """Against every piece of up to seven letters: of small models, ranks give other ids only where that is refused."""
    rng, verdicts, refused_for_cause = random.Random(7), {True: 0, False: 0}, 0
    pieces = ["".join(letters).encode() for n in range(1, 8) for letters in itertools.product("ab", repeat=n)]
    for _ in range(150):
        words = rng.sample([piece for piece in pieces if 1 < len(piece) < 5], 6)
        if rng.random() < 0.7:
            words.sort(key=len)  # no token ranks before its parts
        ids = {bytes([byte]): byte for byte in range(256)} | {word: 256 + at for at, word in enumerate(words)}
        table = BPEModel.from_ranks(ids)
        cuts = all_cuts(table)
        if rng.random() < 0.5:
            rng.shuffle(cuts)
        if rng.random() < 0.3:
            cuts = cuts[:-1]
        listed = BPEModel.from_vocab(table.tokens, cuts)
        model = BPEModel(listed.tokens, listed.merges, listed.alphabet, rng.random() < 0.7)
        try:
            ranks = rank_table(BPETokenizer(model, pattern=None).spec)
        except ConversionError:
            ranks = None
        one, other = (NaiveEncoder(each) for each in (model, table))
        same = all(one.encode_piece(piece) == other.encode_piece(piece) for piece in pieces)
        assert same or ranks is None
        verdicts[ranks is not None] += 1
        refused_for_cause += not same
    assert verdicts[True] > 20 and refused_for_cause > 20


def test_ids_that_are_not_the_order_of_the_merges(tmp_path):
    """The token of the first merge has the higher id: as a rank it would come second."""
    pytest.importorskip("tiktoken")
    BPETokenizer.train("abababcbcbc" * 3, 258).save(tmp_path)
    path = tmp_path / "tokenizer.json"
    data = json.loads(path.read_text())
    first, second = ("".join(pair) for pair in data["model"]["merges"])
    vocab = data["model"]["vocab"]
    vocab[first], vocab[second] = vocab[second], vocab[first]
    path.write_text(json.dumps(data))
    with pytest.raises(ConversionError, match="the token 257 merges before 256 here"):
        BPETokenizer.from_pretrained(tmp_path).to_tiktoken()


def test_a_rank_file_without_all_bytes(tmp_path):
    (tmp_path / "x.tiktoken").write_text("YQ== 0\nYg== 1\nYWI= 2\n")
    with pytest.raises(TokenizerFileError, match=r"x\.tiktoken.*no token for 254 single bytes, 0x00 among them"):
        load_ranks(tmp_path / "x.tiktoken", "gpt2")


def test_without_tiktoken(monkeypatch):
    for name in ("tiktoken", "tiktoken_ext"):
        monkeypatch.setitem(sys.modules, name, None)
    for use in (lambda: BPETokenizer.from_tiktoken("gpt2"), lambda: BPETokenizer.train("abab", 257).to_tiktoken()):
        with pytest.raises(MissingDependencyError, match=re.escape(install_command("tiktoken"))):
            use()
