"""Gemma's GGUF file, as a package ships it, and Mistral's vocabularies written as GGUF: llama.cpp has the same ids.

Gemma's is also saved as a tokenizer.json, as it is, extended and pruned: Hugging Face's library has the same ids.

`make test-backends` runs these, since its environment has llama.cpp.
"""

import random

import pytest

from bpelab import BPETokenizer
from bpelab.convert import convert
from bpelab.editing import extend, prune

from .catalogue import GEMMA_GGUF, SENTENCEPIECE
from .download import joined_file, real_file
from .texts import random_strings, texts

llama_cpp = pytest.importorskip("llama_cpp", reason="llama.cpp is not installed here; make test-backends has it")
LINES = 1_500
GEMMAS_NAMES = [
    "<bos>",
    "<end_of_turn>",
    "<table>",
    "</table>",
    "\n\n",
    "  ",
    "     ",
    "\u2581\u2581",
    "\t\t",
    "<unused5>",
]


def some_texts(names):
    """Lines and random strings as UTF-8 has them, without NUL, which ends a text for llama.cpp."""
    everything = [*random.Random(36).sample(texts(), min(LINES, len(texts()))), *random_strings(names)]
    return [text.encode("utf-8", "replace").decode() for text in everything if "\0" not in text]


def agree(ours, path, some, control):
    """Compare with llama.cpp's ids, without and with control tokens in the text."""
    theirs = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    for special in control:
        for text in some:
            ids = ours.encode(text, allowed_special="all" if special else (), add_special_tokens=False)
            assert theirs.tokenize(text.encode(), add_bos=False, special=special) == ids, (special, text)
    theirs.close()


def test_gemma(tmp_path):
    path = joined_file(GEMMA_GGUF)
    some = some_texts(GEMMAS_NAMES)
    assert len(some) >= 4_000 or len(texts()) < LINES
    ours = BPETokenizer.from_pretrained(path)
    agree(ours, path, some, (False, True))
    assert convert(ours, tmp_path / "again.gguf", "gguf") == []
    again = BPETokenizer.from_pretrained(tmp_path / "again.gguf")
    assert again.spec == ours.spec
    agree(again, tmp_path / "again.gguf", some, (False, True))


def test_gemma_as_tokenizer_json(tmp_path):
    """Three of its tokens rank before their own parts; "▁SSSR" before "SSR"."""
    tokenizers = pytest.importorskip("tokenizers")
    some = [
        *some_texts(GEMMAS_NAMES),
        "in SSSR, SSSR",
        "a ====== b",
        "a ========== b",
        " =============",
        " SSSRSSR SSSSR",
    ]
    ours = BPETokenizer.from_pretrained(joined_file(GEMMA_GGUF))
    assert ours.model.recovered_merges.early == 3
    words = "Wortzusammensetzungsbeispiel und Tokenisierungsverfahren " * 9
    longer = extend(ours, words, 5)
    fewer = prune(ours, keep=200_000)
    new = set(longer.model.tokens) - set(ours.model.tokens)
    assert len(new) == 5 and not new.isdisjoint(longer.encode(words))
    for name, tokenizer in (("same", ours), ("longer", longer), ("fewer", fewer.tokenizer)):
        tokenizer.save_pretrained(tmp_path / name)
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / name / "tokenizer.json"))
        again = BPETokenizer.from_pretrained(tmp_path / name)
        assert convert(again, tmp_path / f"{name}.gguf", "gguf") == []
        agree(again, tmp_path / f"{name}.gguf", some, (False,))
        for text in some:
            ids = tokenizer.encode(text, allowed_special="all", add_special_tokens=False)
            assert theirs.encode(text, add_special_tokens=False).ids == ids, (name, text)
            if name == "longer" and new.isdisjoint(ids):
                assert ids == ours.encode(text, allowed_special="all", add_special_tokens=False), text


@pytest.mark.parametrize("file", SENTENCEPIECE[:1], ids=lambda file: file.name)
def test_mistral_written_as_gguf(file, tmp_path):
    ours = BPETokenizer.from_pretrained(real_file(file))
    assert convert(ours, tmp_path / "m.gguf", "gguf") == []
    assert BPETokenizer.from_pretrained(tmp_path / "m.gguf").model == ours.model
    agree(ours, tmp_path / "m.gguf", some_texts(["<s>", "[INST]", "    "]), (False,))
