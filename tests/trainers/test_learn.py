"""Training from a corpus: its forms, its sizes, special tokens, and what is refused."""

import gzip
import json
import random
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from bpelab import BPETokenizer, CorpusError, SpecialTokenError, TrainingError
from bpelab.boundaries.named_patterns import last_boundary, split_at_boundaries
from bpelab.notebook import book_text
from bpelab.postprocessors import TemplateProcessing
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.trainers import train_naive
from bpelab.trainers.counting import corpus
from bpelab.trainers.counting.corpus import count_pre_tokens
from bpelab.trainers.train import TrainingStopped
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, fuzz_text, needs_extension
from ..shards.corpora import write

TEXT = book_text()[:30_000]


def merges(tokenizer):
    return dict(tokenizer.model.merges)


def test_every_form_of_a_corpus(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(TEXT.encode())
    expected = merges(BPETokenizer.train(TEXT, 400))
    assert merges(BPETokenizer.train(file, 400)) == expected
    assert merges(BPETokenizer.train([TEXT], 400)) == expected
    assert merges(BPETokenizer.train([file], 400)) == expected
    assert merges(BPETokenizer.train((part for part in [TEXT]), 400)) == expected


@pytest.mark.parametrize("trainer", ["incremental", "native"])
def test_files_of_records(trainer, tmp_path):
    """What a file holds is told by its name, or by the caller; each record is a document."""
    if trainer == "native":
        needs_extension()
    documents = [TEXT[start : start + 700] for start in range(0, len(TEXT), 700)]
    train = partial(BPETokenizer.train, vocab_size=400, trainer=trainer, pattern=r"\s*\S+\s*")
    expected = merges(train(documents))
    assert merges(train("".join(documents))) != expected  # it is seen where documents end
    names = ["a.jsonl", "a.jsonl.gz"] + ["a.parquet"] * (find_spec("pyarrow") is not None)
    files = [write(tmp_path / name, documents) for name in names]
    for file in files:
        assert merges(train(file)) == expected, file
    assert merges(train([files[1]], min_frequency=4)) == merges(train(documents, min_frequency=4))
    assert merges(train(files[:2], min_frequency=4)) == merges(train(documents * 2, min_frequency=4))
    plain = "".join(documents)
    (tmp_path / "a.md.gz").write_bytes(gzip.compress(plain.encode()))
    assert merges(train(tmp_path / "a.md.gz", input_format="text")) == merges(train(plain))
    lines = [json.dumps({"body": text, "text": 5}) for text in documents]
    (tmp_path / "lines").write_text("\n".join(lines), encoding="utf-8")
    assert merges(train(tmp_path / "lines", input_format="jsonl", field="body")) == expected
    with pytest.raises(CorpusError, match=r"lines: line 1: field 'text': expected a string, found 5"):
        train(tmp_path / "lines", input_format="jsonl")
    assert merges(train(tmp_path / "lines")) == merges(train("\n".join(lines)))
    assert merges(train(files[0], input_format="text")) == merges(train(files[0].read_text(encoding="utf-8")))
    with pytest.raises(CorpusError, match=r"none\.jsonl: can't be read: No such file"):
        train(tmp_path / "none.jsonl")


@pytest.mark.parametrize("bad", [b"bytes", 7, None, [b"bytes"], ["text", Path("file")], [Path("file"), "text"], [1]])
def test_what_is_no_corpus(bad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("text")
    with pytest.raises(TypeError, match="corpus"):
        BPETokenizer.train(bad, 300)


def test_documents_are_apart():
    assert count_pre_tokens(["ab", "ab"], Split("gpt2"), SpecialTokens({})) == {b"ab": 2}
    assert count_pre_tokens("abab", Split("gpt2"), SpecialTokens({})) == {b"abab": 1}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_blocks_of_any_size_count_the_same(pattern, tmp_path, monkeypatch):
    rng = random.Random(7)
    special = SpecialTokens({"<|end|>": 1, " a": 2})
    for number in range(amount(25, 400)):
        text = "".join(rng.choice([fuzz_text(rng), "a b'c 12<|end|> \n\n d é"]) for _ in range(8))
        text = text.encode("utf-8", "replace").decode()
        file = tmp_path / f"{number}.txt"
        file.write_bytes(text.encode())
        monkeypatch.setattr(corpus, "BLOCK", 1 << 20)
        whole = count_pre_tokens(text, Split(pattern), special)
        for block in (1, 2, 3, 7, 64):
            monkeypatch.setattr(corpus, "BLOCK", block)
            for form in (file, text):
                assert count_pre_tokens(form, Split(pattern), special) == whole, (text, block)


@pytest.mark.parametrize("pattern", [name for name, named in PATTERNS.items() if named.cuts_words])
def test_a_safe_cut_changes_no_piece(pattern):
    rng, split = random.Random(8), Split(pattern)
    for _ in range(amount(400, 20_000)):
        text = fuzz_text(rng)
        assert "".join(split_at_boundaries(text)) == text
        assert [piece for part in split_at_boundaries(text) for piece in split.split(part)] == split.split(text), text
        assert (
            last_boundary(text, len(text)) == len(text) - len(split_at_boundaries(text)[-1])
            or len(split_at_boundaries(text)) == 1
        )


def test_sizes():
    assert len(BPETokenizer.train("abab", 257)) == 257
    assert len(BPETokenizer.train("abab", 256)) == 256
    two = BPETokenizer.train("abab" * 9, 259, special_tokens=["<a>", "<b>"])
    assert two.special_tokens == {"<a>": 257, "<b>": 258}
    assert len(BPETokenizer.train("abab", 258, special_tokens=["<a>", "<b>"])) == 258
    with pytest.raises(TrainingError, match=r"vocab_size=257 .* 258 tokens"):
        BPETokenizer.train("abab", 257, special_tokens=["<a>", "<b>"])
    for size in (0, -1, 255):
        with pytest.raises(ValueError, match="vocab_size"):
            BPETokenizer.train("abab", size)
    for size in (300.0, "300", True):
        with pytest.raises(TypeError, match="vocab_size"):
            BPETokenizer.train("abab", size)
    with pytest.raises(ValueError, match="min_frequency"):
        BPETokenizer.train("abab", 300, min_frequency=0)


def test_stopping_early_is_said():
    with pytest.warns(TrainingStopped, match=r"stopped at 257 tokens instead of 300: .* at least 2 times"):
        tokenizer = BPETokenizer.train("ab ab", 300, special_tokens=[], pattern="gpt2")
    assert len(tokenizer) == 257
    with pytest.warns(TrainingStopped):
        named = BPETokenizer.train("ab ab", 300, special_tokens=["<x>"], pattern="gpt2")
    assert named.special_tokens == {"<x>": 257}  # ids follow what was learned, not what was asked for


@pytest.mark.parametrize("least", [1, 2, 3, 10])
def test_rare_pre_tokens_are_left_out_by_every_trainer(least):
    split, special = Split("gpt2"), SpecialTokens({"<|end|>": 0})
    corpus = ["ab ab ab xyxyxy xyxyxy<|end|>", TEXT, "ab"]
    counted = count_pre_tokens(corpus, split, special)
    words = {word: count for word, count in counted.items() if count >= least}
    expected = [step.token for step in train_naive(words, 40)]
    for trainer in ("naive", "incremental", "native", "auto"):
        if trainer == "native":
            needs_extension()
        options = {"pattern": "gpt2", "special_tokens": ["<|end|>"], "trainer": trainer}
        found = BPETokenizer.train(corpus, 297, min_pre_token_frequency=least, **options)
        assert [found.model.tokens[256 + number] for number in range(40)] == expected, trainer
    assert (least > 1) == (words != counted)


@pytest.mark.parametrize("trainer", ["incremental", "native"])
def test_where_every_pre_token_is_rare(trainer):
    if trainer == "native":
        needs_extension()
    message = (
        "no pre-token of the corpus occurs min_pre_token_frequency={} times: there is nothing to learn merges from"
    )
    for number in (2, 3):
        with pytest.raises(TrainingError, match=f"^{message.format(number)}$"):
            BPETokenizer.train("a b", 300, pattern="gpt2", min_pre_token_frequency=number, trainer=trainer)
    for number, error in ((0, TrainingError), (2.0, TypeError), (True, TypeError)):
        with pytest.raises(error, match="min_pre_token_frequency must be"):
            BPETokenizer.train("a a b", 300, min_pre_token_frequency=number)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"eos_tokn": "x"}, TypeError, "eos_tokn"),
        ({"eos_token": "<nope>"}, SpecialTokenError, "eos_token='<nope>' is not one of the special tokens"),
        ({"pad_token": "<nope>"}, SpecialTokenError, "pad_token='<nope>'"),
        ({"special_tokens": ["a"]}, SpecialTokenError, "is an ordinary token already"),
        ({"encoder": "fast"}, ValueError, "there is no encoder"),
        ({"post_processor": TemplateProcessing("<s> $A")}, SpecialTokenError, "<s>"),
    ],
)
def test_wrong_options_are_found_before_the_corpus_is_read(options, error, message):
    read = []
    corpus = (read.append(text) or text for text in [TEXT])
    with pytest.raises(error, match=message):
        BPETokenizer.train(corpus, 300, **options)
    assert not read


