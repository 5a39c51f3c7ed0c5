"""Call somebody's function under limits, in this process and this thread, and come back whatever it does.

Tracing (`sys.settrace`) calls us back at every line of the reader's code. There the lines are counted, the clock and
the memory (`tracemalloc`) are looked at, and beyond a limit an exception is raised in the middle of the reader's code.
Lines are counted because that number is the same on every machine; the clock is for lines that take long each.

What this can't interrupt: one long call into C, such as `sum(range(10**12))`, `"a" * 10**10` or a regular expression
that backtracks for ever, because no line begins until it is over. Afterwards it is reported. Nor is it a jail: code
that turns tracing off, starts threads or ends the process gets its way. It is made for mistakes, not for attacks.

Lines of this library and of Python's own are not traced, only their calls, so they run nearly as fast as ever.
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
ANSWERS = os.path.join(PACKAGE, "exercises", "chapter_")
PYTHON = os.path.dirname(os.__file__)
_clock = getattr(time, "thread_time", time.perf_counter)  # on a busy machine a second is no second of work
KEPT = 2_000
"""How many characters are kept of what an answer prints or says when it fails."""


class Limits(NamedTuple):
    """How much one call may use: lines of the reader's code, seconds of processor time, megabytes."""

    lines: int = 100_000
    seconds: float = 10.0
    megabytes: int = 100


@dataclass
class Outcome:
    """What came of one call. `kind` is "returned", "raised", "too long" or "too much memory"."""

    kind: str
    value: Any = None
    error: str = ""
    line: int | None = None
    source: str = ""
    printed: str = ""
    unwritten: bool = False
    """It raised NotImplementedError, as a stub does."""


@lru_cache(4096)
def is_readers(filename: str) -> bool:
    """Whether code from a file is the reader's: no part of Python, of an installed package or of this library.

    >>> is_readers("<stdin>"), is_readers(os.__file__), is_readers(__file__)
    (True, False, False)
    """
    if filename.startswith(ANSWERS):
        return True  # worked answers are held to the limits too
    return not filename.startswith((PACKAGE + os.sep, PYTHON + os.sep, "<frozen ")) and "site-packages" not in filename


@lru_cache(4096)
def does_nothing(code: CodeType) -> bool:
    """Whether a function has no body but a docstring, `...` or `pass`."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("RESUME", "NOP", "COPY_FREE_VARS")]
    empty = all(step.opname in ("LOAD_CONST", "RETURN_VALUE", "RETURN_CONST") for step in steps)
    return empty and all(step.argval is None for step in steps)


@lru_cache(4096)
def jumps_on_the_spot(code: CodeType) -> bool:
    """Whether an instruction jumps to itself. `while True: pass` is one, and begins no line ever again."""
    return any(step.opname.startswith("JUMP_") and step.argval == step.offset for step in dis.get_instructions(code))


class _Stop(BaseException):
    """Raised within the reader's code when a limit is passed.

    Python ends tracing when a trace function raises. Code that catches everything (`except: pass`) and goes on would
    then be free of all limits; but it drops this exception, and `__del__` sets the trap again.
    """

    def __init__(self, tracer: "_Tracer") -> None:
        self.tracer = tracer

    def __del__(self) -> None:
        self.tracer.set_again(sys._getframe())


@dataclass
class _Tracer:
    limits: Limits
    lines: int = 0
    looks: int = 0
    exceeded: str = ""
    active: bool = True
    deadline: float = field(init=False)
    ceiling: int = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = _clock() + self.limits.seconds
        tracemalloc.reset_peak()
        self.ceiling = tracemalloc.get_traced_memory()[0] + self.limits.megabytes * 1_000_000

    def on_call(self, frame: FrameType, event: str, argument: object) -> Any:
        if not self.active:
            return None
        self.look()
        return self.on_line if self.watch(frame) else None

    def watch(self, frame: FrameType) -> bool:
        if not is_readers(frame.f_code.co_filename):
            return False
        if jumps_on_the_spot(frame.f_code):
            frame.f_trace_opcodes = True
        return True

    def on_line(self, frame: FrameType, event: str, argument: object) -> Any:
        if event in ("line", "opcode") and self.active:
            self.lines += 1
            self.look()
        return self.on_line

    def look(self) -> None:
        if self.lines > self.limits.lines or _clock() > self.deadline:
            self.exceeded = self.exceeded or "too long"
        elif self.looks % 32 == 0 and tracemalloc.get_traced_memory()[0] > self.ceiling:
            self.exceeded = self.exceeded or "too much memory"
        self.looks += 1
        if self.exceeded:
            raise _Stop(self)

    def set_again(self, frame: FrameType | None) -> None:
        if not self.active:
            return
        while frame is not None:
            if self.watch(frame):
                frame.f_trace = self.on_line
            frame = frame.f_back
        sys.settrace(self.on_call)  # last, since every call from here on is looked at


class _Printed(io.TextIOBase):
    """Takes what is printed and keeps the beginning."""

    def __init__(self) -> None:
        self.text = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text[: KEPT - len(self.text)]
        return len(text)

    def close(self) -> None:
        """Stays open: the reader's code may not take it away from the next call."""


