"""Run probes in parallel: programs that may crash, hang or print without end.

Each writes to a file of its own and runs in its own process group, which is killed as a whole when the program ends,
when time is up, or when it has printed too much. Nobody reads from a pipe, so nothing that a program leaves open holds
up the caller. Chapter: Chat on your hardware. Cost: the time of the slowest answer, at most the limit plus `GRACE`.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from time import monotonic, sleep
from typing import IO, NamedTuple

from .device import sanitize

MOST = 1 << 18
"""The most bytes read from one process; the longest real answer, from a machine with eight GPUs, is a fifth of it."""
GRACE = 1.0
"""Seconds that killed processes get to end."""
PAUSE = 0.02
"""Seconds between two looks at the processes."""
FLAGS = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""Windows' flags for processes without a window, in a group of their own."""
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


class _Probe(NamedTuple):
    name: str
    process: "subprocess.Popen[bytes]"
    file: IO[bytes]

    def is_running(self) -> bool:
        return self.process.poll() is None and os.fstat(self.file.fileno()).st_size <= MOST

    def output(self, seconds: float) -> ProbeOutput:
        """Return what was printed so far; a process that still runs has had its time."""
        code, size = self.process.poll(), os.fstat(self.file.fileno()).st_size
        self.file.seek(0)
        text, problem = self.file.read(MOST).decode("utf-8", "replace"), None
        if size > MOST:
            problem = f"{self.name} printed more than {MOST >> 10:,} KiB and was stopped"
        elif code is None:
            problem = f"{self.name} gave no answer in {seconds:g} s and was stopped"
        elif code < 0 or code >= 0xC0000000:
            problem = f"{self.name} crashed ({_signal_name(code)})"
        elif code:
            first = next((line for line in text.splitlines() if line.strip()), "it says nothing")
            problem = f"{self.name} failed: {sanitize(first, 200)} (exit code {code})"
            return ProbeOutput(text, problem, mild=True)
        return ProbeOutput(text, problem)


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
    outputs: dict[str, ProbeOutput] = {}
    running: list[_Probe] = []
    end = monotonic() + seconds
    with ExitStack() as files:
        try:
            for name, command in commands.items():
                try:
                    file = files.enter_context(TemporaryFile())
                    process = subprocess.Popen(
                        command,
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        stdout=file,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                        creationflags=FLAGS,
                    )
                    running.append(_Probe(name, process, file))
                except Exception as error:  # whatever an operating system refuses
                    why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
                    outputs[name] = ProbeOutput(problem=f"{name} can't be run: {sanitize(why)}", started=False)
            while running:
                late = monotonic() >= end
                finished = [probe for probe in running if late or not probe.is_running()]
                outputs |= {probe.name: probe.output(seconds) for probe in finished}
                stop([probe.process for probe in finished])
                running = [probe for probe in running if probe not in finished]
                sleep(PAUSE if running else 0)
        finally:  # an interrupt leaves nothing behind either
            stop([probe.process for probe in running])
    return outputs


def stop(processes: "Sequence[subprocess.Popen[bytes]]") -> None:
    """Kill processes and everything that they started, except what has a session of its own."""
    for process in processes:
        if sys.platform != "win32":
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        elif process.poll() is None:
            with suppress(OSError, subprocess.TimeoutExpired):
                tree = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
                subprocess.run(tree, capture_output=True, timeout=GRACE / 2, check=False)
        with suppress(OSError):
            process.kill()
    end = monotonic() + GRACE
    for process in processes:
        with suppress(subprocess.TimeoutExpired):  # one that waits for a broken driver can't be killed
            process.wait(max(0.0, end - monotonic()))


def _signal_name(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code & 0xFFFFFFFF:#x}"
