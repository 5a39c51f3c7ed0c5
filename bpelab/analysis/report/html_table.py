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


def table(head: str | Sequence[str], rows: Iterable[Sequence[Cell]], text_columns: Iterable[int] = ()) -> str:
    """Return a table that scrolls if it is too wide; the first column and those in `text_columns` are text.

    `head` has the names of the columns; a string has ` | ` in between.

    >>> html = table("name | n", [["<i>", HTML("<b>a</b>")], ["", 1234]])
    >>> html.count("<td"), "<i>" in html, "<b>a</b>" in html
    (4, False, True)
    """
    text = {0, *text_columns}

    def cells(tag: str, row: Sequence[Cell]) -> str:
        left = (' class="left"' if column in text else "" for column in range(len(row)))
        return "".join(f"<{tag}{style}>{_cell(cell)}</{tag[:2]}>" for style, cell in zip(left, row))

    names = cells('th scope="col"', head.split(" | ") if isinstance(head, str) else head)
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'
