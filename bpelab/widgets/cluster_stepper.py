"""Counting on several machines, step by step: parts, workers, a lost worker, and the sum.

Chapter: More than one machine.
"""

from collections import Counter
from html import escape
from typing import Any

from ..boundaries.named_patterns import iter_boundaries
from ..pretokenizers.split import Split
from .base import Figure
from .visible import plain_label, pluralize, visible

WAITING, ADDED = -1, -2
"""States of a part; a state of 0 or more is the worker that keeps its table."""
MAX_PARTS, MAX_WORKERS, TOP = 8, 4, 12


class ClusterStepper(Figure):
    """Pre-tokens of `text`, counted in `parts` parts by `workers` workers, one of which is lost on the way.

    The parts end at safe boundaries of the pattern, and the counts are those of the library's pre-tokenizer. A worker
    keeps its tables until all are counted, so the tables of a lost worker are counted again. Shows 400 characters.
    Raises ValueError unless there are 1 to 8 parts and 1 to 4 workers.

    >>> stepper = ClusterStepper("the cat and the dog and the bird", parts=3, workers=2)
    >>> stepper.data["equal"], stepper.data["distinct"][-1]
    (True, 6)
    >>> stepper.data["steps"][0]["say"]
    'Worker 1 counts part 1: 3 pre-tokens, and keeps the table.'
    """

    name = "cluster_stepper"
    limit = 400

    def __init__(self, text: str, pattern: str = "cl100k", *, parts: int = 6, workers: int = 2) -> None:
        if not (1 <= parts <= MAX_PARTS and 1 <= workers <= MAX_WORKERS):
            raise ValueError(
                f"a figure has 1 to {MAX_PARTS} parts and 1 to {MAX_WORKERS} workers: {parts=}, {workers=}"
            )
        self._split, self._parts, self._workers = Split(pattern), parts, workers
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the parts, the state of each after each step, and the sums of their tables."""
        texts = self._cut(text)
        tables = [Counter(self._split.split(part)) for part in texts]
        totals = [Counter[str]()]
        for table in tables:
            totals.append(totals[-1] + table)
        equal = totals[-1] == Counter(self._split.split(text))
        run = _Run(texts, tables, self._workers)
        run.count_all()
        run.add_all(equal)
        return {
            "parts": texts,
            "workers": self._workers,
            "steps": run.steps,
            "totals": [_top(total) for total in totals],
            "distinct": [len(total) for total in totals],
            "equal": equal,
            "begin": self._begin(texts),
            "say": run.steps[-1]["say"] if run.steps else self._begin(texts),
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the steps in order, and the most frequent pre-tokens."""
        rows = "".join(f"<li>{escape(step['say'])}</li>" for step in data["steps"])
        total = Counter(self._split.split("".join(data["parts"]))).most_common(TOP)
        counts = ", ".join(f"<code>{escape(plain_label(piece.encode()))}</code> {count}" for piece, count in total)
        return f"<ol>{rows}</ol>\n<p>Most frequent: {counts}</p>"

    def _begin(self, texts: list[str]) -> str:
        """Return the figure's sentence before the first step."""
        if not texts:
            return "No text, so nothing to count."
        return f"{pluralize(len(texts), 'part')}, {pluralize(self._workers, 'worker')}. Nothing is counted yet."

    def _cut(self, text: str) -> list[str]:
        """Cut `text` at the first safe boundary from each bound on."""
        safe, bounds = iter_boundaries(text, 0), [0]
        for number in range(1, self._parts):
            nominal = number * len(text) // self._parts
            bounds.append(next((cut for cut in safe if cut >= max(nominal, bounds[-1] + 1)), len(text)))
        bounds.append(len(text))
        return [text[a:b] for a, b in zip(bounds, bounds[1:]) if a < b]


class _Run:
    """A run of the workers, step by step: each step has the state of every part, and the workers present."""

    def __init__(self, texts: list[str], tables: list[Counter[str]], workers: int) -> None:
        self.tables = tables
        self.states = [WAITING] * len(texts)
        self.alive = [True] * workers
        self.steps: list[dict[str, Any]] = []

    def record(self, say: str) -> None:
        added = sum(state == ADDED for state in self.states)
        self.steps.append({"states": [*self.states], "alive": [*self.alive], "added": added, "say": say})

    def count_all(self) -> None:
        """Let workers count in turn; the second is lost once half of the parts are counted."""
        loses = len(self.alive) > 1 and len(self.states) > 2
        turn = 0
        while WAITING in self.states:
            worker = [w for w, there in enumerate(self.alive) if there][turn % sum(self.alive)]
            part = self.states.index(WAITING)
            again = any(step["states"][part] >= 0 for step in self.steps)
            self.states[part] = worker
            self.record(
                f"Worker {worker + 1} counts part {part + 1}{' again' if again else ''}: "
                f"{pluralize(len(self.tables[part]), 'pre-token')}, and keeps the table."
            )
            turn += 1
            if loses and 2 * sum(state >= 0 for state in self.states) >= len(self.states):
                loses = False
                lost = [part for part, state in enumerate(self.states) if state == 1]
                self.alive[1] = False
                self.states = [WAITING if state == 1 else state for state in self.states]
                tables = "one table, which is" if len(lost) == 1 else f"{len(lost)} tables, which are"
                self.record(f"Worker 2 is lost, and with it {tables} to be counted again.")

    def add_all(self, equal: bool) -> None:
        """Add every table once."""
        for part in range(len(self.states)):
            self.states[part] = ADDED
            self.record(f"The table of part {part + 1} is fetched and added, once.")
        if self.steps:
            self.steps[-1]["say"] += (
                " The sum is that of the whole text." if equal else " The sum differs from that of the whole text."
            )


def _top(counts: Counter[str]) -> list[list[Any]]:
    return [[visible(piece.encode()), count] for piece, count in counts.most_common(TOP)]
