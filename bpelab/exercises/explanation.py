"""Explanations: the messages about a missing answer, and about a trial that failed."""

from ..notebook.messages import SINGLE, Message, code, short
from .exercise import Exercise
from .trial import Trial


def not_started(exercise: Exercise) -> Message:
    """Return the message to somebody who hasn't written an answer yet."""
    text = (
        "Not started yet: there is no answer to look at. If you have written one, a `return` may be missing. "
        f'`hint("{exercise.id}")` helps you to begin.'
    )
    return Message(exercise.heading, "note", [text])


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
        block += ["expected  " + short(code(trial.expected)), "got       " + short(code(outcome.value))]
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
