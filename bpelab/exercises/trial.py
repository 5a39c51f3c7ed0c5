"""A trial: one call of an answer on one input, compared with what the worked answer returns.

Each of the two is called on a fresh copy of the arguments, so neither can change what the other receives.
"""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .exercise import Exercise
from .limits import LimitedCall, Outcome
from .plain_data import to_plain


@dataclass
class Trial:
    """One call of an answer. `fault` is "" if it was right, else "wrong" or the kind of the outcome."""

    arguments: tuple[Any, ...]
    outcome: Outcome
    fault: str
    blank: bool
    expected: Any = None
    problem: str = ""


def try_once(exercise: Exercise, answer: Callable[..., Any], arguments: tuple[Any, ...], guard: LimitedCall) -> Trial:
    """Call the answer once, on a copy of the arguments, and compare."""
    own_arguments = copy.deepcopy(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = to_plain(exercise.observe(exercise.call(exercise.solution, *own_arguments), *own_arguments))
    own_arguments = copy.deepcopy(arguments)
    blank = False

    def work() -> Any:
        nonlocal blank
        result = exercise.call(answer, *own_arguments)
        blank = result is None or result is Ellipsis
        return to_plain(exercise.observe(result, *own_arguments))

    outcome = guard.call(work)
    if blank and outcome.kind == "raised":
        outcome = Outcome("returned")  # there was no result to observe
    trial = Trial(arguments, outcome, "", blank or outcome.is_stub, expected)
    if outcome.kind != "returned":
        trial.fault = outcome.kind
    elif exercise.problem is None:
        trial.fault = "" if _is_same(exercise, expected, outcome.value) else "wrong"
    else:
        try:
            trial.problem = exercise.problem(outcome.value, *arguments) or ""
        except Exception:  # a result of another type than `problem` expects
            trial.problem = "This isn't the type of answer that the exercise asks for."
        trial.fault = "wrong" if trial.problem else ""
    return trial


def _is_same(exercise: Exercise, expected: Any, got: Any) -> bool:
    try:
        return bool(exercise.equal(expected, got))
    except Exception:  # the values can't be compared
        return False
