"""Files that are counted as bytes: the words and the errors are those of texts that were decoded."""

import random
import re
from itertools import product

import pytest

from bpelab import BPETokenizer, TrainingError, native
from bpelab.boundaries.named_patterns import BoundaryKind, iter_boundaries
from bpelab.pretokenizers import Split
from bpelab.trainers.counting import corpus, undecoded
from bpelab.trainers.counting.corpus import count_pre_tokens, training_texts
from bpelab.trainers.counting.native import NativeCounter, count_native
from bpelab.trainers.counting.undecoded import last_boundary_of_bytes, parts_of_file, undecoded_texts
from bpelab.vocab.special_tokens import SpecialTokens

from ...conftest import amount

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")

NONE = SpecialTokens({})
PARTS = [
    "the cat's hat ",
    "naïve ",
    "日本語。",
    "नमस्ते ",
    "a",
    "aaaaaaaaaaaa",
    "12",
    ", ",
    "\r\n",
    "🙂",
    "e\u0301 ",
    ",, x",
]


def as_bytes(path, split, special=NONE, normalize=None, told=None):
    told = [] if told is None else told
    return list(undecoded_texts(path, split, special, normalize, told.append))


@pytest.fixture
def small(monkeypatch):
    """Blocks of a few bytes, so that characters and words go over their ends."""
    monkeypatch.setattr(undecoded, "BLOCK", 29)
    monkeypatch.setattr(undecoded, "WINDOW", 17)
    monkeypatch.setattr(corpus, "BLOCK", 31)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "superbpe"])
def test_parts_are_cut_at_boundaries_and_counted_alike(name, small, tmp_path):
    rng, path, split = random.Random(70), tmp_path / "a.txt", Split(name)
    kind, several = (BoundaryKind.PHRASES if name == "superbpe" else BoundaryKind.WORDS), 0
    for _ in range(amount(150, 10_000)):
        text = "".join(rng.choices(PARTS, k=rng.randrange(40)))
        path.write_bytes(text.encode())
        parts = as_bytes(path, split)
        assert b"".join(parts) == text.encode() and set(map(type, parts)) == {bytes}
        offsets, at = {*iter_boundaries(text, 0, kind)}, 0
        for part in parts[:-1]:
            at += len(part.decode())
            assert at in offsets
        several += len(parts) > 2
        assert count_native(parts, split, threads=1).as_dict() == dict(count_pre_tokens(path, split, NONE))
    assert several > 20


@pytest.mark.parametrize("name", ["gpt2", "superbpe"])
def test_the_merges_of_a_file_are_those_of_its_text_learned_in_python(name, small, tmp_path):
    rng = random.Random(71)
    for number in range(amount(4, 60)):
        text = "".join(rng.choices(PARTS, k=300))
        (path := tmp_path / f"{number}.txt").write_bytes(text.encode())
        slow = BPETokenizer.train(text, 320, pattern=name, trainer="incremental")
        assert BPETokenizer.train(path, 320, pattern=name).model == slow.model
        assert BPETokenizer.train(iter([path]), 320, pattern=name).model == slow.model


def test_what_is_decoded_nevertheless(tmp_path):
    path, split = tmp_path / "a.txt", Split("gpt2")
    path.write_text("ab cd<|end|> ef", encoding="utf-8")
    assert as_bytes(path, split) == [b"ab cd<|end", b"|> ef"]
    assert as_bytes([path, path], split) == [b"ab cd<|end", b"|> ef"] * 2
    special = SpecialTokens({"<|end|>": 0})
    for given in (
        (path, split, special, None),
        (path, split, NONE, str.upper),
        (path, None, NONE, None),
        (path, Split("[a-z]+"), NONE, None),
        ("ab cd", split, NONE, None),
        (["ab", "cd"], split, NONE, None),
    ):
        assert as_bytes(*given) == list(training_texts(*given))
    (records := tmp_path / "a.jsonl").write_text('{"text": "ab"}\n{"text": "cd"}\n')
    assert as_bytes(records, split) == ["ab", "cd"]
    (unnamed := tmp_path / "a.json").write_text('{"text": "ab"}\n{"text": "cd"}\n')
    with pytest.raises(TrainingError, match="holds JSON Lines"):
        as_bytes(unnamed, split)
    told: list[int] = []
    as_bytes(path, split, told=told)
    assert sum(told) == path.stat().st_size


