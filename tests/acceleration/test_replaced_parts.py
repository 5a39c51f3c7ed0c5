"""Where transformers itself replaces a part of a tokenizer's file, acceleration says so, and changes nothing."""

import json
import warnings

import pytest

from bpelab import BPETokenizer, accelerate
from bpelab.notebook import book_text

transformers = pytest.importorskip("transformers")


def folder_of(path, tokenizer_class):
    """A byte-level tokenizer whose configuration names a class."""
    BPETokenizer.train(book_text()[:20_000], 400, pattern="gpt2").save(path)
    config = json.loads((path / "tokenizer_config.json").read_text("utf-8"))
    (path / "tokenizer_config.json").write_text(json.dumps(config | {"tokenizer_class": tokenizer_class}), "utf-8")
    return path


def test_a_pre_tokenizer_that_the_class_replaces(tmp_path):
    """As with DeepSeek V3, whose class is Llama's; the ids stay those of transformers."""
    theirs = transformers.AutoTokenizer.from_pretrained(folder_of(tmp_path, "LlamaTokenizerFast"))
    ids = theirs.encode("low lower")
    if theirs.backend_tokenizer.pre_tokenizer.__class__.__name__ == "ByteLevel":
        pytest.skip("this version of transformers reads the file as it is")
    with pytest.warns(RuntimeWarning, match=r"replaced the .*pre-tokenizer of .*tokenizer\.json, so its ids differ"):
        accelerate(theirs)
    assert theirs.encode("low lower") == ids


@pytest.mark.parametrize("tokenizer_class", ["PreTrainedTokenizerFast", "GPT2TokenizerFast"])
def test_a_file_that_is_read_as_it_is(tmp_path, tokenizer_class):
    theirs = transformers.AutoTokenizer.from_pretrained(folder_of(tmp_path, tokenizer_class))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accelerate(theirs)