def _no_input(prompt: object = "") -> str:
    raise EOFError("input() can't be used here: what the function needs comes as arguments")


class Guard:
    """Calls functions under limits. Entered once for a check; everything is as before when it is left.

    >>> with Guard() as guard:
    ...     guard.call(lambda: 1 / 0).error
    'ZeroDivisionError: division by zero'
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._interrupted = False
        self._sees_interrupts = False
        self._undo = ExitStack()

    def __enter__(self) -> "Guard":
        with ExitStack() as stack:
            self._watch_interrupts(stack)
            stack.callback(setattr, builtins, "input", builtins.input)
            builtins.input = _no_input
            self._undo = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._undo.close()

    def _watch_interrupts(self, stack: ExitStack) -> None:
        """Know a real Ctrl-C, which must end the check, from a KeyboardInterrupt that the reader's code raises."""
        previous = signal.getsignal(signal.SIGINT)
        if not callable(previous):
            self._sees_interrupts = previous is not None  # ignored, say, as in a shell's background: none arrives
            return

        def pressed(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            previous(number, frame)

        try:
            signal.signal(signal.SIGINT, pressed)
        except ValueError:
            self._sees_interrupts = True  # not the main thread: no Ctrl-C arrives here
            return
        self._sees_interrupts = True
        stack.callback(signal.signal, signal.SIGINT, previous)

    def call(self, work: Callable[[], Any], *, limited: bool = True) -> Outcome:
        """What comes of calling `work`. Raises nothing but KeyboardInterrupt, and that for a real Ctrl-C only.

        Without limits nothing is traced, and long work takes as long as it does elsewhere.
        """
        printed = _Printed()
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
            outcome.value = self._traced(work, tracer) if limited else work()
        except BaseException as error:  # SystemExit and the like too
            if isinstance(error, KeyboardInterrupt) and not self._sees_interrupts:
                raise
            outcome = self._describe(error, sys.exc_info()[2])
        if self._interrupted:
            raise KeyboardInterrupt
        if limited and not tracer.exceeded and tracemalloc.get_traced_memory()[1] > tracer.ceiling:
            tracer.exceeded = "too much memory"  # taken and given back within one line
        if tracer.exceeded:
            outcome = Outcome(tracer.exceeded)
        return outcome

    @staticmethod
    def _traced(work: Callable[[], Any], tracer: _Tracer) -> Any:
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
            if is_readers(filename):
                line, source = traceback.tb_lineno, linecache.getline(filename, traceback.tb_lineno).strip()
            traceback = traceback.tb_next
        text = type(error).__name__
        if isinstance(error, RecursionError):
            text += ": the function calls itself too many times"
            return Outcome("raised", error=text, line=line, source=source)
        try:  # an exception's own __str__ is the reader's code as well
            said = str(self._traced(lambda: str(error)[:KEPT], _Tracer(self.limits)))
        except BaseException:
            said = ""
        return Outcome(
            "raised",
            error=f"{text}: {said}" if said else text,
            line=line,
            source=source,
            unwritten=isinstance(error, NotImplementedError),
        )
