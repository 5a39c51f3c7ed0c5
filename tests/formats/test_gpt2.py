"""GPT-2's two files: those of OpenAI and Qwen, those that are made here, and what transformers reads of them."""

import json
import random

import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, TokenizerFileError
from bpelab._support.textio import valid_text
from bpelab.formats import gpt2
from bpelab.notebook import book_text

from ..conftest import amount, encoding, fuzz_text, shared

END = "<|endoftext|>"


def trained(**options):
    chosen = {"pattern": "gpt2", "special_tokens": [END], "eos_token": END, "bos_token": END, **options}
    return BPETokenizer.train(book_text()[:50_000], 700, **chosen)


def texts(number):
    rng = random.Random(70)
    yield from ("", " ", "\u0120", "a\x85b\u2028c", book_text()[60_000:62_000])
    for _ in range(number):
        yield valid_text(fuzz_text(rng))


def configure(folder, **entries):
    (folder / "tokenizer_config.json").write_text(json.dumps(entries))


def test_the_files_of_openai():
    ours = BPETokenizer.from_pretrained(shared("conformance/tokenizers/gpt2"))  # its tokenizer.json
    files = BPETokenizer.from_spec(gpt2.load(shared("conformance/tokenizers/gpt2")))  # encoder.json and vocab.bpe
    theirs = encoding("gpt2")
    assert files.special_tokens == {END: 50_256}
    assert files.get_vocab() == ours.get_vocab()
    for text in texts(amount(300, 20_000)):
        assert files.encode(text) == ours.encode(text) == theirs.encode_ordinary(text)


def test_the_files_of_qwen(tmp_path):
    folder = shared("conformance/tokenizers/qwen2.5")
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (tmp_path / name).symlink_to(folder / name)
    files, ours = BPETokenizer.from_pretrained(tmp_path), BPETokenizer.from_pretrained(folder)
    assert files.special_tokens == ours.special_tokens
    assert files.added_tokens == ours.added_tokens
    assert (files.eos_token, files.spec.metadata) == (ours.eos_token, ours.spec.metadata)
    assert str(files.spec.normalizer) == str(ours.spec.normalizer)
    for text in texts(amount(300, 20_000)):
        assert files.encode(text + "<|im_end|>", allowed_special="all") == ours.encode(
            text + "<|im_end|>", allowed_special="all"
        )


@pytest.mark.parametrize("pattern", ["gpt2", "llama3", "[a-z]+|."])
def test_there_and_back(pattern, tmp_path):
    ours = trained(pattern=pattern)
    gpt2.save(ours.spec, tmp_path)
    again = BPETokenizer.from_pretrained(tmp_path, pattern=pattern)
    assert (again.pattern, again.get_vocab()) == (ours.pattern, ours.get_vocab())
    assert (again.special_tokens, again.eos_token) == (ours.special_tokens, END)
    for text in texts(amount(100, 5_000)):
        assert again.encode(text + END, allowed_special="all") == ours.encode(text + END, allowed_special="all")


@pytest.mark.parametrize("special", [{END: 0}, {END: 300, "<|pad|>": 5_000}])
def test_ids_with_holes(special, tmp_path):
    ours = trained(special_tokens=special)
    gpt2.save(ours.spec, tmp_path)
    again = BPETokenizer.from_pretrained(tmp_path, pattern="gpt2")
    assert again.special_tokens == special
    assert again.get_vocab() == ours.get_vocab()
    assert again.encode(book_text()[:3_000]) == ours.encode(book_text()[:3_000])


@pytest.mark.filterwarnings("ignore:Deprecated in 0.9.0")
@pytest.mark.parametrize(
    "config",
    [
        {},
        {"add_prefix_space": True},
        {"add_bos_token": True},
        {"add_bos_token": True, "add_prefix_space": True, "add_eos_token": True},
        {"tokenizer_class": "Qwen2Tokenizer"},
        {"tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": True},
        {"tokenizer_class": "GPT2TokenizerFast"},
    ],
    ids=str,
)
def test_what_transformers_reads(config, tmp_path):
    transformers = pytest.importorskip("transformers")
    ours = trained()
    gpt2.save(ours.spec, tmp_path)
    configure(tmp_path, **{"tokenizer_class": "GPT2Tokenizer", **config})
    again = BPETokenizer.from_pretrained(tmp_path)
    name = config.get("tokenizer_class", "GPT2Tokenizer").removesuffix("Fast")
    theirs = getattr(transformers, name).from_pretrained(tmp_path)
    for text in texts(amount(150, 5_000)):
        for part in (text, f"a {END}b {text}"):
            assert theirs(part)["input_ids"] == again.encode(part, allowed_special="all"), part
    if not config:
        assert again.encode("the harbour") == ours.encode("the harbour")
        assert (theirs.eos_token_id, len(theirs)) == (ours.eos_token_id, len(ours))