@pytest.mark.parametrize("empty", ["", [], ["", ""], iter([])])
def test_an_empty_corpus(empty):
    with pytest.raises(TrainingError, match="empty"):
        BPETokenizer.train(empty, 300)


def test_a_corpus_of_special_tokens_alone_is_empty():
    with pytest.raises(TrainingError, match="empty"):
        BPETokenizer.train("<|end|><|end|>", 300, special_tokens=["<|end|>"])


def test_special_tokens_are_split_out():
    tokenizer = BPETokenizer.train("<|end|>" * 50 + "abab" * 3, 259, special_tokens=["<|end|>"])
    assert all(b"end" not in token for token in tokenizer.model.tokens.values())
    assert b"a<" not in tokenizer.model.ids


def test_reserved_ids():
    special = {"<zero>": 0, "<mid>": 258, "<far>": 5000}
    tokenizer = BPETokenizer.train(TEXT, 300, special_tokens=special)
    assert tokenizer.special_tokens == special
    assert len(tokenizer) == 300
    assert set(tokenizer.model.tokens) == set(range(1, 300 - 1)) - {258}
    plain = BPETokenizer.train(TEXT, 300, special_tokens=["<zero>", "<mid>", "<far>"])
    assert [tokenizer.model.tokens[i] for i in sorted(tokenizer.model.tokens)] == [
        plain.model.tokens[i] for i in sorted(plain.model.tokens)
    ]
    text = TEXT[:5_000]
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize(
    "special", ["<one>", ["<a>", "<a>"], [""], {"<a>": -1}, {"<a>": 300, "<b>": 300}, {"<a>": True}, {"<a>": "1"}]
)
def test_bad_special_tokens(special):
    with pytest.raises(SpecialTokenError):
        BPETokenizer.train(TEXT, 400, special_tokens=special)


