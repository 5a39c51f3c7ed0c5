"""What is odd about tokenizers, each oddity made on purpose; tokenizers with nothing odd have no finding."""

import json

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.analysis.audit import audit
from bpelab.analysis.tokens import unseen
from bpelab.editing import prune
from bpelab.model_inputs import Truncation
from bpelab.notebook import book_text
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import encoding

BYTES = {bytes([byte]): byte for byte in range(256)}


def trained(**options):
    return BPETokenizer.train(book_text()[:20_000], 400, **{"special_tokens": ["<|end|>"], **options})


def from_json(tmp_path, model, **sections):
    data = {"added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None}
    data |= {"model": {"type": "BPE", "merges": [], **model}, **sections}
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    return BPETokenizer.from_pretrained(tmp_path)


def findings(tokenizer):
    found = list(audit(tokenizer))
    assert all(isinstance(line, str) and "\n" not in line for line in found)
    return found


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "llama3", None])
def test_nothing_odd(pattern):
    assert findings(trained(pattern=pattern)) == []


@pytest.mark.slow
def test_an_encoding_of_openai():
    encoding("cl100k_base")
    assert findings(BPETokenizer.from_tiktoken("cl100k_base")) == [
        "16 ids below the highest have no token, the first of them 100256"
    ]


def test_tokens_that_nothing_makes():
    ranks = BYTES | {b"abc": 256, b"xyz\n": 257}
    whole, merged = (BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=way)) for way in (True, False))
    assert findings(whole) == [
        r"2 tokens can't be reached by merging, only as a whole piece: 'abc' 256, 'xyz\\u000a' 257"
    ]
    assert findings(merged) == [r"2 tokens can't be reached by any text: 'abc' 256, 'xyz\\u000a' 257"]
    many = BYTES | {b"q" + bytes([n]) * 3: 256 + n for n in range(100, 110)}
    assert findings(BPETokenizer(BPEModel.from_ranks({t: n for n, t in enumerate(many)})))[0].endswith("and 6 more")


def test_merges(tmp_path):
    again = {"vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5}}
    again["merges"] = [["a", "b"], ["b", "c"], ["a", "b"], ["ab", "c"], ["a", "bc"]]
    found = findings(from_json(tmp_path, again))
    assert "1 merge in its list is repeated; the last one counts" in found
    assert "1 more merge than tokens they make: some tokens are made in several ways" in found


def test_what_is_missing(tmp_path):
    plain = {"vocab": {"a": 0, "b": 1}}
    assert findings(from_json(tmp_path, plain)) == ["it starts from 2 characters; others become nothing: they are lost"]
    unknown = {"vocab": {"a": 0, "<unk>": 1}, "unk_token": "<unk>"}
    assert any("others become the unknown token" in line for line in findings(from_json(tmp_path, unknown)))
    spelled = {"vocab": {"a": 0} | {f"<0x{n:02X}>": 1 + n for n in range(254)}, "byte_fallback": True}
    assert findings(from_json(tmp_path, spelled)) == [
        "2 bytes have no token (0xfe, 0xff) and become nothing: they are lost"
    ]
    spelled["vocab"]["<0xFE>"] = 255
    assert findings(from_json(tmp_path, spelled)) == ["1 byte has no token (0xff) and becomes nothing: it is lost"]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    few = from_json(tmp_path, plain, pre_tokenizer=byte_level)
    assert any(line.startswith("254 bytes have no token (0x00, 0x01, 0x02, 0x03)") for line in findings(few))


def test_ids():
    assert findings(trained(special_tokens={"<|end|>": 500})) == [
        "101 ids below the highest have no token, the first of them 399"
    ]
    tokens = [AddedToken("<a>", 400), AddedToken("<b>", 400)]
    ours = trained(special_tokens=[]).with_options(special_tokens=SpecialTokens(tokens, aliases=True))
    assert findings(ours) == ["two added tokens have one id"]


@pytest.mark.parametrize(
    ("names", "right", "family"),
    [
        (["<|begin_of_text|>", "<|eot_id|>"], "llama3", "Llama 3"),
        (["<|im_start|>", "<|object_ref_start|>"], "qwen2", "Qwen 2"),
        (["<|endofprompt|>", "<|fim_prefix|>"], "cl100k", "cl100k_base"),
    ],
)
def test_a_pattern_of_another_family(names, right, family):
    assert findings(trained(special_tokens=names, pattern=right)) == []
    (line,) = findings(trained(special_tokens=names, pattern="gpt2"))
    assert line == f"its special tokens are those of {family}, whose pattern is {right}, but it splits differently"


def test_what_a_file_asks_for():
    found = findings(trained(normalizer="NFC", truncation=Truncation(9), dropout=0.1))
    assert found == [
        "text is normalized first, so decoding returns the normalized text",
        "its file asks for dropout 0.1, which would make ids random; it is not applied",
        "its file asks for truncation to 9 tokens; encode() doesn't truncate",
    ]


def test_what_a_corpus_leaves_unused():
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    (found,) = audit(tokenizer, iter(["low lowest"]))
    lost, free = (
        len(unseen(tokenizer, "low lowest")),
        len(prune(tokenizer, corpus="low lowest", min_frequency=1).removed),
    )
    assert found == f"{lost} tokens unused by the corpus; no other token needs {free} of them" and lost > free > 0
