"""Real files of other formats, each against the library of its maker: Mistral's, Anthropic's, Qwen's, OpenAI's."""

import base64
import json
import random
import unicodedata
from functools import lru_cache

import pytest

from bpelab import BPETokenizer, ConversionError
from bpelab.convert import convert
from bpelab.editing import extend
from bpelab.formats import gguf_save, huggingface
from bpelab.formats.published_ranks import PatternFromHash

from .catalogue import CLAUDE_JSON, RANKS, SENTENCEPIECE, TEKKEN
from .download import real_file
from .test_tokenizer_json import first_difference
from .texts import random_strings, texts

SAMPLE = 400
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN_35 = QWEN.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")


GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
MAKERS = {"Qwen": (QWEN, True), "Qwen 3.5": (QWEN_35, True), "Whisper": (GPT_2, False)}
"""The name of a rank table -> its maker's pattern, and whether the maker's code normalizes texts to NFC."""


def each(files):
    return pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in files])


@lru_cache(None)
def everything() -> list[str]:
    return [*texts(), *random_strings(["<s>", "</s>", "[INST]", "<EOT>", "<|im_start|>"])]


def tell(record_property, file, library):
    """Report for the record that all texts were compared with a library's ids."""
    record_property("texts", len(everything()))
    record_property("library", library)
    record_property("tokenizer", file.name)


def sample():
    return random.Random(35).sample(everything(), SAMPLE)


@each(TEKKEN)
def test_tekken(file, tmp_path, record_property):
    """Read, and written back by way of a tokenizer.json: Mistral's library has the same ids all along."""
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    path = real_file(file)
    ours, theirs = BPETokenizer.from_pretrained(path), tekken.Tekkenizer.from_file(path)
    expected = [theirs.encode(text, bos=True, eos=True) for text in everything()]
    bos, eos = ours.bos_token_id, ours.eos_token_id
    assert first_difference(everything(), [[bos, *ours.encode(text), eos] for text in everything()], expected) is None
    assert ours.decode_batch([ids[1:-1] for ids in expected]) == [theirs.decode(ids) for ids in expected]
    assert (ours.n_vocab, len(ours.special_tokens)) == (theirs.n_words, theirs.num_special_tokens)
    ours.save(tmp_path)
    hugging = BPETokenizer.from_pretrained(tmp_path)
    assert convert(hugging, tmp_path / "tekken.json", "tekken") == []
    again = tekken.Tekkenizer.from_file(tmp_path / "tekken.json")
    assert [again.id_to_piece(n) for n in range(2_000)] == [theirs.id_to_piece(n) for n in range(2_000)]
    for text in sample():
        ids = theirs.encode(text, bos=False, eos=False)
        assert hugging.encode(text) == again.encode(text, bos=False, eos=False) == ids
    tell(record_property, file, "mistral_common")


@each(SENTENCEPIECE)
def test_sentencepiece(file, record_property):
    sentencepiece = pytest.importorskip("sentencepiece")
    path = real_file(file)
    ours, theirs = BPETokenizer.from_pretrained(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    expected = theirs.encode(everything())
    assert first_difference(everything(), ours.encode_batch(everything()), expected) is None
    assert ours.n_vocab == theirs.vocab_size()
    assert (ours.bos_token_id, ours.eos_token_id, ours.unk_token_id) == (
        theirs.bos_id(),
        theirs.eos_id(),
        theirs.unk_id(),
    )
    tell(record_property, file, "sentencepiece")


@each(SENTENCEPIECE)
def test_sentencepiece_onwards(file, tmp_path):
    """Saved as a tokenizer.json, with sentencepiece's ids in Hugging Face's tokenizers, or refused with the reason."""
    tokenizers, sentencepiece = pytest.importorskip("tokenizers"), pytest.importorskip("sentencepiece")
    ours = BPETokenizer.from_pretrained(real_file(file))
    if ours.model.initial_symbols.symbols:
        for save, reason in (
            (huggingface.save, "are found before ▁ is put"),
            (gguf_save.save, "llama.cpp puts a space"),
        ):
            with pytest.raises(ConversionError, match=reason):
                save(ours.spec, tmp_path / "out")
        return
    ours.save(tmp_path)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(real_file(file)))
    hugging = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    spaces = [" " * n + text for n in range(50) for text in ("a", "\nb", "")]
    names = tuple(ours.special_tokens)  # tokenizers finds these in any text, sentencepiece in none
    some = [text for text in (*spaces, *everything()) if not any(name in text for name in names)]
    expected = theirs.encode(some)
    assert (
        first_difference(
            some, BPETokenizer.from_pretrained(tmp_path).encode_batch(some, add_special_tokens=False), expected
        )
        is None
    )
    found = [encoded.ids for encoded in hugging.encode_batch(some, add_special_tokens=False)]
    assert first_difference(some, found, expected) is None


@each(SENTENCEPIECE)
def test_sentencepiece_extended(file):
    """New tokens keep the old ones' ids, and the ids of text in which no new one occurs."""
    ours = BPETokenizer.from_pretrained(real_file(file))
    more = extend(ours, "zyxwv zyxwv zyxwvut " * 50, 4)
    assert (len(more), more.encode("zyxwv") != ours.encode("zyxwv")) == (len(ours) + 4, True)
    some = [text for text in sample() if "z" not in text and "x" not in text]
    assert len(some) > 100 and more.encode_batch(some) == ours.encode_batch(some)


def test_claude_json(record_property):
    tiktoken = pytest.importorskip("tiktoken")
    path = real_file(CLAUDE_JSON)
    data = json.loads(path.read_text("utf-8"))
    _, first, *tokens = data["bpe_ranks"].split(" ")
    ranks = {base64.b64decode(token): int(first) + index for index, token in enumerate(tokens)}
    theirs = tiktoken.Encoding(
        "claude", pat_str=data["pat_str"], mergeable_ranks=ranks, special_tokens=data["special_tokens"]
    )
    ours = BPETokenizer.from_pretrained(path)
    expected = theirs.encode_ordinary_batch(everything())
    assert first_difference(everything(), ours.encode_batch(everything()), expected) is None
    for text in sample():
        assert ours.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
    tell(record_property, CLAUDE_JSON, "tiktoken")


@each(RANKS)
def test_ranks_with_the_pattern_of_their_maker(file, record_property):
    tiktoken = pytest.importorskip("tiktoken")
    path = real_file(file)
    pairs = [line.split() for line in path.read_bytes().splitlines() if line]
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    pattern, normalizes = MAKERS[file.name]
    theirs = tiktoken.Encoding("theirs", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    with pytest.warns(PatternFromHash, match=f"by its hash, .* is the vocabulary of {file.name}, so"):
        ours = BPETokenizer.from_pretrained(path)
    given = [unicodedata.normalize("NFC", text) if normalizes else text for text in everything()]
    expected = [theirs.encode_ordinary(text) for text in given]
    assert first_difference(everything(), ours.encode_batch(everything()), expected) is None
    tell(record_property, file, "tiktoken")
