"""The slider that is a table where no kernel runs."""

import pytest

from bpelab.widgets import Sweep


def squares(number):
    return {"square": number * number, "<b>": "&"}


def test_the_table():
    sweep = Sweep("n", [1, 12], squares)
    assert repr(sweep) == "n   square  <b>\n1   1       &\n12  144     &"
    html = sweep._repr_html_()
    assert "<td>144</td>" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_the_slider():
    pytest.importorskip("ipywidgets")
    slider, shown = Sweep("n", [1, 12], squares).control().children
    assert "square: 1<" in shown.value
    slider.value = 12
    assert "square: 144<" in shown.value
    assert "&lt;b&gt;" in shown.value


def test_a_notebook_gets_both():
    pytest.importorskip("ipywidgets")
    bundle = Sweep("n", [1], squares)._repr_mimebundle_()
    views = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in views
    assert "<td>1</td>" in views["text/html"]


def test_nothing_to_sweep():
    with pytest.raises(ValueError, match="at least one value"):
        Sweep("n", [], squares)
