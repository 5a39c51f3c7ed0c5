"""SentencePiece's normalizer in parts: the result of the whole for any map and symbols, and little that is held."""

import base64
import random

import pytest

from bpelab.normalizers import sentencepiece_stage
from bpelab.normalizers.charsmap import read_charsmap
from bpelab.normalizers.sentencepiece import SentencePieceNormalizer
from bpelab.normalizers.sentencepiece_stage import SentencePieceStage, _entries, _sides

from ..conftest import amount
from ..streaming.streams import cut
from ..texts.test_stages import shown
from .test_normalizers import charsmap

ENTRIES = {"½": "1/2", "ab": "c ", "a": "x", "abc": "", "\u3000": " ", "é": "e", "e\u0301": "e"}
BECOME = ["", " ", "  ", "x", "a ", " b", "▁", "ab", "é"]


def packed(entries: dict) -> str:
    return base64.b64encode(charsmap(entries)).decode()


def strings(rng: random.Random, most: int) -> list[str]:
    return ["".join(rng.choices("aab é▁", k=rng.randint(1, 3))) for _ in range(rng.randint(0, most))]


def test_random_maps():
    rng = random.Random(21)
    for _ in range(amount(250, 20_000)):
        entries = {string: rng.choice(BECOME) for string in strings(rng, 4)}
        flags = [rng.random() < 0.5 for _ in range(3)]
        normalizer = SentencePieceNormalizer(packed(entries) if entries else "", tuple(strings(rng, 3)), *flags)
        stage = SentencePieceStage(normalizer)
        for _ in range(12):
            text = "".join(rng.choices("aab  é▁c", k=rng.randint(0, 12)))
            *given, last = shown(stage, cut(rng, text))
            assert "".join(out for out, _ in given) + last == normalizer(text), (entries, normalizer, text)


def test_what_is_held():
    """The last character, a run of spaces, and what an entry or a symbol may go over."""
    stage = SentencePieceStage(SentencePieceNormalizer(packed(ENTRIES), ("de",)))
    assert shown(stage, ["x", "y", " ", " ", "z", "a", "b", "c", "z", "d", "e", "z"]) == [
        ("", "x"), ("▁x", "y"), ("y", " "), ("", "  "), ("", "  z"), ("▁z", "a"), ("", "ab"), ("", "abc"),
        ("", "abcz"), ("z", "d"), ("", "de"), ("", "dez"), "dez",
    ]  # fmt: skip
    assert shown(stage, ["xyz", ""]) == [("▁xy", "z"), ("", "z"), "z"]


def test_entries_of_a_map(monkeypatch):
    found = read_charsmap(packed(ENTRIES))
    assert sorted(_entries(found)) == sorted(ENTRIES)
    assert list(_entries(read_charsmap(packed({b"\xffa": "x"})))) == ["\ufffda"]
    sides = _sides(packed(ENTRIES))
    assert sides == ({"ab", "bc", "e\u0301"}, {"½", "b", "a", "c", "\u3000", "é", "\u0301"})
    longest = max(len(entry.encode()) for entry in ENTRIES)
    nodes = 1 + len({entry.encode()[:n] for entry in ENTRIES for n in range(1, longest + 1)})
    for name, enough in (("MOST_ENTRIES", nodes), ("LONGEST_ENTRY", longest)):
        with monkeypatch.context() as patched:
            patched.setattr(sentencepiece_stage, name, enough)
            assert sorted(_entries(found)) == sorted(ENTRIES)
            patched.setattr(sentencepiece_stage, name, enough - 1)
            with pytest.raises(OverflowError):
                list(_entries(found))


def test_of_too_many_entries_nothing_is_known(monkeypatch):
    monkeypatch.setattr(sentencepiece_stage, "MOST_ENTRIES", 3)
    stage = SentencePieceStage(SentencePieceNormalizer(packed({**ENTRIES, "only": "here"})))
    assert shown(stage, ["x y", "½"]) == [("", "x y"), ("", "x y½"), "▁x▁y1/2"]
