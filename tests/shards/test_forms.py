"""Every form of input: the ids of each document are those of `encode`."""

import random

import numpy as np
import pytest

from bpelab import BPEModel, BPETokenizer, Split, TemplateProcessing
from bpelab._support.textio import valid_text
from bpelab.normalizers import NFC, NormalizerSequence, Prepend, Replace
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.regex.matchers import Pattern
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, fuzz_text
from .corpora import RECORDS, SEPARATOR, TEXTS, write


def check(shards, tokenizer, documents, end=None, **options):
    """The shards hold these documents and nothing else, in files of the size that was asked for."""
    behind = [] if end is None else [tokenizer.special_tokens[end]]
    expected = [tokenizer.encode(text, add_special_tokens=False, **options) + behind for text in documents]
    assert shards.documents == len(expected)
    assert [shards.document(number).tolist() for number in range(len(expected))] == expected
    whole = [token_id for ids in expected for token_id in ids]
    assert [token_id for shard in shards for token_id in shard.tolist()] == whole
    assert len(shards) == len(whole)
    size = shards.index.settings.shard_tokens
    assert [len(shard) for shard in shards][:-1] == [size] * (len(shards.index.shards) - 1)
    assert sum(item.documents for item in shards.index.inputs) == len(expected)


@pytest.mark.parametrize("name", TEXTS + RECORDS)
@pytest.mark.parametrize("size", [1 << 20, 100])
def test_every_form(tmp_path, tokenizer, texts, tiny, name, size):
    tiny(size)
    path = write(tmp_path / name, texts)
    shards = tokenizer.encode_files(
        path, tmp_path / "out", separator=SEPARATOR, end_of_document=True, shard_tokens=1_000, progress=False
    )
    check(shards, tokenizer, texts, "<|endoftext|>")
    shards.verify(tokenizer)


@pytest.mark.parametrize("name", RECORDS)
def test_records_keep_empty_documents_and_lone_surrogates(tmp_path, tokenizer, name):
    documents = ["", "a", "", "b" if name.endswith("parquet") else "b\ud800", ""]
    path = write(tmp_path / name, documents, "content")
    for size in (1, 2, 100):
        shards = tokenizer.encode_files(path, tmp_path / f"out{size}", field="content", shard_tokens=size)
        check(shards, tokenizer, documents)


@pytest.mark.parametrize("kind", ["large_string", "dictionary"])
def test_columns_of_other_types(tmp_path, tokenizer, texts, kind):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    column = pyarrow.array(texts).cast(pyarrow.large_string())
    table = pyarrow.table(
        {"n": [{"x": 1}] * len(texts), "text": column if kind != "dictionary" else column.dictionary_encode()}
    )
    parquet.write_table(table, tmp_path / "a.parquet", use_dictionary=True)
    check(tokenizer.encode_files(tmp_path / "a.parquet", tmp_path / "out"), tokenizer, texts)


def test_texts_are_split_as_str_split_does(tmp_path, tokenizer, tiny):
    rng = random.Random(7)
    for number in range(amount(40, 2_000)):
        separator = rng.choice(["\n\n", "aa", "aba", SEPARATOR, "\r\n", "é", "日本"])
        parts = [rng.choice([separator, separator[:-1], separator[-1:], "a", "b", fuzz_text(rng)]) for _ in range(9)]
        text = valid_text("".join(parts))
        (tmp_path / "a.txt").write_bytes(text.encode())
        tiny(rng.choice([2, 3, 5, 20, 1 << 20]))
        shards = tokenizer.encode_files(
            tmp_path / "a.txt", tmp_path / f"out{number}", separator=separator, shard_tokens=9
        )
        check(shards, tokenizer, [document for document in text.split(separator) if document])


def _flagged():
    tokens = [AddedToken("<|endoftext|>", 700, lstrip=True), AddedToken("<|other|>", 701, single_word=True)]
    return SpecialTokens([*tokens, AddedToken("two words", 702, special=False)])