def test_files_that_are_wrong(tmp_path):
    with pytest.raises(TrainingError, match=r"nothing\.txt can't be read"):
        BPETokenizer.train(tmp_path / "nothing.txt", 300)
    file = tmp_path / "latin.txt"
    file.write_bytes(b"plain " * 20 + b"caf\xe9 ")
    with pytest.raises(TrainingError, match=r"latin\.txt is not UTF-8.* byte 123"):
        BPETokenizer.train(file, 300)
    file.write_bytes(b"cut off \xe2\x82")
    with pytest.raises(TrainingError, match="not UTF-8"):
        BPETokenizer.train(file, 300)


def test_a_normalizer_is_used_in_training():
    tokenizer = BPETokenizer.train("e\u0301" * 40, 258, normalizer="NFC", pattern=None)
    assert tokenizer.tokenize("é") == ["é".encode()]


def test_progress_is_shown_when_asked(capsys):
    BPETokenizer.train(TEXT, 300, progress=True)
    assert "merging" in capsys.readouterr().err
    BPETokenizer.train(TEXT, 300, progress=False)
    assert capsys.readouterr().err == ""


def test_texts_are_cut_as_learned():
    with pytest.raises(ValueError, match="train splits by `pattern`"):
        BPETokenizer.train("ab ab", 257, pre_tokenizer=Split("gpt2"))
