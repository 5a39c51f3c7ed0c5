"""Exercises that check themselves: `check`, `hint`, `solution` and `progress`.

A chapter's exercises are in `chapters/NAME.py`, where NAME is the name of its notebook. The file is imported when one
of them is first needed. It may import the whole library and `notebook`. Begin with `exercise.py`.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import BPELabError

if TYPE_CHECKING:
    from ..notebook.messages import Message, Source
    from .exercise import Exercise
    from .own_report import OwnTokenizerReport

__all__ = [
    "CHAPTERS",
    "UnknownExerciseError",
    "check",
    "hint",
    "my_tokenizer",
    "progress",
    "solution",
    "what_you_built",
]

CHAPTERS = (
    *("start", "bytes", "subwords"),
    *("training", "encoding", "regex", "tiktoken", "special_tokens", "chat_templates", "drift"),
    "wordpiece_unigram",
    *("heap", "incremental", "trie", "native", "superwords", "streaming", "distributed", "production"),
    *("formats", "new_words", "measuring", "one_byte", "claims", "capstone", "model_answers", "chat"),
)
"""The chapters that have exercises, in the order of the book."""

_hint_counts: dict[str, int] = {}

if sys.platform == "emscripten":  # in a browser: readers' functions import the package `regex`
    from .browser_regex import install_stand_in

    install_stand_in()


class UnknownExerciseError(BPELabError, KeyError):
    """No exercise, or no chapter, has this name."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0])


@lru_cache(None)
def _load_chapter(chapter: str) -> "dict[str, Exercise]":
    return {exercise.id: exercise for exercise in import_module(f".chapters.{chapter}", __name__).EXERCISES}


class _Exercises(Mapping[str, "Exercise"]):
    """A lazy mapping of id -> exercise, in book order, that imports a chapter when it is first needed."""

    def __getitem__(self, exercise_id: str) -> "Exercise":
        chapter = str(exercise_id).partition(".")[0]
        exercises = _load_chapter(chapter) if chapter in CHAPTERS else {}
        if exercise_id in exercises:
            return exercises[exercise_id]
        names = f"its chapter has {', '.join(exercises)}" if exercises else f"the chapters are {', '.join(CHAPTERS)}"
        raise UnknownExerciseError(f"there is no exercise {exercise_id!r}; {names}")

    def __iter__(self) -> Iterator[str]:
        for chapter in CHAPTERS:
            yield from _load_chapter(chapter)

    def __len__(self) -> int:
        return sum(1 for _ in self)


EXERCISES: "Mapping[str, Exercise]" = _Exercises()


def check(exercise_id: str, answer: Any) -> "Message":
    """Check whether `answer`, a function or a value, solves an exercise; if not, show a small input on which it fails.

    Returns a message that a notebook displays and `print` prints. Whatever the answer does, the only errors raised are
    KeyboardInterrupt for a real Ctrl-C and UnknownExerciseError if there is no such exercise.

    >>> def room_for_merges(vocab_size, special_tokens):
    ...     return vocab_size - 256
    >>> print(check("training.1", room_for_merges))
    training.1 (Room for merges): Not yet. The smallest input found that shows the difference:
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


def my_tokenizer(chapter: str) -> "ModuleType":
    """Return the reader's own tokenizer up to the end of `chapter`, as a module of functions.

    They are read from `my_tokenizer.py` beside the notebook, where `check` saves right answers to the exercises under
    *Your own tokenizer*. Worked answers stand in for missing functions.

    >>> my_tokenizer("bytes").decode({b"h": 0, "é".encode(): 1}, [0, 1])
    'hé'

    Raises UnknownExerciseError if the book has no such chapter, and OwnFileError if the file doesn't run; both are
    BPELabErrors.
    """
    from .own_file import run_text, text_until

    if chapter not in CHAPTERS:
        raise UnknownExerciseError(f"there is no chapter {chapter!r}; choose one of {', '.join(CHAPTERS)}")
    return run_text(text_until(chapter))


def what_you_built(text: str | None = None) -> "OwnTokenizerReport":
    """Train the reader's own tokenizer on a text, and return a table: its lines, whose ids it has, its speed, its file.

    Without a text it takes the beginning of the book. Pass a text of your own to see what your tokenizer makes of it.

    Raises OwnFileError if the file doesn't run.
    """
    from .own_report import measure

    return measure(text)


def hint(exercise_id: str) -> "Message":
    """Return the hints shown so far and the next one. The count starts over when Python restarts.

    >>> print(hint("encoding.1"))  # doctest: +ELLIPSIS
    encoding.1 (By hand): Hint 1 of 2: Write the six letters down. The first merge in the list goes first...
    """
    from ..notebook.messages import Message

    exercise = EXERCISES[exercise_id]
    total = len(exercise.hints)
    count = _hint_counts[exercise_id] = _hint_counts.get(exercise_id, 0) + 1
    parts: list[str | tuple[str, ...]] = [
        f"Hint {number} of {total}: {text}" for number, text in enumerate(exercise.hints[:count], 1)
    ]
    if count > total:
        parts.append(f'That was the last one. `solution("{exercise_id}")` shows a worked answer.')
    return Message(exercise.heading, "note", parts)


def solution(exercise_id: str) -> "Source":
    """Return the worked answer, as source code.

    >>> print(solution("encoding.3").code.splitlines()[0])
    def all_places(model, piece):
    """
    from ..notebook.messages import Source

    exercise = EXERCISES[exercise_id]
    return Source(f"One answer to {exercise.heading}:", exercise.source)


def progress() -> "Message":
    """Show which exercises have been solved, one chapter a line.

    Progress is saved in a per-user file (see `progress_store.progress_file`). With the environment variable
    BPELAB_NO_PROGRESS=1 only exercises solved since Python started are shown, so the book is the same wherever it is
    built.
    """
    from ..notebook.messages import Message
    from .progress_store import is_saved, solved

    done = solved() & set(EXERCISES)
    chapters: dict[str, list[str]] = {}
    for exercise in EXERCISES.values():
        mark = "[x]" if exercise.id in done else "[ ]"
        chapters.setdefault(exercise.chapter, []).append(f"{mark} {exercise.id}")
    rows = tuple("   ".join(marks) for marks in chapters.values())
    where = "" if is_saved() else " Progress is not kept here: BPELAB_NO_PROGRESS is set."
    return Message("Exercises", "note", [f"{len(done)} of {len(EXERCISES)} solved.{where}", rows])
