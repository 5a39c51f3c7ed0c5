"""llama.cpp gives a text bpelab's ids, from a GGUF file that holds a vocabulary and no weights."""

import json
import random
import unicodedata

import pytest

from bpelab import BPETokenizer
from bpelab.notebook import book_text
from bpelab.pretokenizers.unicode_tables import category

from ..conftest import amount, fuzz_text
from .conftest import need

llama_cpp, gguf = need("llama_cpp"), need("gguf")
OLDER = unicodedata if unicodedata.unidata_version < "16" else unicodedata.ucd_3_2_0


def write_vocabulary(folder, path):
    """The least that llama.cpp takes for a tokenizer, out of tokenizer.json, by the package of GGUF's makers."""
    data = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    kinds = dict.fromkeys(data["model"]["vocab"], gguf.TokenType.NORMAL)
    kinds |= {token["content"]: gguf.TokenType.CONTROL for token in data["added_tokens"]}  # their ids follow
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(list(kinds))
    writer.add_token_types(list(kinds.values()))
    writer.add_token_merges([" ".join(merge) for merge in data["model"]["merges"]])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    ours = BPETokenizer.train(book_text()[:60_000], 800, pattern="gpt2", special_tokens=["<|end|>", "<|user|>"])
    folder = tmp_path_factory.mktemp("gguf")
    ours.save(folder)
    write_vocabulary(folder, folder / "vocabulary.gguf")
    theirs = llama_cpp.Llama(str(folder / "vocabulary.gguf"), vocab_only=True, verbose=False)
    yield ours, theirs
    theirs.close()


def both_know(char):
    """Whether both see a letter, a number, or neither: llama.cpp's table lacks those that Unicode 16 added."""
    classes = {"L": "letter", "N": "number"}
    return classes.get(OLDER.category(char)[0]) == classes.get(category(char)[0])


def ids(theirs, text, special=False):
    return theirs.tokenize(text.encode(), add_bos=False, special=special)


def test_the_size(both):
    ours, theirs = both
    assert theirs.n_vocab() == ours.n_vocab == 800


def test_the_book(both):
    ours, theirs = both
    assert ids(theirs, book_text()) == ours.encode(book_text())


def test_fuzz(both):
    ours, theirs = both
    rng = random.Random(11)
    for _ in range(amount(3_000, 100_000)):
        text = "".join(filter(both_know, fuzz_text(rng))).encode("utf-8", "replace").decode()
        assert ids(theirs, text) == ours.encode(text), repr(text)


def test_special_tokens(both):
    ours, theirs = both
    text = "<|user|>low <|end|><|end|> lower<|end"
    assert ids(theirs, text, special=True) == ours.encode(text, allowed_special="all")
    assert ids(theirs, text) == ours.encode(text)


def test_and_back(both):
    ours, theirs = both
    text = "naïve 日本 😀 <low>"
    assert theirs.detokenize(ours.encode(text)).decode() == text
