"""From a corpus to words, piece by piece: what is counted, what is told on the way, and where a training ends."""

import random
import re
from pathlib import Path

import pytest

from bpelab import BPETokenizer, TrainingError, native
from bpelab.boundaries import named_patterns
from bpelab.boundaries.named_patterns import BoundaryKind, iter_boundaries, last_boundary
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.trainers import TRAINERS, find_trainer, train_incremental, train_naive, train_native
from bpelab.trainers.counting import corpus
from bpelab.trainers.counting.corpus import (
    blocks_at_boundaries,
    boundary_kind_for,
    count_pre_tokens,
    document_parts,
    documents,
    training_texts,
)
from bpelab.vocab.special_tokens import SpecialTokens

from ...conftest import amount, fuzz_text
from ...shards.corpora import write

NONE = SpecialTokens({})


def test_names_of_trainers():
    assert find_trainer("naive") is train_naive
    assert find_trainer("incremental") is train_incremental
    assert find_trainer("native") is train_native
    with pytest.raises(
        ValueError,
        match=r"^there is no trainer 'quick'; choose auto, native, or one of naive, incremental$",
    ):
        find_trainer("quick")


def test_auto_takes_the_trainer_in_c_where_it_was_built(monkeypatch):
    monkeypatch.setattr(native, "extension", lambda: object)
    assert find_trainer("auto") is train_native
    monkeypatch.setattr(native, "extension", lambda: None)
    assert find_trainer("auto") is train_incremental


@pytest.mark.parametrize("name", TRAINERS)
def test_where_a_training_ends(name):
    train, words = TRAINERS[name], {b"ab": 2, b"cd": 1}
    assert [step.token for step in train(words, 9)] == [b"ab"]  # twice, unless somebody asks for less
    assert [step.token for step in train(words, 9, 1)] == [b"ab", b"cd"]
    assert [step.token for step in train(words, 1, 1)] == [b"ab"]
    assert list(train(words, 0, 1)) == list(train(words, 9, 3)) == list(train({}, 9, 1)) == []
    assert [step.counts for step in train(words, 9)] == [None]
    assert [step.counts for step in train(words, 9, 2, True)] == [{(97, 98): 2, (99, 100): 1}]
    (step,) = train(words, 9)
    assert (step.rank, step.left, step.right, step.count) == (0, 97, 98, 2)


def test_sizes_are_told(tmp_path, monkeypatch):
    """In bytes, special tokens included, a part at a time, as the sizes of files are."""
    told: list[int] = []
    special = SpecialTokens({"<|end|>": 0})
    count_pre_tokens(["ab<|end|>é", "", "c"], Split("gpt2"), special, None, told.append)
    assert told == [11, 0, 1]
    told.clear()
    monkeypatch.setattr(corpus, "BLOCK", 8)
    (tmp_path / "a.txt").write_text("one two 日本語 four", encoding="utf-8")
    count_pre_tokens(tmp_path / "a.txt", Split("gpt2"), NONE, None, told.append)
    assert sum(told) == (tmp_path / "a.txt").stat().st_size == 22
    assert len(told) > 1


def test_documents_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "BLOCK", 8)
    text = "one two three four"
    file = tmp_path / "a.txt"
    file.write_text(text)
    for document in (text, file):
        assert list(document_parts(document, BoundaryKind.NONE, NONE)) == [text]
        parts = list(document_parts(document, BoundaryKind.WORDS, NONE))
        assert "".join(parts) == text
        assert max(map(len, parts)) <= 16 and len(parts) > 1
    assert list(document_parts("one two!", BoundaryKind.WORDS, NONE)) == ["one two!"]
    assert list(document_parts("", BoundaryKind.WORDS, NONE)) == [""]
    assert list(blocks_at_boundaries(["ab c", "d ef"], BoundaryKind.WORDS, NONE)) == ["ab", " cd", " ef"]
    assert list(blocks_at_boundaries(["ab c", "d ef"], BoundaryKind.NONE, NONE)) == ["ab cd ef"]
    special = SpecialTokens({"b c": 0})
    assert list(blocks_at_boundaries(["ab c", "d ef gh"], BoundaryKind.WORDS, special)) == ["ab cd", " ef gh"]


@pytest.mark.parametrize("kind", [BoundaryKind.WORDS, BoundaryKind.PHRASES])
def test_the_last_boundary_is_that_of_a_search_from_the_beginning(kind):
    rng = random.Random(33)
    for _ in range(amount(1_500, 60_000)):
        text = "".join(rng.choices("aaé1,.' \n\u0301漢\U0001f600\U00020000", k=rng.randrange(120)))
        text = rng.choice("a1,\u0301 ") * rng.choice((0, 0, rng.randrange(700))) + text
        for end in (len(text), rng.randrange(len(text) + 1)):
            assert last_boundary(text, end, kind) == max(iter_boundaries(text[:end], 0, kind), default=0)


