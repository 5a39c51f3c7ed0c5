"""A verdict follows from the cases, and from whether harm is named, and from nothing else."""

import itertools

import pytest

from bpelab.errors import BPELabError
from bpelab.notebook.claims import DANGEROUS, MOSTLY, SAFE, WRONG, Claims

GROUPS = {"all": [True] * 4, "most": [True, True, True, False], "half": [True, False], "none": [False]}


@pytest.mark.parametrize("first", GROUPS)
@pytest.mark.parametrize("second", GROUPS)
def test_the_rule(first, second):
    """Safe: nothing against it. Dangerous: it harms, and a trial may confirm it. Mostly: no harm, right in most."""
    conditions = {name: [(case, "x") for case in GROUPS[group]] for name, group in (("a", first), ("b", second))}
    harmless = Claims().test("A claim.", conditions).verdict
    harmful = Claims().test("A claim.", conditions, harm="It bites.").verdict
    shares = {first, second}
    if shares == {"all"}:
        assert harmless == harmful == SAFE
    else:
        assert harmless == (MOSTLY if shares <= {"all", "most"} else WRONG)
        assert harmful == (DANGEROUS if shares & {"all", "most"} else WRONG)


def test_one_case_turns_it():
    cases = [(True, str(number)) for number in range(50)]
    assert Claims().test("A claim.", {"all": cases}, harm="It bites.").verdict == SAFE
    for place in range(50):
        other = [*cases[:place], (False, "no"), *cases[place + 1 :]]
        verdict = Claims().test("A claim.", {"all": other})
        assert verdict.verdict == MOSTLY
        assert Claims().test("A claim.", {"all": other}, harm="It bites.").verdict == DANGEROUS
        assert verdict.conditions[0].right == 49
        assert verdict.remark == "no"


def test_the_shortest_counterexample_is_shown_and_the_first_of_those():
    for order in itertools.permutations(["long one", "ab", "cd"]):
        verdict = Claims().test("A claim.", {"all": [(False, case) for case in order]})
        assert verdict.conditions[0].counterexample == next(case for case in order if len(case) == 2)


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
    assert [(v.claim, v.verdict) for v in claims.verdicts] == [("A.", WRONG), ("B.", SAFE)]
    claims.test("C | c.", {"all": [(False, "x|y\nz")]}, harm="Not shown: nobody believes it.", instead="Say <D>.")
    claims.test("E.", {"all": [(False, "x")], "some": [(True, "")]}, harm="It bites.", instead="Say F.")
    assert [(v.remark, v.instead) for v in claims.verdicts] == [
        ("always right for some.", ""),
        ("", ""),
        ("x|y\nz", "Say <D>."),
        ("always right for some.", "Say F."),
    ]


def test_what_is_saved_is_loaded_and_what_differs_is_named(tmp_path):
    claims, path = Claims(page="more.html"), tmp_path / "record.json"
    conditions = {"here": [(True, "")], "there": [(False, "日 <x>"), (True, "")]}
    claims.test("A.", conditions, harm="It bites.", instead="Say so.", topic="text", section="On A")
    claims.test("B.", {"all": [(True, "")]})
    claims.save(path)
    loaded = Claims.load(path)
    assert loaded.verdicts == claims.verdicts
    assert {verdict.page for verdict in loaded.verdicts} == {"more.html"}
    assert claims.differences(loaded) == []
    claims.test("B.", {"all": [(True, "")] * 2})
    claims.test("C.", {"all": [(True, "")]})
    assert claims.differences(loaded) == loaded.differences(claims) == ["B.", "C."]
    for wrong in ("", "3", "[3]", "[{}]", '[{"claim": "A."}]', '[{"claim": "A.", "conditions": [{}]}]'):
        path.write_text(wrong)
        with pytest.raises(BPELabError, match="is not a record of claims"):
            Claims.load(path)


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
    conditions = {"here": [(True, "")], "there": [(False, "<x>"), (True, "")]}
    verdict = Claims().test("A <claim>.", conditions, instead="Say so.")
    judged = "A <claim>.\n    here: 1 of 1\n    there: 1 of 2. Against it: <x>\n"
    assert repr(verdict) == f"Wrong: {judged}Instead: Say so."
    harmful = Claims().test("A <claim>.", conditions, harm="It bites.", instead="Say so.")
    assert repr(harmful) == f"Dangerous: {judged}Where it fails: It bites.\nInstead: Say so."
    assert "&lt;claim&gt;" in verdict._repr_html_()