WRONG = [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xc0\x80", b"\xf0\x80\x80\x80"]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_not_utf8_is_refused_as_it_is_when_decoded(wrong, small, tmp_path):
    rng, path = random.Random(72), tmp_path / "a.txt"
    for _ in range(amount(30, 2_000)):
        before, after = ("".join(rng.choices(PARTS, k=rng.randrange(20))).encode() for _ in range(2))
        path.write_bytes(before + wrong + after)
        with pytest.raises(TrainingError) as slow:
            list(training_texts(path, Split("gpt2"), NONE))
        with pytest.raises(TrainingError, match=f"^{re.escape(str(slow.value))}$"):
            as_bytes(path, Split("gpt2"))


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "none.txt"):
        with pytest.raises(TrainingError, match="can't be read"):
            list(parts_of_file(path, BoundaryKind.WORDS))
    (tmp_path / "empty.txt").write_bytes(b"")
    assert list(parts_of_file(tmp_path / "empty.txt", BoundaryKind.WORDS)) == [b""]
    with pytest.raises(TrainingError, match="the corpus is empty"):
        BPETokenizer.train(tmp_path / "empty.txt", 300)


def test_a_file_without_boundaries_is_searched_in_proportion_to_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(undecoded, "BLOCK", 1_000)
    monkeypatch.setattr(undecoded, "WINDOW", 100)
    searched: list[int] = []
    find = undecoded.last_boundary
    monkeypatch.setattr(
        undecoded, "last_boundary", lambda text, end, kind: searched.append(len(text)) or find(text, end, kind)
    )
    for size in (10_000, 40_000):
        searched.clear()
        (tmp_path / "a.txt").write_bytes(b"ACGT" * (size // 4))
        assert list(parts_of_file(tmp_path / "a.txt", BoundaryKind.WORDS)) == [b"ACGT" * (size // 4)]
        assert sum(searched) == size // 10


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_utf8_is_what_python_decodes():
    from bpelab.native import _core

    edges = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF]
    edges += [0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
    for before in (b"", b"a" * 14):
        for pair in product(range(256), repeat=2):
            assert _core.is_utf8(before + bytes(pair)) == is_utf8(bytes(pair))
        for length in (0, 1, 3, 4):
            for some in product(edges, repeat=length) if length < 4 else product(edges[-8:], edges, edges, edges):
                assert _core.is_utf8(before + bytes(some)) == is_utf8(bytes(some)), some
    rng = random.Random(73)
    for _ in range(amount(2_000, 100_000)):
        data = bytearray("".join(rng.choices(PARTS, k=rng.randrange(12))).encode())
        if data and rng.random() < 0.7:
            data[rng.randrange(len(data))] = rng.choice(edges)
        assert _core.is_utf8(data) == is_utf8(data)
    with pytest.raises(TypeError):
        _core.is_utf8("text")


def test_bytes_and_texts_are_counted_alike():
    texts = ["the cat's hat", "naïve 日本語", "", "🙂 🙂"]
    for split in (Split("gpt2"), None, Split("(?=b)a*b|a")):
        one, two, mixed = NativeCounter(split), NativeCounter(split), NativeCounter(split)
        one.feed(texts)
        two.feed([text.encode() for text in texts])
        mixed.feed([text.encode() if number % 2 else text for number, text in enumerate(texts)])
        assert one.table().as_dict() == two.table().as_dict() == mixed.table().as_dict()
    for wrong in WRONG:
        counter = NativeCounter(Split("gpt2"))
        with pytest.raises(ValueError, match=r"^the bytes of a text are not UTF-8$"):
            counter.feed([b"good", b"a" * 20 + wrong])
        counter.feed([b"good"])
        assert counter.table().as_dict() == {b"good": 1}


def test_the_last_boundary_of_bytes():
    assert last_boundary_of_bytes("zwei Wörter".encode(), BoundaryKind.WORDS) == 4
    assert (
        last_boundary_of_bytes(b"two words, \xe6\x97", BoundaryKind.WORDS) == 9
    )  # a character that goes on in the next block
    assert last_boundary_of_bytes(b"\x97\xa5 two", BoundaryKind.WORDS) == 0
    assert last_boundary_of_bytes(b"\x97\xa5two ", BoundaryKind.WORDS) == 5
    assert last_boundary_of_bytes(b"", BoundaryKind.WORDS) == last_boundary_of_bytes(b"\x80", BoundaryKind.WORDS) == 0