@pytest.mark.parametrize("names", [(), ("a, b",), ("<|end|>", ". a")])
def test_blocks_are_cut_as_if_all_that_was_read_were_searched(names):
    """Whatever their size, and however many have no boundary."""
    rng, special = random.Random(34), SpecialTokens({name: 300 + index for index, name in enumerate(names)})

    def slowly(blocks: list[str], kind: BoundaryKind):
        kept = ""
        for block in blocks:
            kept += block
            end = max(iter_boundaries(kept[: max(0, len(kept) - special.longest)], 0, kind), default=0)
            if end and not special.may_cross(kept, end):
                yield kept[:end]
                kept = kept[end:]
        yield kept

    for _ in range(amount(300, 20_000)):
        parts = rng.choices(["aaaaaaaaaaaaaaaa", "a", "1", ", b", ",,", ". a", "<|end|>", "é\u0301", "\n"], k=40)
        text, size = "".join(parts), rng.randrange(1, 40)
        blocks = [text[at : at + size] for at in range(0, len(text), size)]
        for kind in (BoundaryKind.WORDS, BoundaryKind.PHRASES):
            assert list(blocks_at_boundaries(blocks, kind, special)) == list(slowly(blocks, kind))


@pytest.mark.parametrize("name", ["gpt2", "superbpe"])
def test_a_long_run_is_searched_once(name, monkeypatch):
    """The characters in which a boundary is looked for, as the text grows: DNA, say, has none."""
    searched = 0

    class Counting:
        def __init__(self, pattern: re.Pattern[str]) -> None:
            self.pattern = pattern

        def finditer(self, text: str, start: int, end: int):
            nonlocal searched
            searched += end - start
            return self.pattern.finditer(text, start, end)

    find = named_patterns._boundary_pattern
    monkeypatch.setattr(named_patterns, "_boundary_pattern", lambda kind: Counting(find(kind)))
    monkeypatch.setattr(corpus, "BLOCK", 1_000)
    work = []
    for size in (10_000, 20_000, 40_000):
        searched = 0
        assert "".join(document_parts("a" * size, boundary_kind_for(Split(name)), NONE)) == "a" * size
        assert searched < 1.1 * size
        work.append(searched)
    assert work[2] < 2.1 * work[1] < 4.5 * work[0]


def test_items_that_are_no_documents():
    assert list(documents("a")) == ["a"]
    assert list(documents(Path("a"))) == [Path("a")]
    assert list(documents(iter(["a", "b"]))) == ["a", "b"]
    for bad, name in ((b"a", "bytes"), (bytearray(b"a"), "bytearray"), (7, "int"), (None, "NoneType")):
        message = f"a corpus is a str, a pathlib.Path, or an iterable of either, not {name}"
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            list(documents(bad))
    for bad, number, name in (
        (["a", 7], 1, "int"),
        ([b"a"], 0, "bytes"),
        (["a", "b", Path("c")], 2, "PosixPath"),
        ([Path("c"), "a"], 1, "str"),
    ):
        message = (
            f"item {number} of the corpus is a {name}; the items must be all str (texts) or all pathlib.Path (files)"
        )
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            list(documents(bad))


def test_records_have_a_field_that_is_taken_for_granted(tmp_path):
    path = write(tmp_path / "a.jsonl", ["a b", "c"])
    assert list(document_parts(path, BoundaryKind.NONE, NONE)) == ["a b", "c"]
    assert list(training_texts(path, None, NONE)) == ["a b", "c"]
    assert count_pre_tokens(path, None, NONE) == {b"a b": 1, b"c": 1}


def test_bytes_that_are_no_utf8(tmp_path, monkeypatch):
    """The place in the file, wherever blocks end."""
    file = tmp_path / "a.txt"
    for content, at in ((b"plain \xff", 6), (b"ab\xe2\x82", 2), ("日本".encode() + b"\xe6\x97x", 6)):
        file.write_bytes(content)
        for block in (1, 2, 3, 5, 100):
            monkeypatch.setattr(corpus, "BLOCK", block)
            with pytest.raises(TrainingError, match=rf"^{file} is not UTF-8: .+ at byte {at}; convert the file first$"):
                count_pre_tokens(file, Split("gpt2"), NONE)
    file.write_bytes(b"a" * 1_500 + b"\xff")
    with pytest.raises(TrainingError, match="at byte 1,500;"):
        count_pre_tokens(file, None, NONE)
    with pytest.raises(TrainingError, match=rf"^{tmp_path}/none can't be read: No such file or directory$"):
        count_pre_tokens(tmp_path / "none", None, NONE)


def test_what_is_counted():
    special = SpecialTokens({"<|end|>": 0})
    assert count_pre_tokens("a a<|end|>b", Split("gpt2"), special) == {b"a": 1, b" a": 1, b"b": 1}
    assert count_pre_tokens("a a<|end|>b", None, special) == {b"a a": 1, b"b": 1}
    assert count_pre_tokens("A a<|end|>", None, special, str.lower) == {b"a a": 1}
    assert count_pre_tokens(["", "<|end|>"], None, special) == {}
    assert count_pre_tokens("a<|end|>x", None, special, lambda text: text.replace("x", "")) == {b"a": 1}


