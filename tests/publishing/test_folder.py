"""A published folder: what is in it, what others read from it, and that there is nothing where publishing failed."""

import json
import math
import os
import re
import shutil
import subprocess

import pytest

from bpelab import BPETokenizer, ConversionError, PublishingError
from bpelab._support import new_folder
from bpelab.analysis.adversarial_texts import hostile_texts
from bpelab.cli.main import main
from bpelab.notebook import passages
from bpelab.publishing import card, changed_files, folder, publish
from bpelab.publishing.card import MEASURES, agrees, format_measure, measure, parse_card
from bpelab.publishing.folder import write_hashes
from bpelab.tokenizer import open_tokenizer

TEXT = "\n\n".join(passages("letters").values())
STORIES = "\n\n".join(passages("stories").values())


@pytest.fixture(scope="module")
def tokenizer():
    return BPETokenizer.train(STORIES, 900, pattern="llama3", special_tokens=["<|end|>", "a|b`\n"], eos_token="<|end|>")


@pytest.fixture(scope="module")
def published(tokenizer, tmp_path_factory):
    path = tmp_path_factory.mktemp("home") / "harbour"
    formats = publish(tokenizer, path, TEXT, about="About `it`.\n")
    return path, formats


def test_every_file_gives_the_same_ids(tokenizer, published):
    path, formats = published
    assert [entry.file for entry in formats] == ["tokenizer.json", "harbour.gguf", "harbour.tiktoken", "harbour.model"]
    refused = {entry.file: entry.refused for entry in formats if entry.refused}
    assert list(refused) == ["harbour.model"]  # minbpe has no names with white space in them
    assert not (path / "harbour.model").exists()
    for name in ("", "tokenizer.json", "harbour.gguf", "harbour.tiktoken"):
        again = open_tokenizer(path / name, pattern="llama3" if name.endswith("tiktoken") else None)
        for text in (TEXT, *hostile_texts()):
            assert again.encode(text) == tokenizer.encode(text)


def test_the_card_can_be_read_back(tokenizer, published):
    path, formats = published
    text = (path / "README.md").read_text(encoding="utf-8")
    rows, measured = parse_card(text), measure(tokenizer, TEXT)
    assert text.startswith("---\ntags:\n")
    assert "About `it`." in text
    assert tokenizer.pattern in text
    assert list(measured) == list(MEASURES)
    for name, value in measured.items():
        assert rows[name] == format_measure(name, value)
        assert agrees(rows[name], value)
    for entry in formats:
        assert rows[entry.file] == " ".join(str(entry).replace("|", "&#124;").split())
    blocks = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert json.loads(blocks[1]) == tokenizer.special_tokens


def test_hashes_are_those_of_sha256sum(published):
    path, _ = published
    assert changed_files(path) == []
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=path, check=True)


