"""What a tokenizer is, in facts that JSON can hold."""

import json

from bpelab import BPEModel, BPETokenizer, TemplateProcessing
from bpelab.analysis.describe import SAMPLE, describe
from bpelab.formats.tokenizer_json_save import tokenizer_json
from bpelab.notebook import book_text
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens


def trained(**options):
    return BPETokenizer.train(book_text()[:20_000], 400, **{"special_tokens": ["<|end|>"], **options})


def facts(tokenizer, *words):
    found = describe(tokenizer, *words)
    assert json.loads(json.dumps(found)) == found
    return found


def test_a_trained_one():
    found = facts(trained())
    assert (found["tokens"], found["n_vocab"], found["merges"], found["unreachable_by_merges"]) == (400, 400, 143, 0)
    assert (found["initial_symbols"], found["pattern"]) == ("bytes", "cl100k")
    assert found["special_tokens"] == {"<|end|>": 399} and found["other_added_tokens"] == 0
    assert (found["normalizer"], found["pre_tokenizer"], found["post_processor"]) == (None, None, None)
    assert (found["chat_template"], found["whole_pieces_first"], found["oddities"]) == (False, False, [])
    assert found["sample_text"] == SAMPLE and found["sample_ids"] == trained().encode(SAMPLE)
    assert len(found["sample"]) == len(found["sample_ids"])


def test_every_part():
    ours = trained(
        normalizer="NFC", metadata={"chat_template": "x"}, post_processor=TemplateProcessing(("$A", "<|end|>"))
    )
    ours = ours.with_options(special_tokens=SpecialTokens([*ours.added_tokens, AddedToken("  ", 400, special=False)]))
    found = facts(ours, "low  low")
    assert "NFC" in found["normalizer"] and "<|end|>" in found["post_processor"]
    assert (found["chat_template"], found["other_added_tokens"]) == (True, 1)
    assert 400 in found["sample_ids"] and 399 not in found["sample_ids"]
    assert found["oddities"] == ["text is normalized first, so decoding returns the normalized text"]


def test_ranks_and_a_sample_of_bytes():
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 256}
    found = facts(BPETokenizer(BPEModel.from_ranks(ranks), pattern=None), "é\n")
    assert (found["pattern"], found["whole_pieces_first"], found["unreachable_by_merges"]) == (None, True, 1)
    assert found["sample"] == ["\ufffd", "\ufffd", "\\u000a"]
    assert found["longest_token_bytes"] == 3


def test_characters(tmp_path):
    data = tokenizer_json(trained().spec)
    data["model"] = {"type": "BPE", "vocab": {"l": 0, "o": 1, "w": 2, "lo": 3}, "merges": [["l", "o"]]}
    data |= {"added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "decoder": None}
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    found = facts(BPETokenizer.from_pretrained(tmp_path), "low owl")
    assert (found["initial_symbols"], found["merges"], found["pattern"]) == ("3 characters", 1, None)
    assert found["pre_tokenizer"].startswith("Whitespace")
    assert found["sample"] == ["lo", "w", "o", "w", "l"]