def test_a_pattern_of_your_own_sees_whole_documents(tmp_path, monkeypatch):
    """Of which nothing is known: it may look as far as it likes."""
    monkeypatch.setattr(corpus, "BLOCK", 4)
    (tmp_path / "a.txt").write_text("one two one two")
    for split, expected in ((Split(r"one two|\w+"), {b"one two": 2, b" ": 1}), (None, {b"one two one two": 1})):
        for form in ("one two one two", tmp_path / "a.txt"):
            assert count_pre_tokens(form, split, NONE) == expected


def test_no_cut_in_a_token_behind_others_that_overlap(monkeypatch):
    """The token in the middle of `pqqr st` hides the last, but the first hides that in turn."""
    special, text = SpecialTokens({"pq": 0, "qqr": 1, "r st": 2}), "pqqr st uv"
    for block in range(1, 12):
        monkeypatch.setattr(corpus, "BLOCK", block)
        assert count_pre_tokens(text, Split("gpt2"), special) == {b"q": 1, b" uv": 1}


def test_the_name_of_a_file_is_no_text(tmp_path, monkeypatch):
    """Learning from the letters of a name would go unnoticed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "corpus.txt").write_text("low lower lowest")
    for name in ("corpus.txt", "~/corpus.txt", str(tmp_path / "corpus.txt")):
        for given, what in ((name, "the corpus"), ([name], "item 0"), (iter(["low", name]), "item 1")):
            with pytest.raises(TypeError, match=re.escape(f"pass Path({name!r})")) as caught:
                BPETokenizer.train(given, 257)
            assert str(caught.value).startswith(what)
    assert BPETokenizer.train(Path("corpus.txt"), 257).n_vocab == 257
    for text in ("~\0a a", "~\ud800/a", "\0", "\ud800"):  # no name of anything
        assert BPETokenizer.train(text * 3, 257).encode("a")
    for text in ("corpus.txt corpus.txt", "corpus.text", "a\0a\0", str(tmp_path) * 2, "x" * 100_000):
        assert list(documents(text)) == list(documents([text])) == [text]


def test_json_lines_under_another_name(tmp_path):
    """What would be learned is JSON's signs; saying what is meant goes on."""
    path = tmp_path / "texts.json"
    path.write_text('{"text": "low lower"}\n{"text": "lowest"}\n' * 20, encoding="utf-8")
    for client in (None, "local"):
        if client is not None:
            pytest.importorskip("distributed")
        with pytest.raises(TrainingError, match="holds JSON Lines, and its name doesn't say so"):
            BPETokenizer.train([path], 262, client=client)
    of_field = BPETokenizer.train(path, 262, input_format="jsonl")
    assert b'"' not in b"".join(of_field.model.tokens[token_id] for token_id in range(256, 262))
    assert BPETokenizer.train(path, 262, input_format="text").model != of_field.model
    path.write_text('{"one": "object",\n"of": "lines"}\n' * 20, encoding="utf-8")
    BPETokenizer.train(path, 262)


@pytest.mark.slow
def test_a_name_that_tells_nothing_is_text_for_a_cluster_too(tmp_path):
    pytest.importorskip("distributed")
    path = tmp_path / "program.py"
    path.write_text("def lower(low):\n    return low\n" * 50, encoding="utf-8")
    assert BPETokenizer.train([path], 262, client="local").model == BPETokenizer.train(path, 262).model


def test_parquets_string_view(tmp_path):
    """A column of views, which newer writers of Parquet make, is one of texts."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = ["low lower lowest " * 30, "newest widest " * 20]
    parquet.write_table(pyarrow.table({"text": pyarrow.array(texts, pyarrow.string_view())}), tmp_path / "a.parquet")
    assert parquet.read_schema(tmp_path / "a.parquet").field("text").type == pyarrow.string_view()
    ours = BPETokenizer.train(tmp_path / "a.parquet", 270)
    assert dict(ours.model.merges) == dict(BPETokenizer.train(texts, 270).model.merges)


def test_phrases_are_cut_where_all_named_patterns_cut():
    """At every boundary of the pattern of superwords, whatever is on both sides of it."""
    rng, cuts = random.Random(8), 0
    splits = [Split(name) for name in PATTERNS]
    for _ in range(amount(600, 30_000)):
        text = fuzz_text(rng) + "".join(
            rng.choices(["12", '."', "\r\n", "\n", " ", "  ", "a", "日", "'s", "?!", "\u0301", "/"], k=9)
        )
        for cut in iter_boundaries(text, 0, BoundaryKind.PHRASES):
            cuts += 1
            for split in splits:
                assert split.split(text[:cut]) + split.split(text[cut:]) == split.split(text), (text, cut, split)
    assert cuts > 500


def test_a_document_of_phrases_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "BLOCK", 200)
    text = book_text()[:20_000]
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    split = Split("superbpe")
    for document in (text, tmp_path / "a.txt"):
        parts = list(training_texts(document, split, NONE))
        assert len(parts) > 20 and [piece for part in parts for piece in split.split(part)] == split.split(text)
        assert len(list(training_texts(document, split, NONE, whole=Split(r"\w+|\W")))) == 1
