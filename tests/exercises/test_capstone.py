"""The rubric of exercise capstone.4: a folder with one thing wrong with it loses the points for that, and no others."""

import json
import os
from pathlib import Path

import pytest

from bpelab.exercises import check, submission
from bpelab.exercises.capstone import RUBRIC
from bpelab.publishing.folder import write_hashes

from ..conftest import amount
from . import wrong_capstone as made

pytest.importorskip("transformers")


def lost(folder):
    """The names of the points that are not earned."""
    return {score.point.name for score in RUBRIC.scores(str(folder)) if score.to_do}


def kind(name):
    return lambda home: made.written(home, name)


def without(name):
    def answer(home):
        folder = made.written(home)
        (folder / name).unlink()
        write_hashes(folder)
        return folder

    return answer


def edited(name, old, new):
    return lambda home: made.edited(home, name, old, new)


def unlisted(home):
    folder = made.written(home)
    (folder / "later.txt").write_text("added", encoding="utf-8")
    return folder


def alone(home):
    folder = made.written(home)
    for path in folder.glob("harbour.*"):
        path.unlink()
    write_hashes(folder)
    return folder


def another_pattern(home):
    """No id changes in any text here, since no token has three digits; the pattern itself says it."""
    return made.edited(home, "tokenizer.json", "{1,3}", "{1,2}")


FAULTS = {
    "good": (kind("good"), set()),
    "bytes are lost": (made.lossy, {"comes back"}),
    "formats disagree": (made.formats_disagree, {"one tokenizer"}),
    "false numbers": (made.false_numbers, {"is true"}),
    "forged by text": (made.forged_by_text, {"safe"}),
    "another pattern": (another_pattern, {"one tokenizer", "says what is missing"}),
    "normalized": (kind("normalized"), {"comes back", "one tokenizer", "says what is missing"}),
    "text between turns": (kind("text between turns"), {"safe"}),
    "no template": (kind("no template"), {"chats"}),
    "no end of text": (kind("no end"), {"safe"}),
    "nothing special": (kind("no special"), {"safe", "chats"}),
    "small": (kind("tiny"), {"compresses"}),
    "tokens that no text gives": (kind("cut otherwise"), {"reaches", "compresses"}),
    "a row is gone": (edited("README.md", "| tokens per word |", "| words |"), {"is true"}),
    "losses are not said": (edited("README.md", "pattern, special tokens", "special tokens"), {"says what is missing"}),
    "one format": (alone, {"one tokenizer", "says what is missing"}),
    "a file came later": (unlisted, {"is whole"}),
    "no card": (without("README.md"), {"says what is missing", "is true"}),
    "no text": (without("held-out.txt"), {"compresses", "is true"}),
    "no hashes": (lambda home: [made.written(home), (Path(home, "harbour", "SHA256SUMS")).unlink()][0], {"is whole"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAULTS)[: amount(8, 99)])
def test_a_fault_costs_its_points_and_no_others(name, tmp_path):
    answer, expected = FAULTS[name]
    assert lost(answer(tmp_path)) == expected


def test_what_harms_others_is_not_enough():
    """Each of the four that the chapter names costs more than may be lost."""
    points = {point.name: point.points for point in RUBRIC.points}
    for name in ("comes back", "safe", "one tokenizer", "is true"):
        assert RUBRIC.total - points[name] < RUBRIC.pass_mark
    assert RUBRIC.total == 20


@pytest.mark.slow
def test_a_folder_is_checked_as_it_is(tmp_path, monkeypatch):
    made.written(tmp_path)
    monkeypatch.chdir(tmp_path)
    for folder in ("harbour", Path("harbour"), str(tmp_path / "harbour")):
        assert repr(check("capstone.4", folder)).startswith("capstone.4 (Your own tokenizer): Right. 20 of 20 points")


@pytest.mark.parametrize("error", [ZeroDivisionError, SystemExit, KeyboardInterrupt, MemoryError])
def test_a_function_that_fails_is_told(error):
    def answer(home):
        print("so far")
        raise error

    text = repr(check("capstone.4", answer))
    assert text.startswith("capstone.4 (Your own tokenizer): ")
    assert error.__name__ in text or "too much memory" in text
    assert "my_tokenizer(home)" in text
    assert "so far" in text


def test_a_function_works_in_an_empty_folder_that_goes_away():
    homes = []

    def answer(home):
        homes.append(Path(home))
        assert list(Path(home).iterdir()) == []
        (Path(home) / "half").mkdir()
        return Path(home) / "half"

    assert " 0 of 20 points" in repr(check("capstone.4", answer))
    assert not homes[0].exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[" * 100_000, b"\xff\xfe", b'{"model": {"type": "BPE", "vocab": {"a": 99999999999}, "merges": []}}'],
)
def test_broken_files_cost_points_and_raise_nothing(tmp_path, content):
    folder = made.written(tmp_path)
    for name in ("tokenizer.json", "README.md", "held-out.txt", "harbour.gguf", "SHA256SUMS"):
        (folder / name).write_bytes(content)
    text = repr(check("capstone.4", folder))
    assert " 0 of 20 points" in text
    assert len(text) < 15_000
    assert str(tmp_path) not in text.replace(str(folder), "")


@pytest.mark.skipif(os.name == "nt", reason="needs links and pipes")
def test_what_is_no_file_is_not_read(tmp_path):
    folder = made.written(tmp_path)
    (folder / "README.md").unlink()
    os.mkfifo(folder / "README.md")
    assert {"is true", "is whole"} <= lost(folder)
    (folder / "README.md").unlink()
    (folder / "held-out.txt").unlink()
    with (folder / "held-out.txt").open("wb") as file:
        file.truncate(2**40)  # no bytes on the disk, and a million million when read
    assert {"is true", "compresses"} <= lost(folder)


def test_a_library_that_never_ends_costs_points(tmp_path, monkeypatch):
    monkeypatch.setattr(submission, "TIMEOUT", 0.5)
    monkeypatch.setattr(submission, "ENCODE_SCRIPT", "import time; time.sleep(600)")
    scores = {score.point.name: score for score in RUBRIC.scores(str(made.written(tmp_path)))}
    assert "tokenizers had not finished" in scores["opens"].finding
    assert {name for name, score in scores.items() if score.to_do} == {"opens"}


def test_code_in_a_folder_is_not_run(tmp_path):
    folder = made.written(tmp_path)
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["auto_map"] = {"AutoTokenizer": ["code.Mine", None]}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "code.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\nclass Mine: pass\n", encoding="utf-8")
    RUBRIC.scores(str(folder))
    assert not (tmp_path / "run").exists()
