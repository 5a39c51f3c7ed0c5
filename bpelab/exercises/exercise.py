"""An exercise: what a chapter's file declares about it, and the stub and source made from its worked answer."""

import ast
import inspect
import operator
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from ..notebook.messages import code
from .limits import Limits
from .rubric import Rubric


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