def test_the_pattern_must_be_known(tmp_path):
    gpt2.save(trained().spec, tmp_path)
    with pytest.raises(TokenizerFileError, match="how text is split; give pattern="):
        BPETokenizer.from_pretrained(tmp_path)
    configure(tmp_path, tokenizer_class="LlamaTokenizer")
    with pytest.raises(TokenizerFileError, match="give pattern="):
        BPETokenizer.from_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    for ours, theirs in zip(("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")):
        (tmp_path / theirs).rename(tmp_path / ours)
    assert BPETokenizer.from_pretrained(tmp_path).pattern == "gpt2"  # OpenAI's names mean OpenAI's pattern


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        ({"add_prefix_space": True}, {"pattern": "gpt2"}, "add_prefix_space: can't be combined with pattern='gpt2'"),
        ({"add_prefix_space": "yes"}, {}, "add_prefix_space: expected true or false"),
        ({"add_bos_token": 1}, {}, "add_bos_token: expected true or false"),
        ({"add_bos_token": True, "bos_token": None}, {}, "add_bos_token: is true, but there is no bos_token"),
    ],
)
def test_settings_that_are_not_ignored(config, options, message, tmp_path):
    gpt2.save(trained().spec, tmp_path)
    configure(tmp_path, tokenizer_class="GPT2Tokenizer", **config)
    with pytest.raises(TokenizerFileError, match=message) as caught:
        BPETokenizer.from_pretrained(tmp_path, **options)
    assert "tokenizer_config.json" in str(caught.value)


def test_added_tokens_of_all_files(tmp_path):
    gpt2.save(trained().spec, tmp_path)
    (tmp_path / "added_tokens.json").write_text('{"<|a|>": 700, "<|b|>": 701}')
    entry = {"content": "<|b|>", "special": False, "lstrip": True, "__type": "AddedToken"}
    configure(tmp_path, tokenizer_class="GPT2Tokenizer", added_tokens_decoder={"701": entry})
    again = BPETokenizer.from_pretrained(tmp_path)
    assert again.special_tokens == {END: 699, "<|a|>": 700}
    assert again.encode("low  <|b|>") == [*again.encode("low"), 701]


MERGES = "#version: 0.2\nt h\nh e\n"


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (MERGES + "t\n", r"merges.txt: line 4: expected two tokens and a space, found 't'"),
        (MERGES + "t h e\n", r"merges.txt: line 4"),
        (MERGES + "t \n", r"merges.txt: line 4"),
        (MERGES + " t\n", r"merges.txt: line 4"),
        (MERGES + "t zzz\n", r"merges.txt: merge 3: .*is not in vocab.json"),
        (MERGES + "#version: 0.2\n", r"merges.txt: merge 3"),
        (b"#version\n\xff \xfe\n", "merges.txt: byte 9: is not UTF-8"),
    ],
)
def test_merges_that_are_wrong(merges, message, tmp_path):
    gpt2.save(trained().spec, tmp_path)
    (tmp_path / "merges.txt").write_bytes(merges if isinstance(merges, bytes) else merges.encode())
    with pytest.raises(TokenizerFileError, match=message):
        BPETokenizer.from_pretrained(tmp_path, pattern="gpt2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda vocab: vocab.update({"th": "5"}), r"vocab.json: \['th'\]: expected an integer"),
        (lambda vocab: vocab.update({"th": 5}), r"vocab.json: \['.*'\]: has the id 5"),
        (lambda vocab: vocab.update({"th": -5}), r"vocab.json: \['th'\]: -5 is not an id"),
        (lambda vocab: vocab.clear(), "vocab.json: is empty"),
        (lambda vocab: vocab.pop("th"), r"merges.txt: merge \d+: .*is not in vocab.json"),
    ],
)
def test_vocabularies_that_are_wrong(change, message, tmp_path):
    gpt2.save(trained().spec, tmp_path)
    vocab = json.loads((tmp_path / "vocab.json").read_text())
    change(vocab)
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    with pytest.raises(TokenizerFileError, match=message):
        BPETokenizer.from_pretrained(tmp_path, pattern="gpt2")


def test_lines_that_end_otherwise(tmp_path):
    """Only a line feed ends a line, a carriage return before it apart: tokens may hold what else looks like an end."""
    gpt2.save(trained().spec, tmp_path)
    content = (tmp_path / "merges.txt").read_bytes()
    (tmp_path / "merges.txt").write_bytes(content.replace(b"\n", b"\r\n"))
    ours = trained()
    assert BPETokenizer.from_pretrained(tmp_path, pattern="gpt2").get_vocab() == ours.get_vocab()


def test_what_the_files_cannot_hold(tmp_path):
    ranks = {bytes([b]): b for b in range(256)} | {b"xyz": 256}
    for tokenizer, why in [
        (BPETokenizer(BPEModel.from_ranks(ranks)), "whole pieces are looked up first"),
        (trained(special_tokens={"\u0120the": 900}, eos_token=None, bos_token=None), "would mix up"),
    ]:
        with pytest.raises(ConversionError, match=why):
            gpt2.save(tokenizer.spec, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_the_files(tmp_path):
    with pytest.raises(TokenizerFileError, match=r"has no vocab.json with merges.txt or encoder.json"):
        gpt2.load(tmp_path)
