"""Where parts of a corpus begin and end: where a look at the whole text would have it, however little is read."""

import io
import json
import random

import pytest

from bpelab.boundaries.named_patterns import BoundaryKind, iter_boundaries
from bpelab.corpus.inputs import Input, find_inputs
from bpelab.errors import CorpusError
from bpelab.trainers.counting import corpus, partition
from bpelab.trainers.counting.partition import Part, boundary_after, parts_of, texts_of
from bpelab.vocab.special_tokens import SpecialTokens

from ...conftest import amount

NONE = SpecialTokens({})
SPECIAL = SpecialTokens({"<|end|>": 0, "e w": 1, "日 ": 2})


def source_of(path, content: bytes) -> Input:
    path.write_bytes(content)
    (source,) = find_inputs(path)
    return source


def bound_in_the_whole(text: str, at: int, special: SpecialTokens) -> int:
    """What `boundary_after` finds, looked for in all of the text."""
    size = len(text.encode())
    if at <= 0 or at >= size:
        return min(max(at, 0), size)
    cuts = (cut for cut in iter_boundaries(text, 0) if not special.may_cross(text, cut))
    return next((place for place in (len(text[:cut].encode()) for cut in cuts) if place >= at), size)


@pytest.mark.parametrize("window", [1, 4, 9, 1 << 16])
@pytest.mark.parametrize("special", [NONE, SPECIAL], ids=["no special tokens", "special tokens"])
def test_bounds_are_those_of_the_whole_text(tmp_path, monkeypatch, window, special):
    monkeypatch.setattr(partition, "WINDOW", window)
    rng = random.Random(window)
    words = [
        "one",
        " two",
        "é",
        "日本",
        "日 ",
        "😀",
        " ",
        "  ",
        "<|end|>",
        "e w",
        "7",
        "12 ",
        "'s",
        "\n",
        "a\u0301",
        ".",
    ]
    for _ in range(amount(25, 1_000)):
        text = "".join(rng.choices(words, k=rng.choice((1, 3, 20))))
        source = source_of(tmp_path / "a.txt", text.encode())
        for at in range(-1, source.size + 2):
            assert boundary_after(source, at, special) == bound_in_the_whole(text, at, special), (text, at)


@pytest.mark.parametrize(
    ("content", "at", "place"),
    [
        (b"ab\xff cd", 1, 2),
        (b"\x80 ab cd", 3, 0),
        (b"0123456789\xff", 9, 10),
        ("日本語日本語日本語".encode() + b"\xff", 24, 27),
        (b"7" * 20 + b"\x80" * 4 + b" ab cd", 24, 20),  # no character goes on for so many bytes
        (b"7" * 20 + b"\x80" * 8 + b" ab cd", 24, 20),
    ],
)
def test_the_byte_that_is_no_utf8_is_named(tmp_path, content, at, place):
    source = source_of(tmp_path / "a.txt", content)
    with pytest.raises(
        CorpusError, match=rf"a\.txt: is not UTF-8: invalid start byte at byte {place}; convert the fil"
    ):
        boundary_after(source, at, NONE)


def test_a_character_that_the_end_cuts(tmp_path):
    source = source_of(tmp_path / "a.txt", b"7" * 20 + "日".encode()[:2])
    with pytest.raises(CorpusError, match="unexpected end of data at byte 20;"):
        boundary_after(source, 10, NONE)


def test_a_text_without_words_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(partition, "WINDOW", 4)
    monkeypatch.setattr(partition, "MAX_SEARCHED", 64)
    source = source_of(tmp_path / "a.txt", b"7" * 9_000 + b"ab cd")
    with pytest.raises(CorpusError, match=r"a\.txt: has no boundary, .* 64 bytes after byte 2,000; leave it out"):
        boundary_after(source, 2_000, NONE)
    assert boundary_after(source, 8_990, NONE) == 9_002


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    source = source_of(tmp_path / "a.txt", b"one two three")
    (tmp_path / "a.txt").unlink()
    with pytest.raises(CorpusError, match=r"a\.txt: can't be read: .*[Nn]o such file"):
        boundary_after(source, 4, NONE)

    def broken(path, seeks):
        raise OSError("the line is down")

    monkeypatch.setattr(partition, "open_path", broken)
    with pytest.raises(CorpusError, match=r"a\.txt: can't be read: the line is down$"):
        boundary_after(source, 4, NONE)
    assert [part.span for part in parts_of([source], 5, BoundaryKind.WORDS)] == [None]  # asked before a part is read


class OnlyForwards(io.BytesIO):
    """What some web servers give."""

    def seek(self, *place):
        raise OSError("no ranges here")


class Short(io.BytesIO):
    """What says that it has more than it has."""

    def read(self, *size):
        return b""


@pytest.mark.parametrize(("kind", "many"), [(io.BytesIO, True), (OnlyForwards, False), (Short, False)])
def test_a_file_without_ranges_is_one_part(tmp_path, monkeypatch, kind, many):
    source, asked = source_of(tmp_path / "a.txt", b"one two three"), []

    def opened(path, seeks):
        asked.append((path, seeks))
        return kind(b"one two three")

    monkeypatch.setattr(partition, "open_path", opened)
    found = parts_of([source], 5, BoundaryKind.WORDS)
    assert [part.span for part in found] == ([(0, 5), (5, 10), (10, 13)] if many else [None])
    assert asked == [(source.path, True)]
    boundary_after(source, 4, NONE) if many else None
    assert set(asked) == {(source.path, True)}


def test_texts_of_a_range(tmp_path):
    text = "one two three four " * 3
    source = source_of(tmp_path / "a.txt", text.encode())
    spans = [(0, 5), (5, 6), (6, 7), (7, 40), (40, source.size)]
    read = ["".join(texts_of(Part(source, span, 1), "text", BoundaryKind.WORDS, NONE)) for span in spans]
    assert "".join(read) == text and read[0] == "one two" and read[1] == ""
    assert list(texts_of(Part(source, (5, 6), 1), "text", BoundaryKind.WORDS, NONE)) == []
    assert list(texts_of(Part(source, None, 1), "text", BoundaryKind.NONE, NONE)) == [text]
    bad = source_of(tmp_path / "b.txt", b"one two\xff three")
    with pytest.raises(CorpusError, match=r"b\.txt.*UTF-8"):
        list(texts_of(Part(bad, None, 1), "text", BoundaryKind.WORDS, NONE))


def test_documents_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "BLOCK", 8)
    text = "one two<|end|> three four five"
    source = source_of(tmp_path / "a.jsonl", json.dumps({"text": text}).encode())
    assert list(texts_of(Part(source, None, 1), "text", BoundaryKind.NONE, SPECIAL)) == [text]
    read = list(texts_of(Part(source, None, 1), "text", BoundaryKind.WORDS, SPECIAL))
    assert "".join(read) == text and len(read) > 2 and any("<|end|>" in part for part in read)
