"""Limits on lines, time and memory for calling a reader's function, in this process and this thread.

Tracing (`sys.settrace`) runs a callback at every line of the reader's code. The callback counts lines, checks the clock
and the memory (`tracemalloc`), and past a limit raises an exception in the middle of the reader's code. Lines are
counted because their number is the same on every machine; the clock catches lines that are slow by themselves.

It can't interrupt one long call into C, such as `sum(range(10**12))`, `"a" * 10**10` or a regular expression that
backtracks forever, because no new line starts until the call returns. Such a call is reported afterwards. Nor is it a
sandbox: code can turn tracing off, start threads or end the process. It guards against mistakes, not attacks.

In this library and in Python's own code only calls are traced, not lines, so they run at nearly full speed.
"""

import builtins
import dis
import io
import linecache
import os
import signal
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

PACKAGE = str(Path(__file__).parent.parent)
CHAPTERS = os.path.join(PACKAGE, "exercises", "chapters", "")
STDLIB = os.path.dirname(os.__file__)
_clock = getattr(time, "thread_time", time.perf_counter)  # unlike wall-clock time, unaffected by other processes
MAX_OUTPUT_CHARS = 2_000
"""How many characters to keep of an answer's output, and of its error message."""


class Limits(NamedTuple):
    """The limits for one call: lines of the reader's code, seconds of processor time, megabytes."""

    lines: int = 100_000
    seconds: float = 10.0
    megabytes: int = 100


@dataclass
class Outcome:
    """The outcome of one call. `kind` is "returned", "raised", "too long" or "too much memory"."""

    kind: str
    value: Any = None
    error: str = ""
    line: int | None = None
    source: str = ""
    printed: str = ""
    is_stub: bool = False
    """True if the call raised NotImplementedError, as a stub does."""


@lru_cache(4096)
def is_user_code(filename: str) -> bool:
    """Return whether a file has the reader's code: it isn't part of Python, an installed package or this library.

    >>> is_user_code("<stdin>"), is_user_code(os.__file__), is_user_code(__file__)
    (True, False, False)
    """
    if filename.startswith(CHAPTERS):
        return True  # the limits apply to worked answers too
    return not filename.startswith((PACKAGE + os.sep, STDLIB + os.sep, "<frozen ")) and "site-packages" not in filename


@lru_cache(4096)
def is_empty(code: CodeType) -> bool:
    """Return whether a function's body is only a docstring, `...` or `pass`."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("RESUME", "NOP", "COPY_FREE_VARS")]
    is_constant = all(step.opname in ("LOAD_CONST", "RETURN_VALUE", "RETURN_CONST") for step in steps)
    return is_constant and all(step.argval is None for step in steps)


@lru_cache(4096)
def has_self_loop(code: CodeType) -> bool:
    """Return whether an instruction jumps to itself, as in `while True: pass`, which never starts another line."""
    return any(step.opname.startswith("JUMP_") and step.argval == step.offset for step in dis.get_instructions(code))


class _LimitExceeded(BaseException):
    """Raised within the reader's code when a limit is exceeded.

    Python stops tracing when a trace function raises. Code that catches everything (`except: pass`) would then run
    without limits. But it also drops this exception, and `__del__` starts tracing again.
    """

    def __init__(self, tracer: "_Tracer") -> None:
        self.tracer = tracer

    def __del__(self) -> None:
        self.tracer.rearm(sys._getframe())  # noqa: SLF001 - there is no other name for it


@dataclass
class _Tracer:
    limits: Limits
    lines: int = 0
    checks: int = 0
    exceeded: str = ""
    active: bool = True
    deadline: float = field(init=False)
    memory_limit: int = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = _clock() + self.limits.seconds
        tracemalloc.reset_peak()
        self.memory_limit = tracemalloc.get_traced_memory()[0] + self.limits.megabytes * 1_000_000

    def on_call(self, frame: FrameType, event: str, argument: object) -> Any:
        if not self.active:
            return None
        self.check_limits()
        return self.on_line if self.trace_frame(frame) else None

    def trace_frame(self, frame: FrameType) -> bool:
        if not is_user_code(frame.f_code.co_filename):
            return False
        if has_self_loop(frame.f_code):
            frame.f_trace_opcodes = True
        return True

    def on_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event in ("line", "opcode") and self.active:
            self.lines += 1
            self.check_limits()
        return self.on_line

    def check_limits(self) -> None:
        if self.lines > self.limits.lines or _clock() > self.deadline:
            self.exceeded = self.exceeded or "too long"
        elif self.checks % 32 == 0 and tracemalloc.get_traced_memory()[0] > self.memory_limit:
            self.exceeded = self.exceeded or "too much memory"
        self.checks += 1
        if self.exceeded:
            raise _LimitExceeded(self)

    def rearm(self, frame: FrameType | None) -> None:
        if not self.active:
            return
        while frame is not None:
            if self.trace_frame(frame):
                frame.f_trace = self.on_line
            frame = frame.f_back
        sys.settrace(self.on_call)  # last, since every call from here on is traced


class _OutputCapture(io.TextIOBase):
    """A text stream that keeps only the start of the output."""

    def __init__(self) -> None:
        self.text = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text[: MAX_OUTPUT_CHARS - len(self.text)]
        return len(text)

    def close(self) -> None:
        """Stay open: the reader's code must not close it for the next call."""


