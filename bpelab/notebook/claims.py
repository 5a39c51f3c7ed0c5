"""Tests of claims about tokenizers: count how often a claim is right, and report it with the harm that it does.

A claim is tested under one or more conditions, on many cases each. It is *safe* if no case contradicts it. If some do,
the verdict depends on how often, and on whether a person who relies on it is harmed without noticing:

- *dangerous*: it can do harm unnoticed, and under some condition it is right in most cases, so a trial confirms it.
- *mostly*: it does no such harm, and it is right in most cases under every condition.
- *wrong*: everything else. Under some condition it fails in half of the cases or more, or a trial shows it at once.

The shares depend on the cases, and other data can lead to another verdict. The harm is a judgement, written in words
where the claim is tested. It is shown with the verdict, together with what to do instead.

Chapter: Claims, tested. Cost: that of the cases.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from .._support.textio import write_atomically
from ..errors import BPELabError
from .messages import Message, short

SAFE, MOSTLY, DANGEROUS, WRONG = "safe", "mostly", "dangerous", "wrong"
_TONES = {SAFE: "right", MOSTLY: "note", DANGEROUS: "fault", WRONG: "fault"}
Cases = Iterable[tuple[bool, str]]


@dataclass(frozen=True)
class Condition:
    """The results of the cases under one condition. `counterexample` is the shortest one, or None."""

    name: str
    cases: int
    right: int
    counterexample: str | None

    @property
    def holds(self) -> bool:
        """True if no case contradicts the claim."""
        return self.right == self.cases

    @property
    def holds_mostly(self) -> bool:
        """True if the claim is right in more than half of the cases."""
        return 2 * self.right > self.cases

    @property
    def share(self) -> str:
        """The share of cases in which the claim is right, in percent; never rounded up to 100% or down to 0%."""
        tenths = round(1000 * self.right / self.cases)
        if 0 < self.right < self.cases:
            tenths = min(max(tenths, 1), 999)
        return f"{tenths / 10:g}%"

    def __str__(self) -> str:
        count = f"{self.right:,} of {self.cases:,}"
        return f"{self.name}: {count}" + ("" if self.holds else f". Against it: {self.counterexample}")


@dataclass(frozen=True)
class Verdict:
    """A claim and the result of testing it; displays itself.

    Attributes:
        harm: what happens, unnoticed, to a person who relies on the claim where it fails; "" if nothing does.
        instead: what to say or do instead.
        topic: what the claim is about, in a word.
        section: the heading under which it is tested.
        page: the address of the page that tests it; "" for the page that shows it.
    """

    claim: str
    conditions: tuple[Condition, ...]
    harm: str = ""
    instead: str = ""
    topic: str = ""
    section: str = ""
    page: str = ""

    @property
    def verdict(self) -> str:
        """SAFE, MOSTLY, DANGEROUS or WRONG, from the conditions and the harm."""
        if all(condition.holds for condition in self.conditions):
            return SAFE
        if self.harm and any(condition.holds_mostly for condition in self.conditions):
            return DANGEROUS
        return MOSTLY if all(condition.holds_mostly for condition in self.conditions) else WRONG

    @property
    def share(self) -> str:
        """The share of cases in which the claim is right: under the worst condition and, if it differs, the best."""
        ordered = sorted(self.conditions, key=lambda condition: condition.right / condition.cases)
        return " to ".join(dict.fromkeys((ordered[0].share, ordered[-1].share)))

    @property
    def remark(self) -> str:
        """The conditions under which the claim always holds, else a counterexample; "" if the claim is safe."""
        holding = [condition.name for condition in self.conditions if condition.holds]
        if self.verdict == SAFE:
            return ""
        return f"always right for {'; '.join(holding)}." if holding else self.counterexample

    @property
    def counterexample(self) -> str:
        """The shortest case against the claim, from the first condition that has one; "" if none has."""
        return next((f"{condition.counterexample}" for condition in self.conditions if not condition.holds), "")

    def __repr__(self) -> str:
        return repr(self._message())

    def _repr_html_(self) -> str:
        return self._message()._repr_html_()

    def _message(self) -> Message:
        lines = tuple(short(str(condition)) for condition in self.conditions)
        parts: list[str | tuple[str, ...]] = [self.claim, lines]
        if self.verdict == DANGEROUS:
            parts.append(f"Where it fails: {self.harm}")
        if self.instead:
            parts.append(f"Instead: {self.instead}")
        return Message(self.verdict.capitalize(), _TONES[self.verdict], parts)


class Claims:
    """The claims tested so far, in order. `page` is the address of the page that tests them, for links from another.

    >>> claims = Claims()
    >>> odd = {"below 8": [(True, "3"), (True, "7")], "from 8 on": [(False, "9")]}
    >>> claims.test("Odd numbers are prime.", odd, instead="Try the divisors up to the square root.")
    Wrong: Odd numbers are prime.
        below 8: 2 of 2
        from 8 on: 0 of 1. Against it: 9
    Instead: Try the divisors up to the square root.
    >>> claims.test("Odd numbers are prime.", odd, harm="A key made from 9 is easily broken.").verdict
    'dangerous'
    """

    def __init__(self, page: str = "") -> None:
        self._page = page
        self._verdicts: dict[str, Verdict] = {}

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Claims":
        """Read the claims that `save` wrote.

        Raises BPELabError if the file isn't such a record. Cost: reading a small file.
        """
        try:
            rows = json.loads(Path(path).read_text(encoding="utf-8"))
            claims = cls()
            for row in rows:
                conditions = tuple(Condition(**condition) for condition in row.pop("conditions"))
                claims._verdicts[row["claim"]] = Verdict(**row, conditions=conditions)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BPELabError(f"{path} is not a record of claims: {error}") from error
        return claims

    def save(self, path: str | PathLike[str]) -> None:
        """Write all verdicts, with the cases counted under each condition, as JSON. Raises OSError if it can't."""
        rows = [asdict(verdict) for verdict in self.verdicts]
        write_atomically(Path(path), (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode())

    def differences(self, other: "Claims") -> list[str]:
        """Return the claims whose results differ from those in `other`, or that only one of the two has."""
        mine, theirs = ({verdict.claim: verdict for verdict in claims.verdicts} for claims in (self, other))
        return [claim for claim in dict.fromkeys([*mine, *theirs]) if mine.get(claim) != theirs.get(claim)]

    def test(
        self,
        claim: str,
        conditions: Mapping[str, Cases],
        *,
        harm: str = "",
        instead: str = "",
        topic: str = "",
        section: str = "",
    ) -> Verdict:
        """Test a claim, record its verdict and return it; testing a claim again replaces its verdict.

        `conditions` maps a name to cases. A case is (whether the claim is right there, the case in words). `harm` says
        what happens, unnoticed, to a person who relies on the claim where it fails; leave it out if nothing does.
        `instead` says what to do; `topic` and `section` say where the claim belongs.

        Raises BPELabError if a condition has no cases: nothing would have been tested.
        """
        tested = tuple(_test_condition(name, cases) for name, cases in conditions.items())
        verdict = Verdict(claim, tested, harm, instead, topic, section, self._page)
        if not verdict.conditions:
            raise BPELabError(f"nothing was tested of {claim!r}: give at least one condition")
        self._verdicts[claim] = verdict
        return verdict

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts, in the order in which the claims were first tested."""
        return tuple(self._verdicts.values())


def _test_condition(name: str, cases: Cases) -> Condition:
    total = right = 0
    counterexample: str | None = None
    for holds, case in cases:
        total += 1
        right += bool(holds)
        if not holds and (counterexample is None or len(case) < len(counterexample)):
            counterexample = case
    if not total:
        raise BPELabError(f"the condition {name!r} has no cases, so nothing would have been tested")
    return Condition(name, total, right, counterexample)
