"""The checker: decides whether an answer is right, and if not, finds a small input that shows its author why.

An answer is called on the exercise's inputs, from small to large, each time on a fresh copy, and its result is compared
with the worked answer's. After the first fault the input is shrunk step by step as long as the fault persists: a bug is
easier to understand on `aab` than on a page of text.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any

from ..notebook.messages import Message
from .exercise import Exercise
from .explanation import explain, not_started
from .folder_check import check_folder
from .limits import LimitedCall, is_empty
from .shrink import smaller_inputs
from .trial import Trial, try_once

STATES = {"right": "solved", "fault": "not solved yet", "note": "not started"}
"""What a message's frame says about the exercise, by the message's tone."""
MAX_SHRINK_TRIES = 200
"""How many smaller inputs are tried; none after an exceeded limit, since each try would take as long again."""


def check_answer(exercise: Exercise, answer: Any) -> tuple[bool, Message]:
    """Check an answer; return whether it is right, and a message to its author."""
    try:
        right, message = _examine(exercise, answer)
        message.labels = (exercise.level, STATES[message.tone])
        return right, message
    except ImportError as error:  # of the worked answer; an answer's own errors are reported
        text = f"This exercise can't be checked here: it needs the package {error.name}, which is not installed."
        return False, Message(exercise.heading, "note", [text])


def _examine(exercise: Exercise, answer: Any) -> tuple[bool, Message]:
    if exercise.rubric is not None:
        return check_folder(exercise, exercise.rubric, answer)
    if not callable(answer):
        if answer is None or answer is Ellipsis:
            return False, not_started(exercise)
        if not exercise.takes_value:
            name = exercise.solution.__name__
            text = f'This exercise asks for a function: `check("{exercise.id}", {name})`, without calling it.'
            return False, Message(exercise.heading, "fault", [text])
        value, answer = answer, lambda: value
    elif inspect.isfunction(answer) and is_empty(answer.__code__):
        return False, not_started(exercise)
    first: Trial | None = None
    started, tries = False, 0
    with LimitedCall(exercise.limits) as guard:
        for arguments in exercise.inputs():
            trial = try_once(exercise, answer, arguments, guard)
            tries += 1
            started = started or not trial.blank
            if trial.fault and first is None:
                first = trial
            if first is not None and started:
                break
        if first is None:
            inputs = f" Checked on {tries} inputs." if tries > 1 else ""
            return True, Message(exercise.heading, "right", [f"Right.{inputs}", exercise.next_step])
        if not started:
            return False, not_started(exercise)
        return False, explain(exercise, shrink(exercise, answer, first, guard))


def shrink(exercise: Exercise, answer: Callable[..., Any], trial: Trial, guard: LimitedCall) -> Trial:
    """Find the smallest input that shows the same fault; return that trial."""
    tries = MAX_SHRINK_TRIES if trial.fault in ("wrong", "raised") else 0
    again = True
    while again:
        again = False
        for arguments in smaller_inputs(trial.arguments):
            if tries <= 0:
                return trial
            try:
                if not exercise.is_valid(*copy.deepcopy(arguments)):
                    continue
                tries -= 1
                smaller = try_once(exercise, answer, arguments, guard)
            except Exception:
                continue  # the worked answer refuses it, so it isn't a valid input
            if smaller.fault == trial.fault and not smaller.blank > trial.blank:
                trial, again = smaller, True
                break
    return trial