def _no_input(prompt: object = "") -> str:
    raise EOFError("input() can't be used here: the function receives what it needs as arguments")


class LimitedCall:
    """A context manager, entered once for each check; its method `call` calls functions under limits.

    >>> with LimitedCall() as guard:
    ...     guard.call(lambda: 1 / 0).error
    'ZeroDivisionError: division by zero'
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._interrupted = False
        self._handles_interrupts = False
        self._undo = ExitStack()

    def __enter__(self) -> "LimitedCall":
        with ExitStack() as stack:
            self._watch_interrupts(stack)
            stack.callback(setattr, builtins, "input", builtins.input)
            builtins.input = _no_input
            self._undo = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._undo.close()

    def _watch_interrupts(self, stack: ExitStack) -> None:
        """Tell a real Ctrl-C, which must end the check, from a KeyboardInterrupt that the reader's code raises."""
        previous = signal.getsignal(signal.SIGINT)
        if not callable(previous):
            self._handles_interrupts = previous is not None  # e.g. ignored, in a shell's background job
            return

        def on_interrupt(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            previous(number, frame)

        try:
            signal.signal(signal.SIGINT, on_interrupt)
        except ValueError:
            self._handles_interrupts = True  # not the main thread: no Ctrl-C arrives here
            return
        self._handles_interrupts = True
        stack.callback(signal.signal, signal.SIGINT, previous)

    def call(self, work: Callable[[], Any], *, limited: bool = True) -> Outcome:
        """Call `work` and return the outcome. Raises only KeyboardInterrupt, for a real Ctrl-C.

        Without limits nothing is traced, so long work isn't slowed down.
        """
        printed = _OutputCapture()
        with ExitStack() as stack:
            if limited and not tracemalloc.is_tracing():
                tracemalloc.start()
                stack.callback(tracemalloc.stop)
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            stack.enter_context(redirect_stdout(printed))
            stack.enter_context(redirect_stderr(printed))
            outcome = self._call(work, limited)
        outcome.printed = printed.text
        return outcome

    def _call(self, work: Callable[[], Any], limited: bool) -> Outcome:
        tracer = _Tracer(self.limits)
        outcome = Outcome("returned")
        try:
            outcome.value = self._run_traced(work, tracer) if limited else work()
        except BaseException as error:  # SystemExit and the like too
            if isinstance(error, KeyboardInterrupt) and not self._handles_interrupts:
                raise
            outcome = self._describe(error, sys.exc_info()[2])
        if self._interrupted:
            raise KeyboardInterrupt
        if limited and not tracer.exceeded and tracemalloc.get_traced_memory()[1] > tracer.memory_limit:
            tracer.exceeded = "too much memory"  # allocated and freed within one line
        if tracer.exceeded:
            outcome = Outcome(tracer.exceeded)
        return outcome

    @staticmethod
    def _run_traced(work: Callable[[], Any], tracer: _Tracer) -> Any:
        previous = sys.gettrace()
        sys.settrace(tracer.on_call)
        try:
            return work()
        finally:
            sys.settrace(previous)
            tracer.active = False

    def _describe(self, error: BaseException, traceback: TracebackType | None) -> Outcome:
        if isinstance(error, MemoryError):
            return Outcome("too much memory")
        line, source = None, ""
        while traceback is not None:
            filename = traceback.tb_frame.f_code.co_filename
            if is_user_code(filename):
                line, source = traceback.tb_lineno, linecache.getline(filename, traceback.tb_lineno).strip()
            traceback = traceback.tb_next
        text = type(error).__name__
        if isinstance(error, RecursionError):
            text += ": the function calls itself too many times"
            return Outcome("raised", error=text, line=line, source=source)
        try:  # an exception's __str__ can be the reader's code too
            message = str(self._run_traced(lambda: str(error)[:MAX_OUTPUT_CHARS], _Tracer(self.limits)))
        except BaseException:
            message = ""
        return Outcome(
            "raised",
            error=f"{text}: {message}" if message else text,
            line=line,
            source=source,
            is_stub=isinstance(error, NotImplementedError),
        )