WAYS = {
    "named pattern": {},
    "own pattern": {"pre_tokenizer": Split(r"\p{L}+|\s+(?!\S)|[^\p{L}]")},
    "no pattern": {"pattern": None},
    "normal form": {"normalizer": NFC()},
    "spaces": {"normalizer": NormalizerSequence((Prepend("_"), Replace(Pattern("String", " "), "_")))},
    "metaspace": {"pre_tokenizer": Metaspace()},
    "flags": {"special_tokens": _flagged(), "eos_token": None},
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("allowed", ["all", ()])
def test_documents_longer_than_a_fragment(tmp_path, tokenizer, texts, tiny, way, allowed):
    """A whole file is one document: what is cut anew at any place gives the ids of the whole."""
    changed = tokenizer.with_options(**WAYS[way])
    documents = ["".join(texts) + "two words" + SEPARATOR + " and", SEPARATOR * 50 + "".join(texts[::-1]), "a" * 3_000]
    paths = [tmp_path / f"{number}.txt" for number in range(len(documents))]
    for path, document in zip(paths, documents):
        path.write_bytes(document.encode())
    for size in (300, 20, 1_000)[: amount(1, 3)]:
        tiny(size)
        shards = changed.encode_files(paths, tmp_path / f"out{size}", allowed_special=allowed, shard_tokens=500)
        check(shards, changed, documents, allowed_special=allowed)
        shards.verify(changed)


def test_fuzzed_cuts(tmp_path, tokenizer, tiny):
    rng = random.Random(11)
    for number in range(amount(15, 1_000)):
        changed = tokenizer.with_options(**rng.choice(list(WAYS.values())))
        text = valid_text("".join(fuzz_text(rng) for _ in range(rng.randint(1, 60))))
        (tmp_path / "a.txt").write_bytes(text.encode())
        tiny(rng.choice([2, 10, 64, 300]))
        allowed = rng.choice(["all", ()])
        size = rng.choice([max(1, len(text) // 9), 100_000])
        shards = changed.encode_files(
            tmp_path / "a.txt", tmp_path / f"o{number}", allowed_special=allowed, shard_tokens=size
        )
        check(shards, changed, [text] if text else [], allowed_special=allowed)


def test_special_tokens_are_text_unless_allowed(tmp_path, tokenizer):
    write(tmp_path / "a.jsonl", ["a<|other|>b", "<|endoftext|>"])
    plain = tokenizer.encode_files(tmp_path / "a.jsonl", tmp_path / "plain")
    assert max(max(shard) for shard in plain) < tokenizer.special_tokens["<|endoftext|>"]
    allowed = tokenizer.encode_files(tmp_path / "a.jsonl", tmp_path / "allowed", allowed_special={"<|other|>"})
    assert tokenizer.special_tokens["<|other|>"] in allowed.document(0)
    assert tokenizer.special_tokens["<|endoftext|>"] not in allowed.document(1)


def test_the_post_processor_adds_nothing(tmp_path, tokenizer):
    changed = tokenizer.with_options(post_processor=TemplateProcessing(("<|other|>", "$A")))
    write(tmp_path / "a.txt", ["ab"])
    shards = changed.encode_files(tmp_path / "a.txt", tmp_path / "out")
    assert shards.document(0).tolist() == tokenizer.encode("ab") == changed.encode("ab")[1:]


def test_dtype_and_shard_format(tmp_path, tokenizer, texts):
    path = write(tmp_path / "a.jsonl", texts)
    wide = tokenizer.with_special_tokens({"<|far|>": 65_535})
    wider = tokenizer.with_special_tokens({"<|far|>": 65_536})
    for number, (made, dtype, chosen) in enumerate(
        [(tokenizer, "auto", "<u2"), (wide, "auto", "<u2"), (wider, "auto", "<u4"), (tokenizer, "uint32", "<u4")]
    ):
        for form in ("npy", "bin"):
            folder = tmp_path / f"{form}{number}"
            shards = made.encode_files(path, folder, dtype=dtype, shard_format=form, shard_tokens=999)
            check(shards, made, texts)
            assert shards.dtype == np.dtype(chosen)
            first = folder / f"shard-00000.{form}"
            raw = np.load(first) if form == "npy" else np.fromfile(first, chosen)
            assert raw.dtype == np.dtype(chosen)
            assert raw.tolist() == shards.tokens(0, 999).tolist()
    with pytest.raises(ValueError, match="holds ids up to 65,535, and this tokenizer's go up to 65,536"):
        wider.encode_files(path, tmp_path / "no", dtype="uint16")
    with pytest.raises(ValueError, match="in 32 bits at most, and this tokenizer's go up to 4,294,967,296"):
        far = BPEModel.from_ranks({**{bytes([byte]): byte for byte in range(256)}, b"ab": 1 << 32})
        BPETokenizer(far).encode_files(path, tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_folders_globs_and_forms(tmp_path, tokenizer, texts):
    corpus = tmp_path / "corpus"
    (corpus / "deep").mkdir(parents=True)
    write(corpus / "b.jsonl", texts[:3])
    write(corpus / "deep" / "a.TXT", texts[3:5])
    write(corpus / "deep" / "c.parquet", texts[5:9])
    (corpus / "notes.md").write_text("left out")
    (corpus / ".hidden.txt").write_text("left out")
    shards = tokenizer.encode_files(corpus, tmp_path / "out", separator=SEPARATOR)
    check(shards, tokenizer, texts[:9])
    assert [item.documents for item in shards.index.inputs] == [3, 2, 4]
    shards.verify(tokenizer, corpus)
    shards = tokenizer.encode_files([f"{corpus}/**/*.parquet", corpus / "b.jsonl"], tmp_path / "globbed")
    check(shards, tokenizer, texts[5:9] + texts[:3])
    shards = tokenizer.encode_files(corpus / "notes.md", tmp_path / "md", input_format="text")
    check(shards, tokenizer, ["left out"])


def test_a_corpus_without_documents(tmp_path, tokenizer):
    (tmp_path / "a.txt").write_bytes(b"")
    shards = tokenizer.encode_files(tmp_path / "a.txt", tmp_path / "out")
    assert (len(shards), shards.documents, list(shards)) == (0, 0, [])
    shards.verify(tokenizer)


def test_invalid_bytes_replaced(tmp_path, tokenizer, tiny):
    data = b"ok \xff\xe2\x82 end\xed\xa0\x80 x\xc3"
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "' + data + b'"}')
    for size in (2, 3, 100):
        tiny(size)
        for name in ("a.txt", "a.jsonl"):
            shards = tokenizer.encode_files(tmp_path / name, tmp_path / f"{name}{size}", errors="replace")
            check(shards, tokenizer, [data.decode("utf-8", "replace")])


def test_nothing_but_a_tokenizer_that_can_encode(tmp_path):
    """Ids above 16 bits, from a vocabulary with a hole."""
    wide = BPETokenizer.train("abab", 257).with_special_tokens({"<|end|>": 100_000})
    write(tmp_path / "a.jsonl", ["ab", ""])
    check(
        wide.encode_files(tmp_path / "a.jsonl", tmp_path / "o", end_of_document="<|end|>"), wide, ["ab", ""], "<|end|>"
    )
