"""A process of node for one library: it is asked to open a vocabulary and to encode texts, under a time limit.

Libraries are installed by npm into a folder outside the repository. `worker.mjs` and `peers.mjs` are copied into it,
since node looks for packages beside the program that imports them.
"""

import json
import shutil
import subprocess
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, Self

from bpelab.bench.runner import next_line, read_lines

HERE = Path(__file__).resolve().parent
MEMORY_MB = 4_096


class Missing(Exception):
    """Raised for what has to be installed; the message says how."""


class Failed(Exception):
    """Raised if a library can't do what it is asked for, or takes too long; the message says why."""


@dataclass(frozen=True)
class Peer:
    """A library: its name in npm, its version, and what share of each text it encodes: 1 / `part`."""

    name: str
    version: str
    part: int


def install(folder: Path) -> None:
    """Install the packages of package.json, with npm, and the programs that call them into a folder, once.

    Raises Missing if there is no node or npm, or npm reaches nothing.
    """
    if shutil.which("node") is None or (npm := shutil.which("npm")) is None:
        raise Missing("node and npm are not installed: install Node.js 20 or newer, which brings both")
    folder.mkdir(parents=True, exist_ok=True)
    wanted, installed = (HERE / "package.json").read_bytes(), folder / "package.json"
    if not installed.exists() or installed.read_bytes() != wanted:
        shutil.rmtree(folder / "node_modules", ignore_errors=True)
        installed.write_bytes(wanted)
        command = [npm, "install", "--no-package-lock", "--no-audit", "--no-fund", "--fetch-retries=1"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            installed.unlink()  # so that the next run tries again
            said = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
            raise Missing(f"npm can't install what {HERE / 'package.json'} lists; it needs a network, once:\n{said}")
    for name in ("worker.mjs", "peers.mjs"):
        shutil.copyfile(HERE / name, folder / name)


def peers(folder: Path, package: Path) -> list[Peer]:
    """Return the libraries in a folder, the one in `package`, this project's, among them."""
    done = subprocess.run(["node", "worker.mjs"], cwd=folder, capture_output=True, text=True, check=True)
    listed = []
    for entry in json.loads(done.stdout):
        home = package if entry["name"] == "bpelab" else folder / "node_modules" / entry["name"]
        version = json.loads((home / "package.json").read_text("utf-8"))["version"]
        listed.append(Peer(entry["name"], version, entry["part"]))
    return listed


class Process(AbstractContextManager["Process"]):
    """A process of node that has opened a vocabulary with one library; `load` is what that took.

    `about` is what `open` in peers.mjs is told. Limits are seconds of processor time, where the system reports it: a
    busy machine is no failure. Raises Failed.
    """

    def __init__(self, folder: Path, peer: Peer, about: dict[str, str], seconds: float) -> None:
        command = ["node", "--expose-gc", f"--max-old-space-size={MEMORY_MB}", "worker.mjs", peer.name]
        self._node = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._lines: Queue[bytes] = Queue()
        Thread(target=read_lines, args=(self._node, self._lines), daemon=True).start()
        try:
            self.load = self._ask(about, seconds)
        except Failed:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def encode(self, path: Path, seconds: float) -> dict[str, Any]:
        """Encode the texts in a file of JSON; return times, the size and number of texts, and a digest of their ids."""
        return self._ask({"texts": str(path)}, seconds)

    def close(self) -> None:
        """End the process, and with it the thread that reads what it writes."""
        self._node.kill()
        self._node.wait()
        assert self._node.stdin is not None
        with suppress(BrokenPipeError):
            self._node.stdin.close()

    def _ask(self, job: dict[str, str], seconds: float) -> dict[str, Any]:
        assert self._node.stdin is not None
        with suppress(BrokenPipeError):  # it ended: then there is no answer
            self._node.stdin.write(json.dumps(job).encode() + b"\n")
            self._node.stdin.flush()
        line = next_line(self._lines, self._node.pid, seconds)
        if not line:
            raise Failed("broke off" if line is not None else f"took more than {seconds:g} s")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer
