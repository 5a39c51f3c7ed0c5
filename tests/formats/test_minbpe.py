"""minbpe's files, and the listing for people."""

import pytest

from bpelab import BPETokenizer, ConversionError, TokenizerFileError
from bpelab.formats import minbpe
from bpelab.formats.listing import listing, printable
from bpelab.notebook import book_text
from bpelab.unicode.byte_alphabet import BYTE_OF_CHAR, CHAR_OF_BYTE, from_alphabet, to_alphabet


def test_both_ways(tmp_path):
    ours = BPETokenizer.train(book_text()[:30_000], 600, special_tokens=["<|end|>"])
    minbpe.save(ours.spec, tmp_path / "a.model")
    again = BPETokenizer.from_spec(minbpe.load(tmp_path / "a.model"))
    assert again.pattern == ours.pattern
    assert again.special_tokens == ours.special_tokens
    text = book_text()[:9_000] + "<|end|>"
    assert again.encode(text, allowed_special="all") == ours.encode(text, allowed_special="all")
    lines = (tmp_path / "a.vocab").read_text().splitlines()
    assert any(line.startswith("[h][e] -> [he] ") for line in lines)
    assert lines[-1] == "[<|end|>] 599"


def minbpe_reads(path) -> tuple[str, dict[str, int], dict[tuple[int, int], int]]:
    """A transcription of what minbpe's Tokenizer.load does, as the format's definition."""
    with open(path, encoding="utf-8") as f:
        assert f.readline().strip() == "minbpe v1"
        pattern = f.readline().strip()
        special = {}
        for _ in range(int(f.readline().strip())):
            name, token_id = f.readline().strip().split()
            special[name] = int(token_id)
        merges = {}
        for number, line in enumerate(f):
            left, right = map(int, line.split())
            merges[left, right] = 256 + number
    return pattern, special, merges


def test_as_minbpe_reads_it(tmp_path):
    ours = BPETokenizer.train(book_text()[:30_000], 600, special_tokens=["<|end|>"])
    minbpe.save(ours.spec, tmp_path / "a.model")
    pattern, special, merges = minbpe_reads(tmp_path / "a.model")
    assert special == ours.special_tokens
    assert merges == {pair: new for pair, (_, new) in ours.model.merges.items()}
    assert BPETokenizer(ours.model, pattern=pattern).encode("the harbour") == ours.encode("the harbour")


def test_a_file_of_minbpes(tmp_path):
    (tmp_path / "m.model").write_text("minbpe v1\n\n1\n<|x|> 300\n97 97\n256 97\n")
    tokenizer = BPETokenizer.from_spec(minbpe.load(tmp_path / "m.model"))
    assert tokenizer.pattern is None
    assert tokenizer.encode("aaa<|x|>", allowed_special="all") == [257, 300]


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("minbpe v2\n\n0\n", "line 1"),
        ("minbpe v1\n", "line 2|line 3"),
        ("minbpe v1\n\n-1\n", "line 3"),
        ("minbpe v1\n\n99999999999999\n", "line 3"),
        ("minbpe v1\n\n1\n", "line 4"),
        ("minbpe v1\n\n1\n<|x|>\n", "line 4"),
        ("minbpe v1\n\n0\n97\n", "line 4"),
        ("minbpe v1\n\n0\n97 256\n", "line 4: expected two ids below 256"),
        ("minbpe v1\n\n0\n97 -1\n", "line 4"),
        ("minbpe v1\n\n0\n97 98\n97 98\n", "again"),
        ("minbpe v1\n(\n0\n", "not closed"),
    ],
)
def test_files_that_are_wrong(content, where, tmp_path):
    (tmp_path / "x.model").write_text(content)
    with pytest.raises(TokenizerFileError, match=where):
        minbpe.load(tmp_path / "x.model")


def test_what_minbpe_cannot_hold(tmp_path):
    for tokenizer, why in [
        (BPETokenizer.train("abab", 258, special_tokens=["<a b>"]), "white space"),
        (BPETokenizer.train("abab", 257, normalizer="NFC"), "normalizer"),
        (BPETokenizer.train("abab", 258, special_tokens={"<x>": 0}), "numbers the bytes from 0"),
        (BPETokenizer.train("abab", 257, pattern="a\n"), "line break"),
    ]:
        with pytest.raises(ConversionError, match=why):
            minbpe.save(tokenizer.spec, tmp_path / "x.model")
    with pytest.raises(ConversionError, match=r"end in \.model"):
        minbpe.save(BPETokenizer.train("abab", 257).spec, tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


def test_the_listing_is_not_read_back(tmp_path):
    with pytest.raises(TokenizerFileError, match="has lost bytes"):
        minbpe.load(tmp_path / "x.vocab")


def test_the_byte_alphabet():
    assert len(CHAR_OF_BYTE) == len(BYTE_OF_CHAR) == 256
    assert all(char.isprintable() and not char.isspace() for char in BYTE_OF_CHAR)
    every = bytes(range(256))
    assert from_alphabet(to_alphabet(every)) == every
    with pytest.raises(ValueError, match="stands for no byte"):
        from_alphabet("a b")


def test_the_byte_alphabet_is_hugging_faces():
    tokenizers = pytest.importorskip("tokenizers")
    assert set(tokenizers.pre_tokenizers.ByteLevel.alphabet()) == set(BYTE_OF_CHAR)


def test_a_listing():
    tokenizer = BPETokenizer.train("abab\xe9", 258, special_tokens=["<x>"])
    lines = listing(tokenizer.spec).splitlines()
    assert len(lines) == 258
    assert lines[-1] == "   257 special  '<x>'"
    assert printable(b"\x00\n\xff") == "\\u0000\\u000a\ufffd"
