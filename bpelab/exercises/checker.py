"""The checker: decides whether an answer is right, and if not, finds a small input that shows its author why.

An answer is called on the exercise's inputs, from small to large, each time on a fresh copy, and its result is compared
with the worked answer's. After the first fault the input is shrunk step by step as long as the fault persists: a bug is
easier to understand on `aab` than on a page of text.
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
from typing import Any, Literal

from ..notebook.messages import SINGLE, Message, code, short
from .limits import LimitedCall, Limits, Outcome, is_empty
from .plain_data import to_plain
from .rubric import NotEarned, Rubric
from .shrink import smaller_inputs

MAX_SHRINK_TRIES = 200
"""How many smaller inputs are tried; none after an exceeded limit, since each try would take as long again."""


def _call(answer: Callable[..., Any], *arguments: Any) -> Any:
    return answer(*arguments)


def identity(result: Any, *arguments: Any) -> Any:
    """Return the result unchanged."""
    return result


def _format_call(name: str, *arguments: Any) -> str:
    return f"{name}({', '.join(map(code, arguments))})"


@dataclass(frozen=True)
class Exercise:
    """One exercise, as a chapter's file declares it.

    Attributes:
        id: "encoding.2": the chapter's name and a number.
        title: as in the chapter.
        solution: the worked answer, a function with the same name as the stub.
        inputs: yields tuples of arguments, small ones first, the same on every call.
        hints: each says a little more than the one before.
        level: "easy" takes a few lines, "medium" takes some thought, "hard" takes a small program.
        next_step: a follow-up question, or where the answer is used; shown once the answer is right.
        equal: whether an answer's result is as good as the worked answer's: (expected, got) -> bool.
        call: how to call an answer, if not as `answer(*arguments)`.
        observe: (result, *arguments) -> what to compare, if not the result. The arguments are those that the answer was
            called with, including any changes that it made to them.
        problem: (got, *arguments) -> a sentence that says what is wrong, or None. Replaces the comparison in exercises
            with many right answers, or with one that must stay secret.
        is_valid: whether shrunk arguments still are what the exercise promises.
        format_call: (name, *arguments) -> the call as a message shows it.
        stub_cell: the stub's source, if it isn't made from the worked answer.
        limits: the limits for one call.
        rubric: for an exercise that asks for a folder. `check` takes the folder, or a function that receives an empty
            folder to work in and returns the one to score. It runs without limits.
    """

    id: str
    title: str
    solution: Callable[..., Any]
    inputs: Callable[[], Iterable[tuple[Any, ...]]]
    hints: tuple[str, ...]
    level: Literal["easy", "medium", "hard"] = field(kw_only=True)
    next_step: str = field(kw_only=True)
    equal: Callable[[Any, Any], bool] = operator.eq
    call: Callable[..., Any] = _call
    observe: Callable[..., Any] = identity
    problem: Callable[..., str | None] | None = None
    is_valid: Callable[..., bool] = lambda *arguments: True
    format_call: Callable[..., str] = _format_call
    stub_cell: str = ""
    limits: Limits = field(default_factory=Limits)
    rubric: Rubric | None = None

    @property
    def chapter(self) -> str:
        """The name of the chapter and of its file."""
        return self.id.partition(".")[0]

    @property
    def heading(self) -> str:
        """The id and the title, which messages start with."""
        return f"{self.id} ({self.title})"

    @property
    def takes_value(self) -> bool:
        """True if the answer may be a value, such as a step's number: the worked answer has no parameters."""
        return not inspect.signature(self.solution).parameters

    @property
    def source(self) -> str:
        """The worked answer's source code, without comments for linters."""
        source = textwrap.dedent(inspect.getsource(self.solution)).rstrip()
        return re.sub(r"  # (?:type: ignore|noqa|fmt:).*", "", source)

    @property
    def stub(self) -> str:
        """The source of the chapter's stub: the worked answer's signature and docstring, without its body."""
        if self.stub_cell:
            return self.stub_cell
        source = self.source
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        last = function.body[0].end_lineno
        return "\n".join(source.splitlines()[:last]) + "\n    ...  # your code here"


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
    given = copy.deepcopy(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = to_plain(exercise.observe(exercise.call(exercise.solution, *given), *given))
    given = copy.deepcopy(arguments)
    blank = False

    def work() -> Any:
        nonlocal blank
        result = exercise.call(answer, *given)
        blank = result is None or result is Ellipsis
        return to_plain(exercise.observe(result, *given))

    outcome = guard.call(work)
    if blank and outcome.kind == "raised":
        outcome = Outcome("returned")  # there was no result to observe
    trial = Trial(arguments, outcome, "", blank or outcome.is_stub, expected)
    if outcome.kind != "returned":
        trial.fault = outcome.kind
    elif exercise.problem is None:
        trial.fault = "" if _same(exercise, expected, outcome.value) else "wrong"
    else:
        try:
            trial.problem = exercise.problem(outcome.value, *arguments) or ""
        except Exception:  # a result of another type than `problem` expects
            trial.problem = "This isn't the type of answer that the exercise asks for."
        trial.fault = "wrong" if trial.problem else ""
    return trial


def _same(exercise: Exercise, expected: Any, got: Any) -> bool:
    try:
        return bool(exercise.equal(expected, got))
    except Exception:  # the values can't be compared
        return False


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


def check_answer(exercise: Exercise, answer: Any) -> tuple[bool, Message]:
    """Check an answer; return whether it is right, and a message to its author."""
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
    elif inspect.isfunction(answer) and is_empty(answer.__code__):
        return False, _not_started(exercise)
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
            return False, _not_started(exercise)
        return False, _explain(exercise, shrink(exercise, answer, first, guard))


def _score(exercise: Exercise, rubric: Rubric, answer: Any, home: str) -> tuple[bool, Message]:
    """Score a folder, or the folder that a function returns. There is nothing to shrink."""

    def work() -> Any:
        folder = answer(home) if callable(answer) else answer
        return to_plain(os.fspath(folder) if isinstance(folder, os.PathLike) else folder)

    if inspect.isfunction(answer) and is_empty(answer.__code__):
        return False, _not_started(exercise)
    with LimitedCall() as guard:
        outcome = guard.call(work, limited=False)  # training on a corpus may take minutes
    if outcome.is_stub or (outcome.kind == "returned" and (outcome.value is None or outcome.value is Ellipsis)):
        return False, _not_started(exercise)
    if outcome.kind != "returned":
        return False, _explain(exercise, Trial((home,), outcome, outcome.kind, False))
    try:
        scores = rubric.scores(outcome.value)
    except NotEarned as error:
        return False, Message(exercise.heading, "fault", [f"Not yet: {error.to_do}.", (f"got  {short(error.found)}",)])
    points = sum(score.earned for score in scores)
    right = points >= rubric.pass_mark
    lead = f"{'Right' if right else 'Not yet'}. {points} of {rubric.total} points; {rubric.pass_mark} are needed."
    block = tuple(line for score in scores for line in score.lines)
    after = (exercise.next_step,) if right else ()
    return right, Message(exercise.heading, "right" if right else "fault", [lead, block, *after])


def _not_started(exercise: Exercise) -> Message:
    text = (
        "Not started yet: there is no answer to look at. If you have written one, a `return` may be missing. "
        f'`hint("{exercise.id}")` helps you to begin.'
    )
    return Message(exercise.heading, "note", [text])


def _explain(exercise: Exercise, trial: Trial) -> Message:
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
