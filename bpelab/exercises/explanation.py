"""Explanations: the messages about a missing answer, and about a trial that failed."""

from typing import Any

from ..notebook.messages import SINGLE, Message, code, short
from .exercise import Exercise
from .trial import Trial

LONG_RESULT = 400
"""From how many characters on a dict in a message is cut to its entries that differ."""


def not_started(exercise: Exercise) -> Message:
    """Return the message to somebody who hasn't written an answer yet."""
    text = (
        "Not started yet: there is no answer to look at. If you have written one, a `return` may be missing. "
        f'`hint("{exercise.id}")` helps you to begin.'
    )
    return Message(exercise.heading, "note", [text])


def differing(expected: Any, got: Any) -> tuple[Any, Any]:
    """Return the parts of two results to show: of a long dict with the same keys, only the entries that differ.

    Of a list in such an entry, three items are shown, from the first difference on; the key says where.

    >>> numbers = list(range(200))
    >>> differing({"ids": numbers, "text": "a"}, {"ids": numbers[:90] + [0] + numbers[91:], "text": "a"})
    ({'ids[90:93]': [90, 91, 92]}, {'ids[90:93]': [0, 91, 92]})
    """
    if not (isinstance(expected, dict) and isinstance(got, dict) and expected.keys() == got.keys()):
        return expected, got
    if len(code(expected)) < LONG_RESULT:
        return expected, got
    wanted: dict[Any, Any] = {}
    given: dict[Any, Any] = {}
    for key, value in expected.items():
        if code(value) != code(got[key]):
            if isinstance(value, list) and isinstance(got[key], list):
                start = _first_difference(value, got[key])
                name = f"{key}[{start}:{start + 3}]"
                wanted[name], given[name] = value[start : start + 3], got[key][start : start + 3]
            else:
                wanted[key], given[key] = value, got[key]
    return (wanted, given) if wanted else (expected, got)


def _first_difference(one: list[Any], other: list[Any]) -> int:
    same = (code(a) == code(b) for a, b in zip(one, other))
    return next((index for index, is_same in enumerate(same) if not is_same), min(len(one), len(other)))


def explain(exercise: Exercise, trial: Trial) -> Message:
    """Return the message about a failed trial: what went wrong, the input, and what the answer printed."""
    outcome, limits = trial.outcome, exercise.limits
    call = exercise.format_call(exercise.solution.__name__, *trial.arguments)
    block = [short(call)]
    if "(single" in call:
        block.insert(0, SINGLE)
    after: list[str | tuple[str, ...]] = []
    if trial.fault == "wrong" and exercise.problem is None:
        lead = "Not yet. The smallest input found that shows the difference:"
        expected, got = differing(trial.expected, outcome.value)
        block += ["expected  " + short(code(expected)), "got       " + short(code(got))]
    elif trial.fault == "wrong":
        lead = "Not yet. " + trial.problem
        block = [] if exercise.takes_value else block
        block.append("got       " + short(code(outcome.value)))
    elif trial.fault == "raised":
        lead = f"Raised {short(outcome.error)}"
        if outcome.line is not None:
            after.append(f"It comes from line {outcome.line} of your code:")
            after.append((short(outcome.source),))
        lead += ", on this input:" if trial.arguments else "."
    elif trial.fault == "too long":
        lead = (
            f"Took too long: one call may run {limits.lines:,} lines of your code, or {limits.seconds:g} seconds. "
            "Either a loop doesn't end, or there is a way with far less work. The input:"
        )
    else:
        lead = f"Used too much memory: one call may take {limits.megabytes} MB. The input:"
    parts: list[str | tuple[str, ...]] = [lead, tuple(block), *after]
    if outcome.printed:
        parts += ["Your code printed:", tuple(short(outcome.printed.rstrip("\n")).splitlines())]
    return Message(exercise.heading, "fault", parts)
