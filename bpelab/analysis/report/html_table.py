"""HTML tables of the report. The caller escapes text, with `svg_charts.escape_html`.

Chapter: Measuring.
"""

import math
from collections.abc import Iterable, Sequence

Cell = str | int | float


def _cell(value: Cell) -> str:
    """Return the HTML of a cell: numbers are formatted; a str is HTML already."""
    if isinstance(value, str):
        return value
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

    >>> table(["name", "n"], [["<b>a</b>", 1234]]).count("<td")
    2
    """
    text = {0, *text_columns}
    names = "".join(f'<th scope="col"{_left_class(column in text)}>{name}</th>' for column, name in enumerate(head))
    body = "".join(
        "<tr>"
        + "".join(f"<td{_left_class(column in text)}>{_cell(cell)}</td>" for column, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'


def _left_class(text: bool) -> str:
    return ' class="left"' if text else ""
