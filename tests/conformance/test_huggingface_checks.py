"""What the tests of Hugging Face's tokenizers check of BPE, on bpelab and on tokenizers side by side.

Its own fixtures are downloads, so a tokenizer with the structure of Roberta's (byte-level, a space in front, `<s>` and
`</s>` around) is trained here. Where both have the thing, results have to be equal.

Deliberate differences:
- a tokenizer doesn't change: `with_special_tokens` returns another; there is no `add_tokens`, no `enable_padding`;
- `decode` keeps special tokens unless `skip_special_tokens=True`, as in transformers;
- special tokens in a text are text unless `allowed_special` names them;
- texts are not taken cut into words (`is_pretokenized`);
- tokens are bytes, which `to_alphabet` writes as Hugging Face does;
- `vocab_size` counts the tokens of the model; Hugging Face's counts special tokens too where a file lists them twice;
- WordPiece, Unigram and WordLevel models, and Bert's tokenizer, which is WordPiece, are refused by name.
"""

import copy
import pickle

import pytest

from bpelab import BPETokenizer, StreamDecoder, TokenizerFileError
from bpelab.notebook import book_text
from bpelab.unicode.byte_alphabet import to_alphabet

tokenizers = pytest.importorskip("tokenizers")
TEXTS = ["My name is John", "Hello there, how are you today?", " Hello there", "naïve café", "日本語",
         "\U0001f44b\U0001f3fd", "line one\nline two", "   ", "", "a\u0301b  c",
         "The quick brown fox jumps over the lazy dog"]  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    theirs = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>"]
    theirs.train_from_iterator([book_text()[:60_000]], vocab_size=900, show_progress=False, special_tokens=special)
    around = [("</s>", theirs.token_to_id("</s>")), ("<s>", theirs.token_to_id("<s>"))]
    theirs.post_processor = tokenizers.processors.RobertaProcessing(*around)
    folder = tmp_path_factory.mktemp("roberta")
    theirs.save(str(folder / "tokenizer.json"))
    ours = BPETokenizer.from_pretrained(folder).with_options(pad_token="<pad>", bos_token="<s>", eos_token="</s>")
    return ours, tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("text", TEXTS)
def test_one_text(text, both):
    ours, theirs = both
    found = theirs.encode(text)
    row = ours(text, return_offsets=True, return_special_tokens_mask=True, return_token_type_ids=True)
    assert row["input_ids"] == ours.encode(text) == found.ids
    assert row["offset_mapping"] == found.offsets
    assert row["special_tokens_mask"] == found.special_tokens_mask
    assert row["token_type_ids"] == found.type_ids
    assert row["attention_mask"] == found.attention_mask
    tokens = ours.convert_ids_to_tokens(found.ids)
    assert [to_alphabet(token) if n not in (0, 1, 2) else token.decode() for n, token in zip(found.ids, tokens)] == (
        found.tokens
    )
    plain = theirs.encode(text, add_special_tokens=False).ids
    assert ours.encode(text, add_special_tokens=False) == plain


@pytest.mark.parametrize("text", TEXTS)
def test_and_back(text, both):
    ours, theirs = both
    ids = ours.encode(text)
    assert ours.decode(ids, skip_special_tokens=True) == theirs.decode(ids)
    assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
    assert ours.decode_batch([ids, ids[:2]], skip_special_tokens=True) == theirs.decode_batch([ids, ids[:2]])


@pytest.mark.parametrize("text", TEXTS)
def test_as_a_stream(text, both):
    ours, theirs = both
    ids = theirs.encode(text, add_special_tokens=False).ids
    stream = tokenizers.decoders.DecodeStream(skip_special_tokens=False)
    steps = [stream.step(theirs, token_id) or "" for token_id in ids]
    mine = StreamDecoder(ours)
    assert "".join([*map(mine.push, ids), mine.finish()]) == "".join(steps) == theirs.decode(ids)


