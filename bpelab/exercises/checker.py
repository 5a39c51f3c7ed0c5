"""Is an answer right, and if not, on which small input can its author see that?

An answer is called on the exercise's inputs, from small to large, each time on a fresh copy, and what comes back is
compared with what the worked answer gives. At the first fault the input is made smaller step by step for as long as
the fault stays, because a fault is understood on `aab` and not on a page of text.
"""

import ast
import copy
import inspect
import operator
import os
import re
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .guard import Guard, Limits, Outcome, does_nothing
from .plain import plain
from .rubric import Missing, Rubric
from .show import SINGLE, Message, code, short
from .shrink import smaller_inputs

MOST_TRIES = 200
"""How many smaller inputs are tried. None where a limit was passed: each try would take as long again."""


def _call(answer: Callable[..., Any], *arguments: Any) -> Any:
    return answer(*arguments)


def _as_it_is(result: Any, *arguments: Any) -> Any:
    return result


def _written(name: str, *arguments: Any) -> str:
    return f"{name}({', '.join(map(code, arguments))})"


@dataclass(frozen=True)
class Exercise:
    """One exercise, as a chapter's file declares it.

    Attributes:
        id: "4.2": chapter and number.
        title: as it stands in the chapter.
        solution: the worked answer, a real function under the name that the stub has.
        inputs: yields tuples of arguments, small ones first, always the same.
        hints: each says a little more than the one before.
        same: whether an answer's result is as good as the worked answer's: (expected, got) -> bool.
        call: how an answer is called, where that isn't `answer(*arguments)`.
        observe: (result, *arguments) -> what is compared, where that isn't the result. The arguments are those that the
            answer was given, with what it did to them.
        problem: (got, *arguments) -> a sentence that says what is wrong, or None. Takes the place of comparing, for
            exercises with many right answers, or with one that must not be given away.
        allowed: whether shrunk arguments still are what the exercise promises.
        shown: (name, *arguments) -> how a call is written in a message.
        cell: the stub's text, where it isn't made from the worked answer.
        limits: for one call.
        rubric: what a folder is scored by, for an exercise that asks for one. `check` takes the folder, or a function
            that is given an empty folder to work in and returns the one that it hands in. It runs without limits.
    """

    id: str
    title: str
    solution: Callable[..., Any]
    inputs: Callable[[], Iterable[tuple[Any, ...]]]
    hints: tuple[str, ...]
    same: Callable[[Any, Any], bool] = operator.eq
    call: Callable[..., Any] = _call
    observe: Callable[..., Any] = _as_it_is
    problem: Callable[..., str | None] | None = None
    allowed: Callable[..., bool] = lambda *arguments: True
    shown: Callable[..., str] = _written
    cell: str = ""
    limits: Limits = field(default_factory=Limits)
    rubric: Rubric | None = None

    @property
    def chapter(self) -> int:
        """The number of the chapter."""
        return int(self.id.partition(".")[0])

    @property
    def heading(self) -> str:
        """Number and title, as a message begins."""
        return f"{self.id} ({self.title})"

    @property
    def takes_value(self) -> bool:
        """Whether the answer may be a value, such as the number of a step: the worked answer takes no arguments."""
        return not inspect.signature(self.solution).parameters

    @property
    def source(self) -> str:
        """The worked answer's source."""
        source = textwrap.dedent(inspect.getsource(self.solution)).rstrip()
        return re.sub(r"  # (?:type: ignore|noqa|fmt:).*", "", source)

    @property
    def stub(self) -> str:
        """The text of the cell that the chapter offers: the worked answer's signature and docstring, and no body."""
        if self.cell:
            return self.cell
        source = self.source
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        last = function.body[0].end_lineno
        return "\n".join(source.splitlines()[:last]) + "\n    ...  # your code here"


@dataclass
class Trial:
    """One call of an answer. `fault` is "" where there is none, else "wrong" or the kind of the outcome."""

    arguments: tuple[Any, ...]
    outcome: Outcome
    fault: str
    blank: bool
    expected: Any = None
    problem: str = ""


