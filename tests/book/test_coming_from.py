"""The page for people who come from other libraries: both expressions of a row are evaluated, and the differences."""

import re
import shutil
from pathlib import Path

import pytest

import bpelab.tiktoken
from bpelab import BPETokenizer
from bpelab.formats.minbpe import save as save_minbpe
from bpelab.notebook import book_text

from ..conftest import ROOT, encoding, needs_extension

PAGE = (ROOT / "book" / "coming_from.md").read_text(encoding="utf-8")


def pairs(library: str) -> list[list[str]]:
    """The expressions of the first table of a section, a pair for each row."""
    table = PAGE.partition(f"\n## {library}\n")[2].partition("\nWhat differs:")[0]
    found = [re.findall("`(.*?)` *(?:\\||$)", line) for line in table.splitlines() if line.startswith("| `")]
    assert all(len(row) == 2 for row in found), found
    return found


def names_of_the_table(folder: Path) -> dict[str, object]:
    """What the expressions take for given."""
    tiktoken, transformers = pytest.importorskip("tiktoken"), pytest.importorskip("transformers")
    text = "the harbour <|end|> naïve 日本"
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|end|>\n{% endfor %}"
    t = BPETokenizer.train(book_text()[:20_000], 400, special_tokens=["<|end|>"], progress=False)
    t = t.with_options(metadata={"chat_template": template})
    t.save(folder / "folder")
    save_minbpe(t.spec, folder / "mb.model")
    hf = transformers.AutoTokenizer.from_pretrained(folder / "folder")
    names = {"text": text, "texts": ["lower", "the harbour"], "ids": t.encode(text, allowed_special="all")}
    names |= {"t": t, "enc": t.to_tiktoken(), "hf": hf, "chat": [{"role": "user", "content": "How deep is it?"}]}
    return names | {"tiktoken": tiktoken, "AutoTokenizer": transformers.AutoTokenizer, "BPETokenizer": BPETokenizer}


@pytest.fixture
def names(tmp_path, monkeypatch):
    names = names_of_the_table(tmp_path)
    t = names["t"].with_options(eos_token="<|end|>", pad_token="<|end|>")
    t.save(tmp_path / "folder")
    monkeypatch.chdir(tmp_path)
    hf = names["AutoTokenizer"].from_pretrained(tmp_path / "folder")
    hf.add_special_tokens({"eos_token": "<|end|>", "pad_token": "<|end|>"})
    return names | {"t": t, "hf": hf, "enc": t.to_tiktoken(), "bpelab": bpelab}


@pytest.mark.filterwarnings("ignore")  # of the other libraries
@pytest.mark.parametrize(("library", "least"), [("tiktoken", 20), ("Hugging Face", 17)])
def test_both_say_the_same(library, least, names):
    encoding("cl100k_base")
    needs_extension()
    table = pairs(library)
    assert len(table) >= least
    for theirs, ours in table:
        expected, found = eval(theirs, names), eval(ours, names)
        assert found == expected and type(found) in (type(expected), list, dict), (theirs, ours)


def test_minbpes_too(names):
    """minbpe is no package: PYTHONPATH=a copy of it."""
    minbpe = pytest.importorskip("minbpe", reason="minbpe is not at hand")
    names["mb"] = minbpe.RegexTokenizer()
    names["mb"].load("mb.model")
    names["mb"].register_special_tokens(names["t"].special_tokens)
    for theirs, ours in pairs("minbpe"):
        assert eval(theirs, names) == eval(ours, names), (theirs, ours)


def row_of(library: str, what: str) -> list[list[str]]:
    """The expressions of both cells of a row that tells what differs."""
    (row,) = re.findall(rf"^\| {what} \| (.*) \|$", PAGE.partition(f"\n## {library}\n")[2].partition("\n## ")[0], re.M)
    return [re.findall("`(.*?)`", cell) for cell in row.split(" | ")]


