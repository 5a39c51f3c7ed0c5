"""What is measured: loading, short texts, lines, documents, megabytes, and texts on which some libraries take minutes.

Every library's ids are compared with those of the library in Python, which `bpelab bench` compares with tiktoken's:
first those of other text of the same kind, which warms the library up, and then those of each text that was timed. A
library with other ids isn't timed in that row, or its times are dropped. In each round all libraries encode the same
text, one after the other, each in a process of its own that has not seen it; another one begins each time.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bpelab import BPETokenizer
from bpelab.bench.paired_measures import rotate
from bpelab.bench.texts import PATHOLOGICAL, Text, split_documents, split_lines, split_parts, split_short
from bpelab.bench.vocabularies import Vocabulary

from .processes import Failed, Peer, Process

LOAD = "load"
BAD_TEXTS = ("one letter", "spaces", "digits")
"""Some of PATHOLOGICAL."""
SPLITS: dict[str, Callable[[str], list[str]]] = {
    "60 characters": split_short,
    "lines": split_lines,
    "2 kB": split_documents,
}
"""Rows of the first text -> the function that cuts a part of it into texts, which are encoded by a call each."""


@dataclass(frozen=True)
class Plan:
    """How much is measured: rounds, bytes of a text in one round, seconds of warming up, and limits in seconds.

    `bad_seconds` is the limit of a text that some libraries don't finish, `seconds` that of everything else.
    """

    rounds: int = 5
    part: int = 1_000_000
    warm_up: float = 0.3
    seconds: float = 60
    bad_seconds: float = 4


@dataclass
class Run:
    """A run: what is known of it, and what it has measured.

    Attributes:
        folder: where libraries are installed; `package` is this project's one.
        work: a folder for the files of texts.
        samples: of a row, (encoding, row, library) -> the times of each round, as `worker.mjs` answers them.
        left_out: failures: encoding, row, library and why.
    """

    folder: Path
    package: Path
    work: Path
    peers: list[Peer]
    plan: Plan
    samples: dict[tuple[str, str, str], list[dict[str, Any]]] = field(default_factory=dict)
    left_out: list[dict[str, str]] = field(default_factory=list)

    def measure(self, vocabulary: Vocabulary, texts: list[Text]) -> None:
        """Measure every row for a vocabulary."""
        self._about = {
            "encoding": vocabulary.name,
            "ranks": vocabulary.ranks,
            "folder": vocabulary.folder,
            "package": str(self.package / "bpelab.js"),
        }
        self._tokenizer = BPETokenizer.from_pretrained(vocabulary.folder)
        self._load()
        for text in texts:
            warm, parts = split_parts(text.content, self.plan.rounds, self.plan.part)
            for row, split in SPLITS.items() if text is texts[0] else ():
                self._encode(f"{text.name}, {row}", split, warm, parts)
            self._encode(text.name, lambda part: [part], warm, parts)
        for name in BAD_TEXTS:
            self._bad(name)

    def _open(self, peer: Peer) -> Process:
        return Process(self.folder, peer, self._about, self.plan.seconds)

    def _load(self) -> None:
        """Time loading in fresh processes; the first load of each doesn't count, so that files are in memory."""
        alive = list(self.peers)
        for index in range(-1, self.plan.rounds):
            for peer in rotate(alive, max(index, 0)):
                try:
                    with self._open(peer) as process:
                        self._keep(LOAD, peer, [process.load] if index >= 0 else [])
                except Failed as error:
                    self._leave_out(LOAD, peer, error)
                    alive.remove(peer)

    def _encode(self, row: str, split: Callable[[str], list[str]], warm: list[str], parts: list[str]) -> None:
        processes: dict[Peer, Process] = {}
        times: dict[Peer, list[dict[str, Any]]] = {peer: [] for peer in self.peers}
        for peer in self.peers:
            try:
                processes[peer] = self._open_and_warm_up(peer, split, warm)
            except Failed as error:
                self._leave_out(row, peer, error)
        for index, part in enumerate(parts):
            for peer in rotate(list(processes), index):
                try:
                    times[peer].append(self._compared(processes[peer], split(part), peer.part, self.plan.seconds))
                except Failed as error:
                    self._leave_out(row, peer, error)
                    processes.pop(peer).close()
        for peer, process in processes.items():
            process.close()
            self._keep(row, peer, times[peer])

    def _open_and_warm_up(self, peer: Peer, split: Callable[[str], list[str]], warm: list[str]) -> Process:
        process, used = self._open(peer), 0.0
        try:
            for part in warm:
                if used < self.plan.warm_up:
                    used += self._compared(process, split(part), peer.part, self.plan.seconds)["cpu"]
        except Failed:
            process.close()
            raise
        return process

    def _bad(self, name: str) -> None:
        """Time a text that some libraries don't finish, in a process of its own."""
        texts = [PATHOLOGICAL[name](self.plan.part)]
        for peer in self.peers:
            try:
                with self._open(peer) as process:
                    self._keep(name, peer, [self._compared(process, texts, 1, self.plan.bad_seconds)])
            except Failed as error:
                self._leave_out(name, peer, error)

    def _compared(self, process: Process, texts: list[str], part: int, seconds: float) -> dict[str, Any]:
        """Have some texts encoded, or 1 / `part` of them; return the times. Raises Failed if the ids are others."""
        if part > 1:
            texts = texts[: -(-len(texts) // part)] if len(texts) > 1 else [texts[0][: len(texts[0]) // part].rstrip()]
        path = self.work / "texts.json"
        path.write_text(json.dumps(texts), "utf-8")
        answer = process.encode(path, seconds)
        if answer.pop("digest") != self._digest(texts):
            raise Failed("other ids")
        return answer

    def _digest(self, texts: list[str]) -> str:
        rows = [self._tokenizer.encode_array(text).astype("<u4") for text in texts]
        return hashlib.sha256(np.concatenate(rows).tobytes()).hexdigest()

    def _keep(self, row: str, peer: Peer, times: list[dict[str, Any]]) -> None:
        self.samples.setdefault((self._about["encoding"], row, peer.name), []).extend(times)

    def _leave_out(self, row: str, peer: Peer, error: Failed) -> None:
        entry = {"encoding": self._about["encoding"], "row": row, "library": peer.name, "why": str(error)}
        self.left_out.append(entry)
        self.samples.pop((self._about["encoding"], row, peer.name), None)