def test_pairs(both):
    ours, theirs = both
    for first, second in zip(TEXTS, TEXTS[1:]):
        row = ours(first, second, return_offsets=True, return_special_tokens_mask=True)
        found = theirs.encode(first, second)
        assert row["input_ids"] == found.ids
        assert row["offset_mapping"] == found.offsets
        assert row["special_tokens_mask"] == found.special_tokens_mask


@pytest.mark.parametrize("side", ["right", "left"])
def test_truncation(side, both):
    ours, theirs = both
    theirs.enable_truncation(8, stride=1, direction=side)
    try:
        text = book_text()[:300]
        found = theirs.encode(text)
        cut = {"truncation": True, "max_length": 8, "truncation_side": side, "stride": 1}
        rows = ours([text], **cut, return_overflowing_tokens=True)["input_ids"]
        assert rows == [found.ids, *(rest.ids for rest in found.overflowing)]
        pair = ours(text, "The quick brown fox", truncation=True, max_length=8, truncation_side=side)["input_ids"]
        assert pair == theirs.encode(text, "The quick brown fox").ids
    finally:
        theirs.no_truncation()
    with pytest.raises(ValueError, match="left"):
        ours("text", truncation=True, max_length=3, truncation_side="up")


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding(side, both):
    ours, theirs = both
    options = {"direction": side, "pad_id": ours.pad_token_id, "pad_token": "<pad>"}
    try:
        for theirs_alone, mine in (
            ({}, {"padding": True}),
            ({"pad_to_multiple_of": 8}, {"padding": True, "pad_to_multiple_of": 8}),
            ({"length": 40}, {"padding": "max_length", "max_length": 40}),
        ):
            theirs.enable_padding(**options, **theirs_alone)
            batch, found = ours(TEXTS, **mine, padding_side=side), theirs.encode_batch(TEXTS)
            assert batch["input_ids"] == [row.ids for row in found]
            assert batch["attention_mask"] == [row.attention_mask for row in found]
    finally:
        theirs.no_padding()


def test_vocabulary(both):
    ours, theirs = both
    assert len(ours) == theirs.get_vocab_size()
    assert ours.vocab_size == theirs.get_vocab_size() - 3
    assert {name: ours.token_to_id(name) for name in ("<s>", "<pad>", "</s>")} == {"<s>": 0, "<pad>": 1, "</s>": 2}
    assert ours.token_to_id("<none>") is None is theirs.token_to_id("<none>")
    again = pickle.loads(pickle.dumps(ours))
    assert again == ours == copy.deepcopy(ours)
    assert again.encode(TEXTS[0]) == theirs.encode(TEXTS[0]).ids


def test_added_tokens(both):
    ours, theirs = both
    more = ours.with_special_tokens(["<|new|>"])
    theirs = tokenizers.Tokenizer.from_str(theirs.to_str())
    assert theirs.add_special_tokens(["<|new|>"]) == 1
    assert more.token_to_id("<|new|>") == theirs.token_to_id("<|new|>") == 900
    text = "My<|new|> name"
    assert more.encode(text, allowed_special="all") == theirs.encode(text).ids
    assert more.encode(text) != theirs.encode(text).ids  # text, unless it is allowed


def test_training_on_three_sentences():
    """Merges until nothing is left to merge make each word a token; a lone word then has no more than two."""
    texts = ["A first sentence", "Another sentence", "And a last one"]
    with pytest.warns(UserWarning, match="training stopped"):
        ours = BPETokenizer.train(texts, 30_000, pattern="gpt2")
    theirs = tokenizers.ByteLevelBPETokenizer()
    theirs.train_from_iterator(texts, show_progress=False)
    assert ours.tokenize("A sentence") == [b"A", b" sentence"]
    assert [to_alphabet(token) for token in ours.tokenize("A sentence")] == theirs.encode("A sentence").tokens


@pytest.mark.parametrize("model", ["WordPiece", "Unigram", "WordLevel"])
def test_models_that_are_not_bpe(model, tmp_path):
    built = getattr(tokenizers.models, model)()
    tokenizers.Tokenizer(built).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(TokenizerFileError, match=f"only BPE is supported, not '{model}'"):
        BPETokenizer.from_pretrained(tmp_path)
