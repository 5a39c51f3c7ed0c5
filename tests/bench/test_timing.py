"""Arithmetic that can be done by hand, and the parts of a text."""

import gc

import pytest

from bpelab._support.gc_paused import gc_paused
from bpelab.bench import texts
from bpelab.bench.meters import timed
from bpelab.bench.summary import Row, Spread, paired_ratio, right_digest, speeds, spread
from bpelab.bench.texts import find_texts, read, split_documents, split_parts
from bpelab.errors import BPELabError


def sample(library, number, cpu, size=1_000_000, **other):
    facts = {"encoding": "e", "measure": "unseen", "text": "t", "output": "list", "threads": 1}
    return {
        **facts,
        "library": library,
        "round": number,
        "cpu": cpu,
        "wall": 9.0,
        "bytes": size,
        "calls": None,
        **other,
    }


def test_ratios_are_taken_within_rounds():
    """Rounds two and three are slow for both: the ratio of medians would say 4 / 1, the rounds say 2."""
    own, baseline = {0: 8.0, 1: 4.0, 2: 2.0}, {0: 4.0, 1: 2.0, 2: 1.0, 3: 100.0}
    assert paired_ratio(own, baseline) == Spread(2.0, 2.0, 2.0)
    assert paired_ratio({0: 6.0, 1: 5.0, 2: 8.0, 3: 7.0, 4: 9.0}, dict.fromkeys(range(5), 2.0)) == Spread(3.5, 3.0, 4.0)
    assert paired_ratio({0: 1.0}, {1: 1.0}) is None
    assert spread([3.0, 1.0]) == Spread(2.0, 1.0, 3.0)


def test_speeds_by_hand():
    samples = [sample("tiktoken", n, cpu) for n, cpu in enumerate((0.1, 0.2, 0.4))]
    samples += [sample("bpelab", n, cpu) for n, cpu in enumerate((0.02, 0.05, 0.05))]  # 5, 4 and 8 times as fast
    samples += [sample("naive Python", 0, 0.5, size=62_500)]  # given a sixteenth
    found = speeds({"samples": samples, "baseline": "tiktoken"})[Row("e", "unseen", "t", "list", 1)]
    assert found["tiktoken"].rate == pytest.approx(5.0)
    assert found["tiktoken"].times == Spread(1.0, 1.0, 1.0)
    assert found["bpelab"].rate == pytest.approx(20.0)
    assert found["bpelab"].times == pytest.approx(Spread(5.0, 4.5, 6.5))
    assert found["naive Python"].times.median == pytest.approx(0.0125)


def test_batches_go_by_the_clock_and_calls_are_counted():
    samples = [sample("tiktoken", 0, 1.0, measure="batch", wall=0.5), sample("x", 0, 0.1, measure="calls", calls=50)]
    found = speeds({"samples": samples, "baseline": "tiktoken"})
    assert found[Row("e", "batch", "t", "list", 1)]["tiktoken"].rate == pytest.approx(2.0)
    calls = found[Row("e", "calls", "t", "list", 1)]["x"]
    assert calls.call == pytest.approx(0.002)
    assert calls.times is None


def test_without_the_baseline_most_decide():
    found = {"a": "1", "b": "2", "c": "2"}
    samples = [
        {"measure": "pathological", "encoding": "e", "text": "t", "library": name, "digest": digest}
        for name, digest in found.items()
    ]
    assert right_digest({"samples": samples, "baseline": "tiktoken"}, "e", "t") == "2"
    assert right_digest({"samples": samples, "baseline": "a"}, "e", "t") == "1"


def test_clocks():
    result, cpu, wall = timed(lambda: sum(range(200_000)))
    assert result == sum(range(200_000))
    assert 0 < cpu < 60
    assert 0 < wall < 60
    with gc_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_parts_are_different_and_all_of_one_size(monkeypatch):
    text = "".join(f"number {n} " for n in range(2000))
    warm, several = split_parts(text, 5, 1000)
    assert len(several) == 5
    joined = [*warm, *several]
    assert len(set(joined)) == len(joined) == len(text) // 1000
    assert all(900 < len(part) <= 1000 and part == part.rstrip() for part in joined)
    assert text.startswith(warm[0])
    assert [len(kind) for kind in split_parts("short text", 3, 1000)] == [2, 3]
    monkeypatch.setattr(texts, "WARM_UP_BYTES", 3000)
    assert split_parts(text, 5, 1000) == (warm[:3], joined[3:8])


def test_documents_are_measured_in_bytes():
    assert {len(document.encode()) for document in split_documents("日本語" * 2000, 300)[:-1]} == {300}
    assert split_documents("   ", 300) == []


def test_texts(tmp_path):
    import lzma

    for name, size in (("small_1kB.txt", 1_000), ("big_3MB.txt", 3_000_000)):
        (tmp_path / name).write_text("x " * (size // 2), "utf-8")
    (tmp_path / "english_2MB.txt.xz").write_bytes(lzma.compress(b"word " * 500_000))
    assert [text.name for text in find_texts(tmp_path)] == ["english", "code", "big"]
    assert [text.name for text in find_texts(None, max_chars=1000)] == ["book", "code"]
    (text,) = find_texts(tmp_path, [f"mine={tmp_path / 'small_1kB.txt'}"])
    assert (text.name, text.bytes) == ("mine", 1000)
    (tmp_path / "latin.txt").write_bytes(b"\xff")
    (tmp_path / "broken.txt.xz").write_bytes(b"no archive")
    (tmp_path / "empty.txt").write_bytes(b"")
    for name in ("latin.txt", "broken.txt.xz", "empty.txt", "missing.txt"):
        with pytest.raises(BPELabError, match=r"the text it"):
            read("it", tmp_path / name)
    with pytest.raises(BPELabError, match="NAME=FILE"):
        find_texts(None, ["nothing"])
    with pytest.raises(BPELabError, match="not a folder"):
        find_texts(tmp_path / "elsewhere")


def test_no_text_means_a_special_token(tmp_path):
    (tmp_path / "text.txt").write_text("a <|endoftext|> b <|im_start|>", "utf-8")
    assert "<|" not in read("it", tmp_path / "text.txt").content
    assert all("<|" not in text.content for text in find_texts(None))
