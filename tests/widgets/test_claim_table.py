"""The table of claims shows each verdict once, leads to sections, and no claim breaks its HTML."""

import json
import re
from html import unescape

import pytest

from bpelab._support.install import install_command
from bpelab.errors import BPELabError
from bpelab.notebook.claims import DANGEROUS, MOSTLY, SAFE, WRONG, Claims

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import ClaimTable, base, claim_table, sphinx

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
    assert [row["link"] for row in data["rows"]] == ["#a-first-of-2", "", "#script-img-src-x-onerror-alert-1"]
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


def test_a_claim_tested_on_another_page_links_there():
    claims = Claims(page='more.html?"><img>')
    claims.test("Harms.", {"a": [(False, "xy")]}, section="On harm")
    figure = ClaimTable((*several().verdicts, *claims.verdicts))
    assert figure.data["rows"][3]["link"] == 'more.html?"><img>#on-harm'
    assert 'href="more.html?&quot;&gt;&lt;img&gt;#on-harm"' in figure.static_html()


def test_knows_the_verdicts():
    assert claim_table.ORDER == (SAFE, MOSTLY, DANGEROUS, WRONG)


def test_needs_a_verdict():
    with pytest.raises(BPELabError, match="at least one"):
        ClaimTable(())


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 400])
def test_in_a_browser_rows_are_filtered_with_the_keyboard(browser, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    html = ClaimTable(several().verdicts).static_html()
    page.set_content(f"<style>{base.resource('css/figures.css')}</style>{html}<script>{sphinx.page_script()}</script>")
    figure, rows = page.locator(".bl"), page.locator(".bl tbody tr:visible")
    assert rows.count() == 3 and figure.locator(".bl-say").inner_text() == "3 claims: 1 safe, 1 dangerous, 1 wrong."
    assert figure.get_by_role("link", name="Safe one.").get_attribute("href") == "#a-first-of-2"

    def press(group, name):
        button = figure.get_by_role("group", name=group).get_by_role("button", name=name)
        button.focus()
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-pressed") == "true"

    press("which topic", "text")
    assert rows.count() == 2
    press("which verdict", "dangerous")
    assert rows.count() == 1 and "It bites." in rows.inner_text()
    assert figure.locator(".bl-say").inner_text() == "1 of 3 claims shown."
    press("which topic", "files")
    assert rows.count() == 0
    press("which verdict", "all")
    assert rows.count() == 1 and HOSTILE in rows.inner_text()
    assert page.locator("img").count() == 0 and problems == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.close()