def attempt(exercise: Exercise, answer: Callable[..., Any], arguments: tuple[Any, ...], guard: Guard) -> Trial:
    """Call the answer once, on a copy of the arguments, and compare."""
    given = copy.deepcopy(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = plain(exercise.observe(exercise.call(exercise.solution, *given), *given))
    given = copy.deepcopy(arguments)
    blank = False

    def work() -> Any:
        nonlocal blank
        result = exercise.call(answer, *given)
        blank = result is None or result is Ellipsis
        return plain(exercise.observe(result, *given))

    outcome = guard.call(work)
    if blank and outcome.kind == "raised":
        outcome = Outcome("returned")  # nothing that could be observed
    trial = Trial(arguments, outcome, "", blank or outcome.unwritten, expected)
    if outcome.kind != "returned":
        trial.fault = outcome.kind
    elif exercise.problem is None:
        trial.fault = "" if _same(exercise, expected, outcome.value) else "wrong"
    else:
        try:
            trial.problem = exercise.problem(outcome.value, *arguments) or ""
        except Exception:  # a result of another kind than `problem` counts on
            trial.problem = "This is not the kind of thing that was asked for."
        trial.fault = "wrong" if trial.problem else ""
    return trial


def _same(exercise: Exercise, expected: Any, got: Any) -> bool:
    try:
        return bool(exercise.same(expected, got))
    except Exception:  # two values that can't be compared in this way
        return False


def shrunk(exercise: Exercise, answer: Callable[..., Any], trial: Trial, guard: Guard) -> Trial:
    """The same fault on the smallest input that can be found."""
    tries = MOST_TRIES if trial.fault in ("wrong", "raised") else 0
    again = True
    while again:
        again = False
        for arguments in smaller_inputs(trial.arguments):
            if tries <= 0:
                return trial
            try:
                if not exercise.allowed(*copy.deepcopy(arguments)):
                    continue
                tries -= 1
                smaller = attempt(exercise, answer, arguments, guard)
            except Exception:
                continue  # the worked answer refuses it: no input for this exercise
            if smaller.fault == trial.fault and not smaller.blank > trial.blank:
                trial, again = smaller, True
                break
    return trial


def examine(exercise: Exercise, answer: Any) -> tuple[bool, Message]:
    """Whether the answer is right, and what to tell its author."""
    try:
        return _examine(exercise, answer)
    except ImportError as error:  # of the worked answer; an answer's own errors are reported
        text = f"This exercise can't be checked here: it needs the package {error.name}, which is not installed."
        return False, Message(exercise.heading, "note", [text])


def _examine(exercise: Exercise, answer: Any) -> tuple[bool, Message]:
    if exercise.rubric is not None:
        with tempfile.TemporaryDirectory(prefix="bpelab-", ignore_cleanup_errors=True) as home:
            return _score(exercise, exercise.rubric, answer, home)
    if not callable(answer):
        if answer is None or answer is Ellipsis:
            return False, _not_started(exercise)
        if not exercise.takes_value:
            name = exercise.solution.__name__
            text = f'This exercise asks for a function: `check("{exercise.id}", {name})`, without calling it.'
            return False, Message(exercise.heading, "fault", [text])
        value, answer = answer, lambda: value
    elif inspect.isfunction(answer) and does_nothing(answer.__code__):
        return False, _not_started(exercise)
    first: Trial | None = None
    started, tried = False, 0
    with Guard(exercise.limits) as guard:
        for arguments in exercise.inputs():
            trial = attempt(exercise, answer, arguments, guard)
            tried += 1
            started = started or not trial.blank
            if trial.fault and first is None:
                first = trial
            if first is not None and started:
                break
        if first is None:
            inputs = f" Checked on {tried} inputs." if tried > 1 else ""
            return True, Message(exercise.heading, "right", [f"Right.{inputs}"])
        if not started:
            return False, _not_started(exercise)
        return False, _explain(exercise, shrunk(exercise, answer, first, guard))


def _score(exercise: Exercise, rubric: Rubric, answer: Any, home: str) -> tuple[bool, Message]:
    """Score a folder, or what a function hands in, as a whole: there is nothing to make smaller."""

    def work() -> Any:
        handed_in = answer(home) if callable(answer) else answer
        return plain(os.fspath(handed_in) if isinstance(handed_in, os.PathLike) else handed_in)

    if inspect.isfunction(answer) and does_nothing(answer.__code__):
        return False, _not_started(exercise)
    with Guard() as guard:
        outcome = guard.call(work, limited=False)  # training on a corpus may take its minutes
    if outcome.unwritten or (outcome.kind == "returned" and (outcome.value is None or outcome.value is Ellipsis)):
        return False, _not_started(exercise)
    if outcome.kind != "returned":
        return False, _explain(exercise, Trial((home,), outcome, outcome.kind, False))
    try:
        scores = rubric.scores(outcome.value)
    except Missing as missing:
        return False, Message(
            exercise.heading, "fault", [f"Not yet: {missing.to_do}.", (f"got  {short(missing.found)}",)]
        )
    points = sum(score.earned for score in scores)
    right = points >= rubric.enough
    lead = f"{'Right' if right else 'Not yet'}. {points} of {rubric.most} points; {rubric.enough} are needed."
    block = tuple(line for score in scores for line in score.lines)
    return right, Message(exercise.heading, "right" if right else "fault", [lead, block])


def _not_started(exercise: Exercise) -> Message:
    text = (
        "Not started yet: there is no answer to look at. If you have written one, a `return` may be missing. "
        f'`hint("{exercise.id}")` helps you to begin.'
    )
    return Message(exercise.heading, "note", [text])


def _explain(exercise: Exercise, trial: Trial) -> Message:
    outcome, limits = trial.outcome, exercise.limits
    call = exercise.shown(exercise.solution.__name__, *trial.arguments)
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