def test_what_was_changed_is_named(published, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(published[0], copy)
    (copy / "README.md").write_text("other", encoding="utf-8")
    (copy / "held-out.txt").unlink()
    (copy / "sub").mkdir()
    (copy / "sub" / "new").write_bytes(b"")
    assert changed_files(copy) == ["README.md", "held-out.txt", "sub/new"]
    write_hashes(copy)
    assert changed_files(copy) == []
    (copy / "SHA256SUMS").unlink()
    with pytest.raises(PublishingError, match="has no SHA256SUMS"):
        changed_files(copy)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_pipes_and_huge_files_are_refused(published, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(published[0], copy)
    (copy / "link").symlink_to("README.md")
    with pytest.raises(PublishingError, match="link is a link"):
        changed_files(copy)
    (copy / "link").unlink()
    os.mkfifo(copy / "pipe")
    with pytest.raises(PublishingError, match="pipe is a link or not a file"):
        changed_files(copy)
    (copy / "pipe").unlink()
    with (copy / "huge").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(PublishingError, match="huge has more than"):
        changed_files(copy)
    (copy / "huge").unlink()
    for number in range(1_001):
        (copy / str(number)).touch()
    with pytest.raises(PublishingError, match="more than 1,000 files"):
        changed_files(copy)


class TestNothingIsLeft:
    def test_by_a_refusal(self, tokenizer, tmp_path):
        (tmp_path / "there").mkdir()
        (tmp_path / "there" / "mine").write_text("kept", encoding="utf-8")
        (tmp_path / "file").write_text("kept", encoding="utf-8")
        for name in ("there", "file"):
            with pytest.raises(PublishingError, match="exists already"):
                publish(tokenizer, tmp_path / name, TEXT)
        for text in ("", " \n\t"):
            with pytest.raises(PublishingError, match="without words"):
                publish(tokenizer, tmp_path / "new", text)
        with pytest.raises(PublishingError, match="can't be written"):
            publish(tokenizer, tmp_path / "file" / "new", TEXT)
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "mine", "there"]

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
    @pytest.mark.parametrize("step", ["check", "measure", "write_hashes", "sync"])
    def test_by_a_failure(self, tokenizer, tmp_path, monkeypatch, step, error):
        def fail(*arguments):
            raise error

        monkeypatch.setattr(new_folder if step == "sync" else folder, step, fail)
        expected = PublishingError if isinstance(error, OSError) else type(error)
        with pytest.raises(expected):
            publish(tokenizer, tmp_path / "new", TEXT)
        assert list(tmp_path.iterdir()) == []

    def test_by_other_ids(self, tokenizer, tmp_path, monkeypatch):
        def other(found, out, target, lossy=False):
            return real(BPETokenizer.train(TEXT, 500, pattern="llama3"), out, target)

        real = folder.convert
        monkeypatch.setattr(folder, "convert", other)
        with pytest.raises(ConversionError, match="other ids"):
            publish(tokenizer, tmp_path / "new", TEXT)
        assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_taken(tokenizer, tmp_path):
    (tmp_path / "new").mkdir()
    publish(tokenizer, tmp_path / "new", TEXT)
    assert changed_files(tmp_path / "new") == []
    assert os.name == "nt" or (tmp_path / "new").stat().st_mode & 0o777 != 0o700


def test_a_tokenizer_of_characters_and_one_without_a_pattern(tmp_path):
    plain = BPETokenizer.train(STORIES, 400, pattern=None)
    assert [entry.refused != "" for entry in publish(plain, tmp_path / "plain", TEXT)] == [False, True, False, False]
    data = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}}
    (tmp_path / "characters.json").write_text(json.dumps(data), encoding="utf-8")
    characters = BPETokenizer.from_pretrained(tmp_path / "characters.json")
    found = measure(characters, TEXT)
    assert math.isnan(found["tokens never reached"])
    assert found["hostile texts that are lost"] > 800
    publish(characters, tmp_path / "characters", TEXT)
    rows = parse_card((tmp_path / "characters" / "README.md").read_text(encoding="utf-8"))
    assert all(agrees(rows[name], value) for name, value in found.items())


@pytest.mark.parametrize(
    ("claim", "value", "right"),
    [
        ("12", 12, True), ("12", 12.4, True), ("12", 12.6, False), ("1,190", 1190, True), ("3.125", 3.1249, True),
        ("3.125", 3.1261, False), ("100%", 1.0, True), ("47.2%", 0.4725, True), ("47.2%", 0.48, False),
        ("", 0, False), ("many", 3, False), ("12 tokens", 12, False), ("1e9", 1e9, False), ("-1", -1, False),
        ("9" * 40, 9e39, False), ("not known", math.nan, True), ("not known", 1, False), ("1", math.nan, False),
    ],
)  # fmt: skip
def test_a_claim_agrees_up_to_its_decimals(claim, value, right):
    assert agrees(claim, value) is right


def test_cards_of_others_are_read_without_harm():
    for text in ("|" * 100_000, "| a | b |\n" * 10_000, "|a|b|c|\n|d|\n", "| --- | --- |", "\0|\n|é|2|"):
        assert len(parse_card(text)) <= 1
    assert card.parse_card("|é|2|") == {"é": "2"}


def test_on_the_command_line(tokenizer, tmp_path, monkeypatch, capsys):
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub, "get_token", lambda: None)
    monkeypatch.chdir(tmp_path)
    tokenizer.save("mine")
    (tmp_path / "unseen.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "about.md").write_text("For tests.", encoding="utf-8")
    assert main(["publish", "mine", "harbour", "--text", "unseen.txt", "--about", "about.md"]) == 0
    said = capsys.readouterr().out
    assert "harbour.tiktoken: left out: pattern" in said
    assert "harbour.model: not written: minbpe can't hold" in said
    assert "For tests." in (tmp_path / "harbour" / "README.md").read_text(encoding="utf-8")
    for line, problem in (
        ("publish mine harbour --text unseen.txt", "exists already"),
        ("publish mine other --text latin.txt", "latin.txt is not UTF-8"),
        ("publish mine other --text none.txt", "none.txt"),
        ("publish mine other --text unseen.txt --public", "--upload"),
        ("publish none other --text unseen.txt", "none"),
        ("publish mine other --text unseen.txt --upload me/harbour", "there is no token for the Hub"),
        ("publish mine other --text unseen.txt --upload a/b/c", "'a/b/c' is not the name of a repository"),
        ("upload harbour me/harbour", "there is no token for the Hub"),
        ("upload harbour a/b/c", "is not the name of a repository"),
        ("upload mine me/harbour", "has no SHA256SUMS"),
    ):
        assert main(line.split()) == 1
        assert problem in capsys.readouterr().err
        assert not (tmp_path / "other").exists()
