"""Score a work of many parts: each point is stated, judged by running something, and says how it is earned.

A judge returns what it found, or raises Missing with what it found and what to do. Whatever else it raises comes from
the work too (a file that can't be opened, say) and costs the point, never the check.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .show import short


class Missing(Exception):
    """A point is not earned: what was found, and what to do."""

    def __init__(self, found: str, to_do: str) -> None:
        super().__init__(found)
        self.found, self.to_do = found, to_do


@dataclass(frozen=True)
class Point:
    """One thing that is asked.

    Attributes:
        name: two or three words.
        worth: how many points.
        asked: a sentence that says what has to be true.
        judge: work -> what was found.
    """

    name: str
    worth: int
    asked: str
    judge: Callable[[Any], str]


@dataclass(frozen=True)
class Score:
    """What came of a point. `to_do` is "" where it was earned."""

    point: Point
    found: str
    to_do: str

    @property
    def earned(self) -> int:
        """All of the point, or nothing."""
        return 0 if self.to_do else self.point.worth

    @property
    def lines(self) -> list[str]:
        """As it stands in a message."""
        head = f"{self.earned} of {self.point.worth}  {self.point.name}: "
        below = [f"found: {self.found}"] + ([f"to do: {self.to_do}"] if self.to_do else [])
        return [head + self.point.asked, *(f"        {short(' '.join(line.split()))}" for line in below)]


@dataclass(frozen=True)
class Rubric:
    """What a work is judged by.

    Attributes:
        begin: what was handed in -> the work that judges look at. Raises Missing where there is nothing to judge.
        points: in the order in which they are judged.
        enough: how many points are needed.
    """

    begin: Callable[[Any], Any]
    points: tuple[Point, ...]
    enough: int

    @property
    def most(self) -> int:
        """The sum of all points."""
        return sum(point.worth for point in self.points)

    def scores(self, handed_in: Any) -> list[Score]:
        """A score for each point. Raises Missing where there is nothing to judge.

        What is inside of the folder that was handed in is called as it is there.
        """
        work, inside = self.begin(handed_in), os.path.join(handed_in, "")
        scores = [self._score(point, work) for point in self.points]
        return [
            Score(score.point, score.found.replace(inside, "").replace(handed_in, "the folder"), score.to_do)
            for score in scores
        ]

    def _score(self, point: Point, work: Any) -> Score:
        try:
            return Score(point, point.judge(work), "")
        except Missing as missing:
            return Score(point, missing.found, missing.to_do)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a library in Rust panics with what `except Exception` misses
            found = f"{type(error).__name__}: {error}"
            return Score(point, found, "see what the sentence says, and write the folder again")
