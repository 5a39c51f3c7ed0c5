"""Folders that Hugging Face's libraries read: the same ids there, and errors that say what is wrong."""

import json
import random
import threading
from itertools import product
from pathlib import Path

import pytest

from bpelab import BPEModel, BPETokenizer, ConversionError, TemplateProcessing, TokenizerFileError
from bpelab._support.json_document import JSONFile
from bpelab.formats.tokenizer_json import _read_uniform, read_added_tokens
from bpelab.formats.tokenizer_json_save import tokenizer_json
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import amount, encoding, fuzz_text


def texts(number: int) -> list[str]:
    rng = random.Random(30)
    fuzz = [fuzz_text(rng).encode("utf-16", "surrogatepass").decode("utf-16", "replace") for _ in range(number)]
    return [*fuzz, book_text()[100_000:130_000], "", " ", "\n \n ", "a<|end|>b", "<|end|><|pad|>", " <|end|> "]


def trained(**options) -> BPETokenizer:
    return BPETokenizer.train(book_text()[:80_000], 900, **options)


@pytest.mark.parametrize("pattern", [*PATTERNS, None, r"[a-z]+|\d(?=x)", r"\p{Lu}?\p{Ll}+"])
def test_four_libraries_one_set_of_ids(pattern, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("tiktoken")
    ours = trained(pattern=pattern, special_tokens=["<|end|>", "<|pad|>"], eos_token="<|end|>", pad_token="<|pad|>")
    ours.save(tmp_path / "saved")
    again = BPETokenizer.from_pretrained(tmp_path / "saved")
    hugging = tokenizers.Tokenizer.from_file(str(tmp_path / "saved" / "tokenizer.json"))
    auto = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    tik = ours.to_tiktoken()
    assert (again.pattern, again.special_tokens, again.eos_token) == (ours.pattern, ours.special_tokens, "<|end|>")
    assert (auto.eos_token_id, auto.pad_token_id, len(auto)) == (ours.eos_token_id, ours.pad_token_id, len(ours))
    for text in texts(amount(150, 5_000)):
        ids = ours.encode(text, allowed_special="all")
        assert again.encode(text, allowed_special="all") == ids, text
        assert hugging.encode(text).ids == ids, text
        assert auto(text)["input_ids"] == ids, text
        assert tik.encode(text, allowed_special="all") == ids, text
        assert hugging.decode(ids, skip_special_tokens=False) == ours.decode(ids) == tik.decode(ids)
        assert auto.decode(ids, clean_up_tokenization_spaces=None) == ours.decode(ids)


@pytest.mark.parametrize(
    "special", [{"<|end|>": 0}, {"<|end|>": 300, "<|pad|>": 5_000}, {"<|a|>": 899, "<|b|>": 898}, {"<é>": 900}]
)
def test_ids_with_holes_are_kept(special, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    ours = trained(special_tokens=special)
    ours.save(tmp_path)
    hugging = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert {name: hugging.token_to_id(name) for name in special} == special
    assert BPETokenizer.from_pretrained(tmp_path).special_tokens == special
    text = "a" + "b".join(special) + book_text()[:3_000]
    assert hugging.encode(text).ids == ours.encode(text, allowed_special="all")


def rebuilt(change, tmp_path):
    """A changed tokenizer.json, in Hugging Face's library and here; both give the same ids."""
    tokenizers = pytest.importorskip("tokenizers")
    (tmp_path / "tokenizer.json").write_text(broken(change))
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ours = BPETokenizer.from_pretrained(tmp_path)
    ours.save(tmp_path / "again")
    again = BPETokenizer.from_pretrained(tmp_path / "again")
    for text in texts(amount(50, 2_000)):
        for tokenizer in (ours, again):
            assert tokenizer.encode(text, allowed_special="all") == theirs.encode(text).ids, text
    return theirs, ours


@pytest.mark.parametrize("added", [True, False])
def test_an_empty_token_as_in_whispers_files(added, tmp_path):
    """Rebuilt with the structure of openai/whisper-*: the token "" has an id and is the unknown one."""

    def change(data):
        data["added_tokens"][0]["id"] = 901
        data["model"]["vocab"] = {t: n for t, n in data["model"]["vocab"].items() if t != "<|end|>"} | {"": 899}
        data["model"]["vocab"]["<|end|>"] = 901
        data["model"]["unk_token"] = ""
        if added:
            data["added_tokens"].insert(0, {**data["added_tokens"][0], "id": 899, "content": ""})

    _, ours = rebuilt(change, tmp_path)
    assert ours.token_to_id("<|end|>") == 901


def test_a_vocabulary_of_added_tokens_alone(tmp_path):
    theirs, ours = rebuilt(
        lambda d: (d["model"].update(vocab={}, merges=[]), d["added_tokens"][0].update(id=0)), tmp_path
    )
    assert ours.encode("a<|end|>b", allowed_special="all") == theirs.encode("a<|end|>b").ids == [0]


def test_post_processor_and_normalizer(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    template = TemplateProcessing(("<s>", "$A", "</s>"))
    ours = trained(special_tokens=["<s>", "</s>"], normalizer="NFC", post_processor=template, bos_token="<s>")
    ours.save(tmp_path)
    hugging = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = BPETokenizer.from_pretrained(tmp_path)
    for text in ("cafe\u0301", "", "a b"):
        assert again.encode(text) == ours.encode(text) == hugging.encode(text).ids
        assert again.encode_ordinary(text) == hugging.encode(text, add_special_tokens=False).ids
    assert again.spec.post_processor == template
    assert again.spec.normalizer is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
def test_a_tiktoken_encoding_saved_for_hugging_face(name, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    ours = BPETokenizer.from_tiktoken(encoding(name))
    ours.save(tmp_path)
    hugging = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = BPETokenizer.from_pretrained(tmp_path)
    assert again.n_vocab == ours.n_vocab
    for text in texts(amount(150, 5_000)):
        assert (
            hugging.encode(text).ids
            == ours.encode(text, allowed_special="all")
            == again.encode(text, allowed_special="all")
        ), text


def test_saving_is_atomic(tmp_path, monkeypatch):
    trained().save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        trained(special_tokens=["<|other|>"]).save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_readers_never_see_half_a_file(tmp_path):
    one, two = trained(), trained(special_tokens=["<|end|>"])
    one.save(tmp_path)
    stop, problems = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            try:
                BPETokenizer.from_pretrained(tmp_path)
            except Exception as error:
                problems.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(10):
        two.save(tmp_path)
        one.save(tmp_path)
    stop.set()
    reader.join()
    assert not problems


def test_saving_where_a_file_stands(tmp_path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(ConversionError, match="is a file"):
        trained().save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.filterwarnings("ignore::bpelab.trainers.counting.corpus.PatternMatchesLittle")
@pytest.mark.parametrize("pattern", [r"a$", r"\d{1,3}+", r"a\Z", r"\w+|\W"])
def test_patterns_that_mean_something_else_there_are_translated(pattern, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    ours = trained(pattern=pattern)
    ours.save(tmp_path)
    again = BPETokenizer.from_pretrained(tmp_path)
    hugging = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in [*texts(amount(150, 5_000)), "a\na", "aa\n", "a\n\n", "12345", "x²a", "a\u200da"]:
        assert again.encode(text) == hugging.encode(text).ids == ours.encode(text), text


@pytest.mark.filterwarnings("ignore::bpelab.trainers.counting.corpus.PatternMatchesLittle")
def test_a_pattern_that_has_no_spelling_there(tmp_path):
    with pytest.raises(ConversionError, match="can match nothing, where Hugging Face's engine cuts"):
        trained(pattern=r"a*").save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_tokens_that_rank_before_their_parts():
    tokenizers = pytest.importorskip("tokenizers")
    backwards = {bytes([b]): b + 10 for b in range(256)} | {b"abc": 0, b"bc": 1, b"abcd": 2, b"cd": 3}
    ours = BPETokenizer(BPEModel.from_ranks(backwards, ignore_merges=False))
    hugging = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(ours.spec)))
    for text in map("".join, product("abcd", repeat=6)):
        assert hugging.encode(text).ids == ours.encode(text), text


def test_two_names_of_one_special_token():
    special = SpecialTokens({"<|end|>": 99_999, "<|stop|>": 99_999}, aliases=True)
    with pytest.raises(ConversionError, match="two special tokens with one id"):
        tokenizer_json(trained().with_options(special_tokens=special).spec)


def broken(change) -> str:
    data = json.loads(json.dumps(tokenizer_json(trained(special_tokens=["<|end|>"]).spec)))
    change(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda d: d.update(model=None), "model: expected"),
        (lambda d: d["model"].update(type="WordPiece"), "model.type: only BPE"),
        (lambda d: d["model"].update(vocab=[1]), "model.vocab: expected"),
        (lambda d: d["model"]["vocab"].update({"Ġthe": -5}), r"model.vocab\['Ġthe'\]: -5 is not an id"),
        (lambda d: d["model"]["vocab"].update({"Ġthe": "5"}), r"model.vocab\['Ġthe'\]: expected an integer"),
        (lambda d: d["model"]["vocab"].update({"Ġthe": True}), r"model.vocab\['Ġthe'\]: expected an integer"),
        (lambda d: d["model"]["vocab"].update({"zzzz": 5}), r"model.vocab\['zzzz'\]: has the id 5"),
        (lambda d: d["model"]["vocab"].pop("a"), r"model.merges\[\d+\]: .*'a' is not in model.vocab"),
        (lambda d: d["model"].update(merges="no"), "model.merges: expected a list"),
        (lambda d: d["model"]["merges"].append(["q", "zzz"]), r"model.merges\[643\].*not in model.vocab"),
        (lambda d: d["model"]["merges"].insert(3, ["q"]), r"model.merges\[3\]: expected two tokens"),
        (lambda d: d["model"]["merges"].insert(3, ["q", ""]), r"model.merges\[3\]: .*is not in model.vocab"),
        (lambda d: d["model"].update(dropout=1.5), "model.dropout: expected a number from 0 to 1"),
        (lambda d: d["model"].update(byte_fallback=1), "model.byte_fallback: expected true or false"),
        (
            lambda d: d["added_tokens"].append({"id": 899, "content": "<x>", "special": True}),
            r"added_tokens\[1\].*repeats",
        ),
        (
            lambda d: d["added_tokens"].append({"id": "9", "content": "<x>"}),
            r"added_tokens\[1\].id: expected an integer",
        ),
        (lambda d: d["added_tokens"][0].update(lstrip="yes"), r"added_tokens\[0\].lstrip: expected true or false"),
        (lambda d: d.update(added_tokens={}), "added_tokens: expected a list"),
        (lambda d: d["added_tokens"].append(7), r"added_tokens\[1\]: expected an object, found 7"),
        (lambda d: d["added_tokens"][0].update(strip=True), r"added_tokens\[0\].strip: .*no such key"),
        (lambda d: d["added_tokens"][0].update(content="x" * 5_000), r"\[0\].content: has 5,000 characters; at most"),
        (lambda d: d["added_tokens"][0].update(id=True), r"added_tokens\[0\].id: expected an integer"),
        (lambda d: d["added_tokens"][0].update(id=1 << 32), r"added_tokens\[0\].id: 4294967296 is not an id"),
        (lambda d: (d["model"].update(vocab={}), d.update(added_tokens=[])), "model.vocab: is empty, and there are no"),
        (lambda d: d.update(normalizer={"type": "Lower"}), "normalizer.type: 'Lower' is not supported"),
        (lambda d: d.update(normalizer={"type": "Lowercase", "locale": "tr"}), "normalizer.locale: .*no such key"),
        (lambda d: d.update(pre_tokenizer={"type": "Metaspace"}), "pre_tokenizer: .*replacement"),
        (lambda d: d["pre_tokenizer"]["pretokenizers"][0]["pattern"].update(Regex="("), "not closed"),
        (lambda d: d.update(truncation={"max_length": -5}), r"truncation.*"),
        (
            lambda d: d.update(post_processor={"type": "RobertaProcessing", "sep": 3}),
            "post_processor.sep: expected a list",
        ),
    ],
)
def test_files_that_are_wrong(change, where, tmp_path):
    (tmp_path / "tokenizer.json").write_text(broken(change))
    with pytest.raises(TokenizerFileError, match=where) as caught:
        BPETokenizer.from_pretrained(tmp_path)
    assert "tokenizer.json" in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"model": NaN}', b"1" * 10_000]
)
def test_what_is_no_tokenizer(content, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(TokenizerFileError):
        BPETokenizer.from_pretrained(tmp_path)


def test_a_folder_without_files(tmp_path):
    with pytest.raises(TokenizerFileError, match=r"has no tokenizer.json"):
        BPETokenizer.from_pretrained(tmp_path)
    with pytest.raises(TokenizerFileError):
        BPETokenizer.from_pretrained(Path("/no/such/folder"))


def test_added_tokens_in_columns_and_one_by_one(tmp_path):
    """Entries without fault are read column by column; each fault, or a key left out, has them read one by one."""
    rng = random.Random(71)
    flags = ("special", "single_word", "lstrip", "rstrip", "normalized")
    for _ in range(amount(60, 2_000)):
        count = rng.randint(1, 9)
        ids = rng.sample(range(256, 300), count)
        entries = [
            {"id": n, "content": f"<{n}>" * rng.randint(1, 3), **{flag: rng.random() < 0.5 for flag in flags}}
            for n in ids
        ]
        in_columns = _read_uniform(entries)
        assert in_columns == [AddedToken(**entry) for entry in entries]
        file = JSONFile(tmp_path / "tokenizer.json", json.dumps({"added_tokens": entries}).encode())
        assert read_added_tokens(file) == in_columns
        file.data["added_tokens"] = [*entries, dict(entries[0])]  # the same again is no fault, and is no column
        assert _read_uniform(file.data["added_tokens"]) is None
        assert read_added_tokens(file) == in_columns
        wrong = rng.choice(
            [
                {"id": -1},
                {"id": True},
                {"content": 5},
                {"lstrip": 1},
                {"id": 1 << 32},
                {"content": "x" * 5_000},
                {"q": 1},
            ]
        )
        file.data["added_tokens"] = [*entries[:-1], entries[-1] | wrong]
        with pytest.raises(TokenizerFileError, match=rf"added_tokens\[{count - 1}\]"):
            read_added_tokens(file)


@pytest.mark.slow
def test_a_hundred_thousand_added_tokens(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    BPETokenizer.train("low lower lowest " * 50, 262, pattern="gpt2").save(tmp_path)
    path = tmp_path / "tokenizer.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
    data["added_tokens"] = [{"id": 262 + n, "content": f"<tok{n}>", **flags} for n in range(100_000)]
    path.write_text(json.dumps(data), encoding="utf-8")
    ours, theirs = BPETokenizer.from_pretrained(tmp_path), tokenizers.Tokenizer.from_file(str(path))
    text = "low <tok5> lower<tok99999><tok100000>"
    assert ours.encode(text, allowed_special="all") == theirs.encode(text).ids
