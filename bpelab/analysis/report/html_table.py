"""HTML tables of the report. Every string is escaped, except `HTML`.

Chapter: Measuring.
"""

import math
from collections.abc import Iterable, Sequence

from .svg_charts import escape_html


class HTML(str):
    """Markup for a cell, which `table` takes as it is."""


Cell = str | int | float


def _cell(value: Cell) -> str:
    """Return the HTML of a cell: numbers are formatted, and text is escaped."""
    if isinstance(value, str):
        return value if isinstance(value, HTML) else escape_html(value)
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:,.2f}"
    return f"{value:,}"


def percent(share: float) -> str:
    """Return a fraction as a percentage with one decimal; a dash for NaN.

    >>> percent(0.125)
    '12.5%'
    """
    return "–" if math.isnan(share) else f"{100 * share:.1f}%"


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], text_columns: Iterable[int] = ()) -> str:
    """Return a table that scrolls if it is too wide; the first column and those in `text_columns` are text.

    >>> html = table(["name", "n"], [["<i>", HTML("<b>a</b>")], ["", 1234]])
    >>> html.count("<td"), "<i>" in html, "<b>a</b>" in html
    (4, False, True)
    """
    text = {0, *text_columns}
    names = "".join(
        f'<th scope="col"{_left_class(column in text)}>{_cell(name)}</th>' for column, name in enumerate(head)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{_left_class(column in text)}>{_cell(cell)}</td>" for column, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'


def _left_class(text: bool) -> str:
    return ' class="left"' if text else ""
