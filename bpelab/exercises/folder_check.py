"""The check of an exercise that asks for a folder: score it by the exercise's rubric."""

import inspect
import os
import tempfile
from typing import Any

from ..notebook.messages import Message, short
from .exercise import Exercise
from .explanation import explain, not_started
from .limits import LimitedCall, is_empty
from .plain_data import to_plain
from .rubric import NotEarned, Rubric
from .trial import Trial


def check_folder(exercise: Exercise, rubric: Rubric, answer: Any) -> tuple[bool, Message]:
    """Score a folder, or the folder that a function returns; return whether it passes, and a message to its author.

    A function receives an empty folder to work in, which is deleted afterwards. It runs without limits.
    """
    if inspect.isfunction(answer) and is_empty(answer.__code__):
        return False, not_started(exercise)
    with tempfile.TemporaryDirectory(prefix="bpelab-", ignore_cleanup_errors=True) as home:

        def work() -> Any:
            folder = answer(home) if callable(answer) else answer
            return to_plain(os.fspath(folder) if isinstance(folder, os.PathLike) else folder)

        with LimitedCall() as guard:
            outcome = guard.call(work, limited=False)  # training on a corpus may take minutes
        if outcome.is_stub or (outcome.kind == "returned" and (outcome.value is None or outcome.value is Ellipsis)):
            return False, not_started(exercise)
        if outcome.kind != "returned":
            return False, explain(exercise, Trial((home,), outcome, outcome.kind, False))
        return _score(exercise, rubric, outcome.value)


def _score(exercise: Exercise, rubric: Rubric, folder: Any) -> tuple[bool, Message]:
    try:
        scores = rubric.scores(folder)
    except NotEarned as error:
        return False, Message(
            exercise.heading, "fault", [f"Not yet: {error.to_do}.", (f"got  {short(error.finding)}",)]
        )
    points = sum(score.earned for score in scores)
    right = points >= rubric.pass_mark
    lead = f"{'Right' if right else 'Not yet'}. {points} of {rubric.total} points; {rubric.pass_mark} are needed."
    block = tuple(line for score in scores for line in score.lines)
    after = (exercise.next_step,) if right else ()
    return right, Message(exercise.heading, "right" if right else "fault", [lead, block, *after])
