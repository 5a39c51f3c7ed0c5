"""Claims about tokenizers, tested: a verdict is worked out from cases, and never written by hand.

A claim is tried under one or more conditions, on many cases each. It holds where no case speaks against it under any
condition. It holds with limits where that is true of some conditions only. Otherwise it is wrong. So other data can
give another verdict. One case in a thousand can make a claim wrong, so the share of cases stands beside the verdict.

Chapter: Claims, tested. Cost: as the cases.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

from .errors import BPELabError
from .exercises.show import Message, short

HOLDS, LIMITED, WRONG = "holds", "holds with limits", "wrong"
_TONES = {HOLDS: "right", LIMITED: "note", WRONG: "fault"}
Cases = Iterable[tuple[bool, str]]


@dataclass(frozen=True)
class Condition:
    """What came of the cases under one condition. `against` is the shortest counterexample, or None."""

    name: str
    cases: int
    right: int
    against: str | None

    @property
    def holds(self) -> bool:
        """Whether no case speaks against the claim."""
        return self.right == self.cases

    @property
    def share(self) -> str:
        """In how many of the cases the claim is right, in percent: rounded, but never to all or to none of them."""
        tenths = round(1000 * self.right / self.cases)
        if 0 < self.right < self.cases:
            tenths = min(max(tenths, 1), 999)
        return f"{tenths / 10:g}%"

    def __str__(self) -> str:
        count = f"{self.right:,} of {self.cases:,}"
        return f"{self.name}: {count}" + ("" if self.holds else f". Against it: {self.against}")


@dataclass(frozen=True)
class Verdict:
    """A claim and what came of testing it; displays itself."""

    claim: str
    conditions: tuple[Condition, ...]

    @property
    def verdict(self) -> str:
        """HOLDS, LIMITED or WRONG, from the conditions."""
        holding = sum(condition.holds for condition in self.conditions)
        if holding == len(self.conditions):
            return HOLDS
        return LIMITED if holding else WRONG

    @property
    def share(self) -> str:
        """In how many of its cases the claim is right: under the worst condition and, if it differs, the best."""
        ordered = sorted(self.conditions, key=lambda condition: condition.right / condition.cases)
        return " to ".join(dict.fromkeys((ordered[0].share, ordered[-1].share)))

    @property
    def remark(self) -> str:
        """Where a claim with limits holds; what speaks against one that is wrong; nothing for one that holds."""
        if self.verdict == LIMITED:
            return "only for " + "; ".join(condition.name for condition in self.conditions if condition.holds)
        return next((f"{condition.against}" for condition in self.conditions if not condition.holds), "")

    def __repr__(self) -> str:
        return repr(self._message())

    def _repr_html_(self) -> str:
        return self._message()._repr_html_()

    def _message(self) -> Message:
        lines = tuple(short(str(condition)) for condition in self.conditions)
        return Message(self.verdict.capitalize(), _TONES[self.verdict], [self.claim, lines])


class Claims:
    """The claims tested so far, in order.

    >>> claims = Claims()
    >>> claims.test("Odd numbers are prime.", {"below 8": [(True, "3"), (True, "7")], "from 8 on": [(False, "9")]})
    Holds with limits: Odd numbers are prime.
        below 8: 2 of 2
        from 8 on: 0 of 1. Against it: 9
    >>> claims.test("Even numbers are prime.", {"even": [(True, "2"), (False, "10"), (False, "4")]}).verdict
    'wrong'
    """

    def __init__(self) -> None:
        self._verdicts: dict[str, Verdict] = {}

    def test(self, claim: str, conditions: Mapping[str, Cases]) -> Verdict:
        """The verdict on a claim, which is kept; a claim that is tested again takes the place of the first time.

        `conditions` maps a name to cases. A case is (whether the claim is right there, the case in words).

        Raises BPELabError for a condition without cases: nothing would have been tested.
        """
        verdict = Verdict(claim, tuple(_tried(name, cases) for name, cases in conditions.items()))
        if not verdict.conditions:
            raise BPELabError(f"nothing was tested of {claim!r}: give at least one condition")
        self._verdicts[claim] = verdict
        return verdict

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts, in the order in which the claims were first tested."""
        return tuple(self._verdicts.values())

    def table(self) -> "Table":
        """All verdicts as a table that displays itself."""
        return Table(self.verdicts)


class Table:
    """Number, claim, verdict, the share of cases in which the claim is right, and where it holds or what speaks
    against it: a table in a notebook, else text without the last.
    """

    def __init__(self, verdicts: tuple[Verdict, ...]) -> None:
        self.verdicts = verdicts

    def __repr__(self) -> str:
        return "\n".join(f"{n:2} {v.verdict:17} {v.share:14} {v.claim}" for n, v in enumerate(self.verdicts, start=1))

    def _repr_html_(self) -> str:
        rows = [_row("th", ("", "claim", "verdict", "right in", "where, or what speaks against it"))]
        for number, verdict in enumerate(self.verdicts, start=1):
            remark = escape(verdict.remark)
            if verdict.verdict == WRONG:
                remark = f'<code style="color: inherit; background: none;">{remark}</code>'
            claim, judged = escape(verdict.claim), f"<b>{verdict.verdict}</b>"
            rows.append(_row("td", (str(number), claim, judged, verdict.share, remark)))
        # The class is that of the exercises' messages, which fit a light page and a dark one.
        return f'<div class="bpelab-exercise" style="color: inherit;"><table>{"".join(rows)}</table></div>'


def _row(kind: str, cells: Iterable[str]) -> str:
    style = "text-align: left; padding: 0.2em 0.8em 0.2em 0;"
    return "<tr>" + "".join(f'<{kind} style="{style}">{cell}</{kind}>' for cell in cells) + "</tr>"


def _tried(name: str, cases: Cases) -> Condition:
    total = right = 0
    against: str | None = None
    for holds, case in cases:
        total += 1
        right += bool(holds)
        if not holds and (against is None or len(case) < len(against)):
            against = case
    if not total:
        raise BPELabError(f"the condition {name!r} has no cases, so nothing would have been tested")
    return Condition(name, total, right, against)
