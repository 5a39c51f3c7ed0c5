"""The table of claims shows each verdict once, leads to sections, and no claim breaks its HTML."""

import json
import re
from html import unescape

import pytest

from bpelab._support.install import install_command
from bpelab.errors import BPELabError
from bpelab.notebook.claims import Claims

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import ClaimTable

HOSTILE = "</script><img src=x onerror=alert(1)> & \"'"


def several() -> Claims:
    claims = Claims()
    claims.test("Safe one.", {"all": [(True, "")] * 3}, harm="Never shown.", topic="text", section="A: first, of 2")
    claims.test("Harms.", {"a": [(True, "")], "b": [(False, "xy")]}, harm="It bites.", instead="Say so.", topic="text")
    claims.test(HOSTILE, {HOSTILE: [(False, HOSTILE)]}, instead=HOSTILE, topic="files", section=HOSTILE)
    return claims


def test_has_a_row_for_each_verdict_and_counts_them():
    data = ClaimTable(several().verdicts).data
    assert [row["verdict"] for row in data["rows"]] == ["safe", "dangerous", "wrong"]
    assert data["verdicts"] == {"safe": 1, "dangerous": 1, "wrong": 1}
    assert data["topics"] == {"text": 2, "files": 1}
    assert data["say"] == "3 claims: 1 safe, 1 dangerous, 1 wrong."
    assert [row["harm"] for row in data["rows"]] == ["", "It bites.", ""]
    assert [row["anchor"] for row in data["rows"]] == ["a-first-of-2", "", "script-img-src-x-onerror-alert-1"]
    assert data["rows"][1]["conditions"] == [["a: 1 of 1", 100.0], ["b: 0 of 1", 0.0]]


def test_the_still_has_the_whole_table_and_text_from_outside_is_escaped():
    html = ClaimTable(several().verdicts).static_html()
    rows = re.findall("<tr>(.*?)</tr>", html)
    assert len(rows) == 4 and "<img" not in html
    assert unescape(re.sub("<.*?>", "", rows[3])).count(HOSTILE) == 3
    assert json.loads(re.search('json">(.*)</script>', html)[1])["rows"][2]["claim"] == HOSTILE


def test_as_text_it_has_all_but_the_harm():
    bundle = ClaimTable(several().verdicts)._repr_mimebundle_()
    views = bundle[0] if isinstance(bundle, tuple) else bundle
    assert views["text/plain"].splitlines()[:4] == [
        "ClaimTable: 3 claims: 1 safe, 1 dangerous, 1 wrong.",
        " 1 safe      100%           Safe one.",
        " 2 dangerous 0% to 100%     Harms.",
        "                            -> Say so.",
    ]


def test_needs_a_verdict():
    with pytest.raises(BPELabError, match="at least one"):
        ClaimTable(())
