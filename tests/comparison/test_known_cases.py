"""Differences that people met in the wild, made small: `diff` finds each, with a text and the right cause."""

import json

import pytest

from bpelab import BPETokenizer
from bpelab.notebook import book_text
from bpelab.regex.patterns import PATTERNS

NANOCHAT = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,%d}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
)
"""nanochat's pattern, in which numbers have up to two digits, while GPT-4's, that it came from, has up to three."""


def numbers():
    return book_text()[:20_000] + " ".join(map(str, range(3_000)))


def test_nanochat_cuts_numbers_after_two_digits():
    three = BPETokenizer.train(numbers(), 900, pattern=NANOCHAT % 3)
    two = three.with_options(pattern=NANOCHAT % 2)
    found = three.diff(two, corpus=["in 2024", "no number", "12"])
    assert found.text.isdigit() and len(found.text) == 3
    assert [part.part for part in found.parts] == ["pattern"] and "is cut into" in found.cause
    assert (found.differing_lines, found.lines) == (1, 3)
    assert three.encode(found.text) == list(found.ids) != list(found.other_ids) == two.encode(found.text)


def test_nanochats_spelling_of_gpt_4s_pattern_is_proved_to_be_llama_3s():
    """Although it has possessive quantifiers, and no `+` after its line breaks."""
    trained = BPETokenizer.train(numbers(), 600, pattern="llama3")
    assert trained.diff(trained.with_options(pattern=NANOCHAT % 3)).basis == "proof"


def test_mistral_files_with_another_models_pattern():
    """transformers wrote the pattern of Llama 3 into the files that it made of a tekken.json."""
    made = BPETokenizer.train("eB eB eB ay " * 9 + "Bay " * 5, 262, pattern="llama3")
    found = made.with_options(pattern="tekken").diff(made, corpus=["eBay", "2024", "no"])
    assert (found.text, found.ids, found.other_ids) == ("eB", (101, 66), (256,))
    assert found.cause.startswith("pattern: Split('tekken') and Split('llama3')")
    assert found.differing_lines == 1


def test_long_patterns_are_shown_where_they_differ():
    trained = BPETokenizer.train("low lower 123 " * 9, 262)
    one, two = (PATTERNS["o200k"].regex + end for end in ("|a{2}", "|a{3}"))
    found = trained.with_options(pattern=one).diff(trained.with_options(pattern=two))
    assert "a{2}" in found.parts[0].sentence and "a{3}" in found.parts[0].sentence


@pytest.mark.parametrize(("legacy", "scheme"), [(True, "always"), (False, "first")])
def test_a_fast_tokenizer_is_not_the_sentencepiece_model_that_it_was_made_from(tmp_path, legacy, scheme):
    """transformers puts no space before a text that begins with one; SentencePiece always does."""
    transformers, spm = pytest.importorskip("transformers"), pytest.importorskip("sentencepiece")
    pytest.importorskip("google.protobuf")
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter([*book_text()[:20_000].splitlines(), "a    b  c"] * 2), model_type="bpe", vocab_size=700,
        model_prefix=str(tmp_path / "tokenizer"), byte_fallback=True, normalization_rule_name="identity",
        remove_extra_whitespaces=False, minloglevel=2,
    )  # fmt: skip
    slow = spm.SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    made = transformers.LlamaTokenizer.from_pretrained(tmp_path, legacy=legacy)
    made.backend_tokenizer.save(str(tmp_path / "made.json"))
    ours = BPETokenizer.from_pretrained(tmp_path / "tokenizer.model")
    found = ours.diff(BPETokenizer.from_pretrained(tmp_path / "made.json"))
    assert f"prepend_scheme='{scheme}'" in str(found)
    assert slow.encode(found.text) == list(found.ids)
    assert made(found.text, add_special_tokens=False)["input_ids"] == list(found.other_ids) != list(found.ids)


def test_a_post_processor_that_adds_nothing_is_proved_to_be_no_matter(tmp_path):
    trained = BPETokenizer.train("low lower " * 9, 262, special_tokens=["<s>"])
    trained.save(tmp_path)
    file = tmp_path / "tokenizer.json"
    for post_processor, basis in (
        ({"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}, "proof"),
        ({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}],
          "pair": [{"Sequence": {"id": id, "type_id": 0}} for id in "BA"], "special_tokens": {}}, "search"),
    ):  # fmt: skip
        file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "post_processor": post_processor}))
        found = trained.diff(BPETokenizer.from_pretrained(tmp_path))
        assert ("post-processor" in [part.part for part in found.parts], found.basis) == (True, basis)
