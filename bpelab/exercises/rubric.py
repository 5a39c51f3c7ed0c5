"""Rubrics: score a submission of many parts; each item has a requirement and a function that tests it.

A judge returns its finding, or raises NotEarned with the finding and what to do. Any other exception also comes from
the submission (a file that can't be opened, say): it costs the item's points, but never ends the check.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..notebook.messages import short


class NotEarned(Exception):
    """Raised by a judge if its item isn't earned; says what was found and what to do."""

    def __init__(self, finding: str, to_do: str) -> None:
        super().__init__(finding)
        self.finding, self.to_do = finding, to_do


@dataclass(frozen=True)
class Point:
    """One item of a rubric.

    Attributes:
        name: two or three words.
        points: how many points it is worth.
        requirement: a sentence that says what has to be true.
        judge: submission -> what was found.
    """

    name: str
    points: int
    requirement: str
    judge: Callable[[Any], str]


@dataclass(frozen=True)
class Score:
    """The result of one item. `to_do` is "" if it was earned."""

    point: Point
    finding: str
    to_do: str

    @property
    def earned(self) -> int:
        """All of the item's points, or 0."""
        return 0 if self.to_do else self.point.points

    @property
    def lines(self) -> list[str]:
        """The lines of a message about the item."""
        head = f"{self.earned} of {self.point.points}  {self.point.name}: "
        below = [f"found: {self.finding}"] + ([f"to do: {self.to_do}"] if self.to_do else [])
        return [head + self.point.requirement, *(f"        {short(' '.join(line.split()))}" for line in below)]


@dataclass(frozen=True)
class Rubric:
    """The items that a submission is judged by.

    Attributes:
        open: the path of a folder -> the submission that judges receive. Raises NotEarned if there is nothing to judge.
        points: the items, in the order in which they are judged.
        pass_mark: how many points are needed.
    """

    open: Callable[[Any], Any]
    points: tuple[Point, ...]
    pass_mark: int

    @property
    def total(self) -> int:
        """The sum of all points."""
        return sum(point.points for point in self.points)

    def scores(self, folder: Any) -> list[Score]:
        """Return a score for each item. Raises NotEarned if there is nothing to judge.

        Paths are shown relative to `folder`.
        """
        submission, prefix = self.open(folder), os.path.join(folder, "")
        scores = [self._score(point, submission) for point in self.points]
        return [
            Score(score.point, score.finding.replace(prefix, "").replace(folder, "the folder"), score.to_do)
            for score in scores
        ]

    def _score(self, point: Point, submission: Any) -> Score:
        try:
            return Score(point, point.judge(submission), "")
        except NotEarned as error:
            return Score(point, error.finding, error.to_do)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # `except Exception` misses the panic of a library in Rust
            finding = f"{type(error).__name__}: {error}"
            return Score(point, finding, "see what the message says, and write the folder again")
