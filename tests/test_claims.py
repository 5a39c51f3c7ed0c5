"""A verdict follows from its cases and from nothing else."""

import itertools
import re

import pytest

from bpelab.claims import HOLDS, LIMITED, WRONG, Claims
from bpelab.errors import BPELabError


@pytest.mark.parametrize("first", [[True], [False], [True, False], [True, True]])
@pytest.mark.parametrize("second", [[True], [False], [False, True]])
def test_the_rule(first, second):
    """Holds: all conditions without a counterexample. With limits: some. Wrong: none."""
    groups = {"first": first, "second": second}
    conditions = {name: [(case, "x") for case in cases] for name, cases in groups.items()}
    expected = {2: HOLDS, 1: LIMITED, 0: WRONG}[all(first) + all(second)]
    assert Claims().test("A claim.", conditions).verdict == expected


def test_one_case_turns_it():
    cases = [(True, str(number)) for number in range(50)]
    assert Claims().test("A claim.", {"all": cases}).verdict == HOLDS
    for place in range(50):
        other = [*cases[:place], (False, "no"), *cases[place + 1 :]]
        verdict = Claims().test("A claim.", {"all": other})
        assert verdict.verdict == WRONG
        assert verdict.conditions[0].right == 49
        assert verdict.remark == "no"


def test_the_shortest_counterexample_is_shown_and_the_first_of_those():
    for order in itertools.permutations(["long one", "ab", "cd"]):
        verdict = Claims().test("A claim.", {"all": [(False, case) for case in order]})
        assert verdict.conditions[0].against == next(case for case in order if len(case) == 2)


def test_nothing_tested_is_an_error():
    claims = Claims()
    with pytest.raises(BPELabError, match="at least one condition"):
        claims.test("A claim.", {})
    with pytest.raises(BPELabError, match="'none' has no cases"):
        claims.test("A claim.", {"some": [(True, "")], "none": iter(())})
    assert claims.verdicts == ()


def test_a_claim_that_is_tested_again_is_there_once():
    claims = Claims()
    claims.test("A.", {"all": [(True, "")]})
    claims.test("B.", {"all": [(True, "")]})
    claims.test("A.", {"all": [(False, "x|y\nz")], "some": [(True, "")]})
    assert [(v.claim, v.verdict) for v in claims.verdicts] == [("A.", LIMITED), ("B.", HOLDS)]
    claims.test("C | c.", {"all": [(False, "x|y\nz")]})
    rows = claims.table()._repr_html_().split("<tr>")[2:]
    cells = [[re.sub("<.*?>", "", cell) for cell in row.split("</td>")[:-1]] for row in rows]
    assert cells == [
        ["1", "A.", "holds with limits", "0% to 100%", "only for some"],
        ["2", "B.", "holds", "100%", ""],
        ["3", "C | c.", "wrong", "0%", "x|y\nz"],
    ]
    assert repr(claims.table()).splitlines()[1] == " 2 holds             100%           B."


@pytest.mark.parametrize(
    ("right", "cases", "share"),
    [(0, 9, "0%"), (1, 9999, "0.1%"), (1, 3, "33.3%"), (1, 2, "50%"), (9998, 9999, "99.9%"), (9, 9, "100%")],
)
def test_a_share_is_all_or_none_only_where_the_cases_are(right, cases, share):
    cases = [(number < right, "no") for number in range(cases)]
    assert Claims().test("A claim.", {"all": cases}).share == share


def test_the_share_goes_from_the_worst_condition_to_the_best():
    conditions = {"half": [(True, ""), (False, "")], "most": [(True, "")] * 3 + [(False, "")], "none": [(False, "")]}
    assert Claims().test("A claim.", conditions).share == "0% to 75%"
    assert Claims().test("A claim.", dict(list(conditions.items())[:2])).share == "50% to 75%"
    assert Claims().test("A claim.", {"one": conditions["half"], "other": conditions["half"] * 3}).share == "50%"


def test_a_verdict_displays_itself():
    verdict = Claims().test("A <claim>.", {"here": [(True, "")], "there": [(False, "<x>"), (True, "")]})
    assert repr(verdict) == ("Holds with limits: A <claim>.\n    here: 1 of 1\n    there: 1 of 2. Against it: <x>")
    assert "&lt;claim&gt;" in verdict._repr_html_()
