"""Every exercise of the book: its stub is no answer, its worked answer is right, and wrong answers are found out."""

import ast
import inspect
import itertools
import json
import re
from importlib import import_module

import pytest

from bpelab import exercises
from bpelab.exercises import EXERCISES, check, hint, solution
from bpelab.exercises.checker import check_answer
from bpelab.exercises.exercise import Exercise

from ..conftest import ROOT

WRONG = {}
for path in sorted((ROOT / "tests" / "exercises").glob("wrong_*.py")):
    WRONG |= import_module(f"tests.exercises.{path.stem}").WRONG
CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))


def cells(path):
    return [
        (cell["cell_type"], "".join(cell["source"])) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    ]


def asked(path) -> dict[str, tuple[str, str]]:
    """Exercise -> (title, text of the stub's cell), as they stand in a chapter."""
    stubs, current = {}, None
    for kind, text in cells(path):
        if kind == "markdown" and (match := re.search(r"\*\*Exercise (\w+\.\d+) \((.*?)\)\.\*\*", text)):
            current = match.groups()
        elif kind == "code" and current is not None:
            stubs[current[0]] = current[1], text
            current = None
    return stubs


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))
class TestEveryExercise:
    def test_is_declared_in_full(self, exercise: Exercise):
        assert exercise.hints
        assert exercise.level in ("easy", "medium", "hard")
        assert exercise.next_step
        assert "!" not in "".join(exercise.hints).replace("(?!", "")
        assert exercise.solution.__doc__
        assert exercise.heading.startswith(exercise.id)

    def test_its_stub_is_not_started(self, exercise: Exercise):
        space: dict[str, object] = {}
        exec(exercise.stub, space)
        right, message = check_answer(exercise, space[exercise.solution.__name__])
        assert not right
        assert "Not started" in repr(message)

    @pytest.mark.slow
    def test_what_never_answers_is_not_started(self, exercise: Exercise):
        def unwritten(*arguments):
            raise NotImplementedError

        for answer in (unwritten, lambda *arguments: print(end="")):
            right, message = check_answer(exercise, answer)
            assert not right
            assert "Not started" in repr(message)

    def test_its_solution_is_right(self, exercise: Exercise):
        right, message = check_answer(exercise, exercise.solution)
        assert right, message
        assert repr(message).startswith(f"{exercise.heading}: Right.")
        assert repr(message).endswith(exercise.next_step)

    def test_a_wrong_answer_is_found_out(self, exercise: Exercise):
        right, message = check_answer(exercise, WRONG[exercise.id][0])
        assert not right
        assert "Right." not in repr(message)

    @pytest.mark.slow
    def test_wrong_answers_are_found_out(self, exercise: Exercise):
        assert len(WRONG[exercise.id]) >= 2
        for answer in WRONG[exercise.id]:
            right, message = check_answer(exercise, answer)
            text = repr(message)
            assert not right, answer.__name__
            assert "got  " in text or " points; " in text or "Took too long" in text or "Raised" in text
            assert "0x7f" not in text
            assert repr(check_answer(exercise, answer)[1]) == text, "the answer is another the second time"

    def test_an_answer_of_another_kind_is_found_out(self, exercise: Exercise):
        for result in ("x", 10**5000, [[[]]], {1: {2}}, object(), float("nan")):
            right, message = check_answer(exercise, lambda *arguments, result=result: result)
            assert not right
            assert len(repr(message)) < 5_000

    def test_hints_and_solution_can_be_shown(self, exercise: Exercise):
        for number in range(1, len(exercise.hints) + 2):
            text = repr(hint(exercise.id))
            assert text.count("Hint ") == min(number, len(exercise.hints))
        assert "That was the last one" in text
        assert re.search(rf"(def|class) {exercise.solution.__name__}\b", solution(exercise.id)._repr_markdown_())
        assert "type: ignore" not in repr(solution(exercise.id))


def test_no_exercise_is_asked_twice():
    """No answer to one is right for another that is called with the same kind of arguments."""

    ways_to_encode = (
        {"heap.5", "trie.5"},
        {"encoding.6", "heap.6"},
    )  # each asks for BPE's ids, found in a way of its own

    def called_with(exercise):
        return [*inspect.signature(exercise.solution).parameters]

    for one, other in itertools.permutations(EXERCISES.values(), 2):
        if called_with(one) == called_with(other) and not one.rubric and {one.id, other.id} not in ways_to_encode:
            assert not check_answer(other, one.solution)[0], (one.id, other.id)


def test_every_wrong_answer_belongs_to_an_exercise():
    assert set(WRONG) == set(EXERCISES)


def test_every_exercise_stands_in_one_chapter():
    """And every exercise of a chapter that is checked at all is there, under the same title and name."""
    chapters = {path: asked(path) for path in CHAPTERS}
    checked = {exercise.chapter for exercise in EXERCISES.values()}
    for exercise in EXERCISES.values():
        homes = [stubs for stubs in chapters.values() if exercise.id in stubs]
        assert len(homes) == 1, exercise.id
    for path, stubs in chapters.items():
        if path.stem not in checked:
            continue
        for number, (title, text) in stubs.items():
            exercise = EXERCISES[number]
            assert exercise.title == title, number
            if exercise.stub_cell:
                assert exercise.stub_cell in text, number
                continue
            theirs, ours = ast.parse(text).body[0], ast.parse(exercise.stub).body[0]
            names = [[function.name, *(a.arg for a in function.args.args)] for function in (theirs, ours)]
            assert names[0] == names[1], number


def test_a_chapter_says_how_hard_each_exercise_is():
    said = {}
    for path in CHAPTERS:
        prose = "\n".join(text for kind, text in cells(path) if kind == "markdown")
        said |= dict(re.findall(r"\*\*Exercise (\w+\.\d+) \(.*?\)\.\*\* \*(\w+)\.\*", prose))
    assert said == {exercise.id: exercise.level.capitalize() for exercise in EXERCISES.values()}


def test_a_chapter_checks_the_exercise_that_it_asks():
    for path in CHAPTERS:
        current = None
        for kind, text in cells(path):
            if kind == "markdown" and (match := re.search(r"\*\*Exercise (\w+\.\d+) ", text)):
                current = match[1]
            for number in re.findall(r"\bcheck\(\"(\w+\.\d+)\"", text) if kind == "code" else ():
                assert number == current
                assert number in EXERCISES


def test_check_says_right_once_solved():
    lines = repr(check("training.1", EXERCISES["training.1"].solution)).splitlines()
    assert lines == ["training.1 (Room for merges): Right. Checked on 30 inputs.", EXERCISES["training.1"].next_step]


def test_chapters_are_in_the_order_of_the_book():
    listed = re.findall(r"file: book/(\w+)$", (ROOT / "_toc.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in listed if name in exercises.CHAPTERS] == list(exercises.CHAPTERS)
    solved = re.findall(r"file: book/solutions/(\w+)$", (ROOT / "_toc.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in solved if name != "index"] == list(exercises.CHAPTERS)