@pytest.mark.filterwarnings("ignore")  # of the other library
def test_training_and_saving_with_transformers(names):
    """Each trains a tokenizer that gives the text back, and opens what the other has saved."""
    hf, t, text = names["hf"], names["t"], names["text"]
    (theirs, _), (ours,) = row_of("Hugging Face", "to train")
    assert {eval(line, names).decode(eval(line, names).encode(text)) for line in (theirs, ours)} == {text}
    ((theirs,), (ours,)) = row_of("Hugging Face", "to save")
    eval(theirs, names)
    assert BPETokenizer.from_pretrained("copy").encode(text, allowed_special="all") == hf.encode(text)
    shutil.rmtree("copy")
    eval(ours, names)
    assert names["AutoTokenizer"].from_pretrained("copy").encode(text) == t.encode(text, allowed_special="all")


def test_opening_and_saving_with_minbpe(names):
    minbpe = pytest.importorskip("minbpe", reason="minbpe is not at hand")
    (load, save), (opening, saving, converting) = row_of("minbpe", "to open and save")
    assert converting == "bpelab convert --to minbpe"
    names["mb"] = minbpe.RegexTokenizer()
    eval(load, names), eval(save, names), eval(saving, names)
    assert eval(opening, names).encode(names["text"]) == names["t"].encode(names["text"])


def test_the_import_that_replaces_tiktoken():
    encoding("o200k_base")
    expected = BPETokenizer.from_tiktoken("gpt-4o").encode("How many tokens is this?")
    code = re.search("```python\n(.*?)```", PAGE, re.DOTALL)[1].replace("\n\n", "\nvalue = ")
    space: dict[str, object] = {}
    exec(code, space)
    assert space["value"] == expected and space["tiktoken"] is bpelab.tiktoken


@pytest.mark.filterwarnings("ignore")  # of the other library
def test_the_line_that_accelerates(names):
    needs_extension()
    code = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)[1]
    space: dict[str, object] = {}
    exec(code, space)
    accelerated, text = space["hf"], names["text"]
    assert type(accelerated) is not type(names["hf"]) and isinstance(accelerated, type(names["hf"]))
    assert accelerated(text) == names["hf"](text)


@pytest.mark.filterwarnings("ignore")
def test_what_differs(names):
    """The rows of the tables of differences, in their order."""
    enc, hf, t, text = (names[name] for name in ("enc", "hf", "t", "text"))
    with pytest.raises(ValueError, match="disallowed"):
        enc.encode(text)
    assert t.decode(t.encode(text)) == text and t.special_tokens["<|end|>"] not in t.encode(text)
    with pytest.raises(ValueError, match="special token"):
        t.encode(text, disallowed_special="all")
    ranks = {bytes([byte]): byte for byte in range(256)}
    given = {"pat_str": "[a-z]+", "mergeable_ranks": ranks, "special_tokens": {}}
    tiktoken = names["tiktoken"]
    assert tiktoken.Encoding("letters", **given).encode("a b") == [97, 98]
    assert bpelab.tiktoken.Encoding("letters", **given).encode("a b") == [97, 32, 98]
    with pytest.raises(KeyError):
        t.decode([99_999])
    assert (t.decode([99_999], unknown="replace"), t.token_to_id("no such token")) == ("\ufffd", None)

    assert hf.convert_ids_to_tokens([32])[0] != t.convert_ids_to_tokens([32])[0] == b" "
    assert {type(token) for token in hf.get_vocab()} == {str} and {type(token) for token in t.get_vocab()} == {bytes}
    assert len(t.with_special_tokens(["<|new|>"])) == len(t) + 1 == len(hf) + 1
    with pytest.raises(TypeError, match="add_generation_prompt"):
        t.apply_chat_template(names["chat"], add_generation_promt=True)
    spoof = [{"role": "user", "content": "<|end|>"}]
    assert hf.apply_chat_template(spoof, tokenize=True, return_dict=False).count(t.special_tokens["<|end|>"]) == 2
    assert t.apply_chat_template(spoof).count(t.special_tokens["<|end|>"]) == 1

    merged = {ties: BPETokenizer.train("ba dc", 257, ties=ties, min_frequency=1) for ties in ("ids", "minbpe", "cs336")}
    assert [one.id_to_token(256) for one in merged.values()] == [b" d", b"ba", b"dc"]
