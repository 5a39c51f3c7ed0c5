"""Run probes in parallel: programs that may crash, hang or print without end.

Each runs in its own process group, which is killed as a whole when time is up or when it prints too much. One thread
per process reads the output; none can hold up the caller, who stops waiting when time is up.

Chapter: Chat on your hardware. Cost: the time of the slowest answer, at most the limit plus a second.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic

from .device import sanitize

MOST = 1 << 18
"""The most bytes read from one process; the longest real answer, from a machine with eight GPUs, is a fifth of it."""
GRACE = 1.0
"""Seconds that killed processes get to end."""
PATIENCE = 0.2
"""Seconds per wait: on Windows an interrupt only arrives between two waits."""
REMOVED_VARIABLES = ("DISPLAY", "WAYLAND_DISPLAY")
"""Environment variables that probes don't get: none needs a display, and a dead connection to one makes tools hang."""


@dataclass(frozen=True)
class ProbeOutput:
    """The output of a process, stderr included, and a sentence about what went wrong, if anything.

    Attributes:
        mild: whether the process ended by itself, and only its exit code reports a problem.
        started: whether there was a process at all.
    """

    text: str = ""
    problem: str | None = None
    mild: bool = False
    started: bool = True


class _Probe(Thread):
    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str], seconds: float) -> None:
        super().__init__(name=f"bpelab-probe-{name}", daemon=True)
        self.label, self.command, self.environment, self.seconds = name, list(command), environment, seconds
        self.output: ProbeOutput | None = None
        self.done = Event()  # `join` and `is_alive` are wrong after an interrupt in Python 3.11
        self._process: subprocess.Popen[bytes] | None = None
        self._timed_out, self._lock = False, Lock()

    def run(self) -> None:
        try:
            self.output = self._run()
        except Exception as error:  # whatever an operating system refuses: reported, never raised in the caller
            why = (
                error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
            )
            self.output = self.not_started(why)
        finally:
            self.done.set()

    def _run(self) -> ProbeOutput:
        with self._lock:
            if self._timed_out:
                return self.too_late(b"")
            process = self._process = _start(self.command, self.environment)
        data, full = bytearray(), False
        assert process.stdout is not None
        with process.stdout as pipe:
            while chunk := pipe.read(1 << 16):
                data += chunk
                if len(data) > MOST:
                    full = True
                    kill(process)
                    break
        code = process.wait()
        with self._lock:
            timed_out, self._process = self._timed_out, None
        text = bytes(data[:MOST]).decode("utf-8", "replace")
        if full:
            return ProbeOutput(text, f"{self.label} printed more than {MOST >> 10:,} KiB and was stopped")
        if timed_out and code:
            return self.too_late(data)
        if code < 0 or code >= 0xC0000000:
            return ProbeOutput(text, f"{self.label} crashed ({_signal_name(code)})")
        return ProbeOutput(text, _failure(self.label, text, code), mild=True) if code else ProbeOutput(text)

    def not_started(self, why: object) -> ProbeOutput:
        return ProbeOutput(problem=f"{self.label} can't be run: {sanitize(why)}", started=False)

    def too_late(self, data: bytes | bytearray) -> ProbeOutput:
        problem = f"{self.label} gave no answer in {self.seconds:g} s and was stopped"
        return ProbeOutput(bytes(data).decode("utf-8", "replace"), problem)

    def stop(self) -> None:
        """Kill the process with everything it started; one that hasn't started yet never will."""
        with self._lock:
            self._timed_out = True
            if self._process is not None:
                kill(self._process)


def run_probes(commands: Mapping[str, Sequence[str]], seconds: float) -> dict[str, ProbeOutput]:
    """Run all commands in parallel, and return the output of each by name.

    Never raises, and takes at most `seconds` plus `GRACE`.

    >>> run_probes({"echo": [sys.executable, "-c", "print('hello')"]}, 20)
    {'echo': ProbeOutput(text='hello\\n', problem=None, mild=False, started=True)}
    """
    environment = {name: value for name, value in os.environ.items() if name not in REMOVED_VARIABLES}
    environment["LC_ALL"] = "C"
    # Probes must find the libraries that the caller finds: its own path, without "", the current folder.
    environment["PYTHONPATH"] = os.pathsep.join(folder for folder in sys.path if folder)
    questions = [_Probe(name, command, environment, seconds) for name, command in commands.items()]
    end = monotonic() + seconds
    try:
        for question in questions:
            try:
                question.start()
            except RuntimeError as error:  # no threads, as in a browser
                question.output = question.not_started(error)
                question.done.set()
        for question in questions:
            while not question.done.is_set() and (left := end - monotonic()) > 0:
                question.done.wait(min(left, PATIENCE))
    finally:  # an interrupt leaves nothing behind either
        running = [question for question in questions if not question.done.is_set()]
        for question in running:
            question.stop()
        last = min(end, monotonic()) + GRACE
        for question in running:
            if question.ident is not None:  # an interrupt can come before all are started
                question.done.wait(max(0.0, last - monotonic()))
    return {question.label: question.output or question.too_late(b"") for question in questions}


def _start(command: list[str], environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(
        command,
        bufsize=0,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        creationflags=flags,
    )


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and everything it started, except processes in their own sessions."""
    if sys.platform == "win32":
        with suppress(OSError, subprocess.TimeoutExpired):
            tree = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            subprocess.run(tree, capture_output=True, timeout=GRACE / 2, check=False)
    else:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(OSError):
        process.kill()


def _signal_name(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code & 0xFFFFFFFF:#x}"


def _failure(name: str, text: str, code: int) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "it says nothing")
    return f"{name} failed: {sanitize(first, 200)} (exit code {code})"
