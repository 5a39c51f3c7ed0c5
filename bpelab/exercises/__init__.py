"""Exercises that check themselves: `check`, `hint`, `solution` and `progress`.

The exercises of a chapter are in `chapter_NN.py`, which is imported when one of them is first needed. It may import the
whole library and `notebook`. Begin with `checker.py`.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import BPELabError

if TYPE_CHECKING:
    from ..notebook.messages import Message, Source
    from .checker import Exercise

__all__ = ["EXERCISES", "UnknownExerciseError", "check", "hint", "my_tokenizer", "progress", "solution"]

_hints_given: dict[str, int] = {}


class UnknownExerciseError(BPELabError, KeyError):
    """No exercise has this number."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0])


@lru_cache(1)
def _chapters() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(__path__) if module.name.startswith("chapter_")))


@lru_cache(None)
def _load_chapter(module: str) -> "dict[str, Exercise]":
    return {exercise.id: exercise for exercise in import_module(f".{module}", __name__).EXERCISES}


class _Exercises(Mapping[str, "Exercise"]):
    """A mapping of id -> exercise, in the order of the book, that imports a chapter when first needed."""

    def __getitem__(self, exercise_id: str) -> "Exercise":
        chapter = str(exercise_id).partition(".")[0]
        module = f"chapter_{chapter.zfill(2)}"
        if module in _chapters() and exercise_id in _load_chapter(module):
            return _load_chapter(module)[exercise_id]
        known = ", ".join(_load_chapter(module)) if module in _chapters() else ""
        available = f"chapter {chapter} has {known}" if known else f"there are {', '.join(self)}"
        raise UnknownExerciseError(f"there is no exercise {exercise_id!r}; {available}")

    def __iter__(self) -> Iterator[str]:
        for module in _chapters():
            yield from _load_chapter(module)

    def __len__(self) -> int:
        return sum(1 for _ in self)


EXERCISES: "Mapping[str, Exercise]" = _Exercises()


def check(exercise_id: str, answer: Any) -> "Message":
    """Check whether `answer`, a function or a value, solves an exercise; if not, show a small input on which it fails.

    Returns a message that a notebook displays and `print` prints. Raises nothing, whatever the answer does, except
    KeyboardInterrupt for a real Ctrl-C and UnknownExerciseError for a number that no exercise has.

    >>> def room_for_merges(vocab_size, special_tokens):
    ...     return vocab_size - 256
    >>> print(check("3.1", room_for_merges))
    3.1 (Room for merges): Not yet. The smallest input found that shows the difference:
        room_for_merges(0, [])
        expected  -1
        got       -256
    """
    from .checker import check_answer
    from .own_file import STEPS, OwnFileError, keep
    from .progress_store import remember

    exercise = EXERCISES[exercise_id]
    right, message = check_answer(exercise, answer)
    if right:
        remember(exercise_id)
        if exercise_id in STEPS:
            try:
                message.parts[1:1] = filter(None, [keep(exercise, answer)])
            except OwnFileError as error:
                message.parts.insert(1, f"It is not in your file: {error}.")
    return message


def my_tokenizer(chapter: int) -> "ModuleType":
    """Return the reader's own tokenizer as far as `chapter`, as a module of functions.

    They are read from `my_tokenizer.py` beside the notebook, where `check` keeps right answers to the last exercise of
    a chapter. A function that isn't there is the worked answer's.

    >>> my_tokenizer(1).decode({b"h": 0, "é".encode(): 1}, [0, 1])
    'hé'

    Raises OwnFileError (a BPELabError) for a file that doesn't run.
    """
    from .own_file import run_text, text_until

    return run_text(text_until(chapter))


def hint(exercise_id: str) -> "Message":
    """Return the hints given so far and the next one. The count lasts until Python ends.

    >>> print(hint("4.1"))
    4.1 (By hand): Hint 1 of 2: Write the six letters down. The first merge in the list goes first, wherever it occurs.
    """
    from ..notebook.messages import Message

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
    """Return the worked answer, as source code.

    >>> print(solution("4.3").code.splitlines()[0])
    def all_places(model, piece):
    """
    from ..notebook.messages import Source

    exercise = EXERCISES[exercise_id]
    return Source(f"One answer to {exercise.heading}:", exercise.source)


def progress() -> "Message":
    """Show which exercises have been solved, chapter by chapter.

    Progress is kept in a file of the user's (see `progress_store.progress_file`). With the environment variable
    BPELAB_NO_PROGRESS=1 only exercises solved since Python started are shown, so a book built with it is the same
    everywhere.
    """
    from ..notebook.messages import Message
    from .progress_store import is_saved, solved

    done = solved() & set(EXERCISES)
    chapters: dict[int, list[str]] = {}
    for exercise in EXERCISES.values():
        mark = "[x]" if exercise.id in done else "[ ]"
        chapters.setdefault(exercise.chapter, []).append(f"{mark} {exercise.id}")
    rows = tuple(f"chapter {chapter:2}   {'   '.join(marks)}" for chapter, marks in chapters.items())
    where = "" if is_saved() else " Progress is not kept here: BPELAB_NO_PROGRESS is set."
    return Message("Exercises", "note", [f"{len(done)} of {len(EXERCISES)} solved.{where}", rows])
