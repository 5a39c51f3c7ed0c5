"""Exercises that check themselves: `check`, `hint`, `solution` and `progress`.

The exercises of a chapter are in `chapter_NN.py`, and are loaded when one of them is asked for.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ..errors import BPELabError

if TYPE_CHECKING:
    from .engine import Exercise
    from .show import Message, Source

__all__ = ["EXERCISES", "UnknownExerciseError", "check", "hint", "progress", "solution"]

_hints_given: dict[str, int] = {}


class UnknownExerciseError(BPELabError, KeyError):
    """There is no exercise with this number."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0])


@lru_cache(1)
def _chapters() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(__path__) if module.name.startswith("chapter_")))


@lru_cache(None)
def _of_chapter(module: str) -> "dict[str, Exercise]":
    return {exercise.id: exercise for exercise in import_module(f".{module}", __name__).EXERCISES}


class _Exercises(Mapping[str, "Exercise"]):
    """id -> exercise, in the order of the book. A chapter is imported when first needed."""

    def __getitem__(self, exercise_id: str) -> "Exercise":
        chapter = str(exercise_id).partition(".")[0]
        module = f"chapter_{chapter.zfill(2)}"
        if module in _chapters() and exercise_id in _of_chapter(module):
            return _of_chapter(module)[exercise_id]
        known = ", ".join(_of_chapter(module)) if module in _chapters() else ""
        places = f"chapter {chapter} has {known}" if known else f"there are {', '.join(self)}"
        raise UnknownExerciseError(f"there is no exercise {exercise_id!r}; {places}")

    def __iter__(self) -> Iterator[str]:
        for module in _chapters():
            yield from _of_chapter(module)

    def __len__(self) -> int:
        return sum(1 for _ in self)


EXERCISES: "Mapping[str, Exercise]" = _Exercises()


def check(exercise_id: str, answer: Any) -> "Message":
    """Whether `answer`, a function or a value, solves an exercise; if not, a small input that shows why.

    It returns what a notebook displays and `print` prints. It raises nothing, whatever the answer does, except
    KeyboardInterrupt for a real Ctrl-C and UnknownExerciseError for a number that no exercise has.

    >>> def room_for_merges(vocab_size, special_tokens):
    ...     return vocab_size - 256
    >>> print(check("3.1", room_for_merges))
    3.1 (Room for merges): Not yet. The smallest input found that shows the difference:
        room_for_merges(0, [])
        expected  -1
        got       -256
    """
    from .engine import examine
    from .record import remember

    exercise = EXERCISES[exercise_id]
    right, message = examine(exercise, answer)
    if right:
        remember(exercise_id)
    return message


def hint(exercise_id: str) -> "Message":
    """The next hint, below those that were given before. Python remembers how many until it ends.

    >>> print(hint("4.1"))
    4.1 (By hand): Hint 1 of 2: Write the six letters down. The first merge in the list goes first, wherever it stands.
    """
    from .show import Message

    exercise = EXERCISES[exercise_id]
    total = len(exercise.hints)
    given = _hints_given[exercise_id] = _hints_given.get(exercise_id, 0) + 1
    parts: list[str | tuple[str, ...]] = [
        f"Hint {number} of {total}: {text}" for number, text in enumerate(exercise.hints[:given], 1)
    ]
    if given > total:
        parts.append(f'That was the last one. `solution("{exercise_id}")` shows a worked answer.')
    return Message(exercise.heading, "note", parts)


def solution(exercise_id: str) -> "Source":
    """The worked answer.

    >>> print(solution("4.3").code.splitlines()[0])
    def all_places(model, piece):
    """
    from .show import Source

    exercise = EXERCISES[exercise_id]
    return Source(f"One answer to {exercise.heading}:", exercise.source)


def progress() -> "Message":
    """Which exercises have been solved, chapter by chapter.

    Kept in a file of the user's (see `record.progress_file`). With the environment variable BPELAB_NO_PROGRESS=1
    only those solved since Python started are shown, so a book built with it is the same everywhere.
    """
    from .record import is_kept, solved
    from .show import Message

    done = solved() & set(EXERCISES)
    chapters: dict[int, list[str]] = {}
    for exercise in EXERCISES.values():
        mark = "[x]" if exercise.id in done else "[ ]"
        chapters.setdefault(exercise.chapter, []).append(f"{mark} {exercise.id}")
    rows = tuple(f"chapter {chapter:2}   {'   '.join(marks)}" for chapter, marks in chapters.items())
    where = "" if is_kept() else " Progress is not kept here: BPELAB_NO_PROGRESS is set."
    return Message("Exercises", "note", [f"{len(done)} of {len(EXERCISES)} solved.{where}", rows])
