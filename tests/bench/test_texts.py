"""Which texts a run takes, and the parts, documents and lines that it cuts out of them."""

import pytest

from bpelab.bench import texts
from bpelab.bench.texts import find_texts, read, split_documents, split_lines, split_parts, split_short
from bpelab.errors import BPELabError


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


def test_lines_are_measured_in_bytes():
    text = "short\n" + "日本語" * 100 + "\n" + "x" * 60 + "\n\n" + "y" * 201
    lines = split_lines(text)
    assert all(50 <= len(line.encode()) <= 200 for line in lines)
    assert "".join(lines) == "日本語" * 100 + "x" * 60 + "y" * 120 + "y" * 81
    assert split_lines("short\n\n") == []
    assert split_short("word " * 30_000) == ["word " * 11 + "word"] * 2_000


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


def test_code_is_what_can_be_read_of_the_standard_library(monkeypatch, tmp_path):
    for name, content in (
        ("a.py", b"a = 1\n" * 9),
        ("b.py", b"b = 2\n" * 9),
        ("latin.py", b"# \xff"),
        ("test/c.py", b"c"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(texts.sysconfig, "get_path", lambda _: str(tmp_path))
    assert sorted(texts.stdlib_sources().split()) == sorted(("a = 1 " * 9 + "b = 2 " * 9).split())
    assert texts.stdlib_sources(10) in ("a = 1\n" * 9, "b = 2\n" * 9)
