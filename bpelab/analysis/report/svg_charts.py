"""SVG charts inside an HTML page: bars and lines. Colours and fonts come from the page's style sheet.

All text in a chart is escaped here.

Chapter: Measuring.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

from ..._support.textio import utf8
from ...formats.listing import printable

WIDTH, NAME_WIDTH, ROW_HEIGHT = 640, 170, 20
COLOUR_COUNT = 6
"""The number of colours in the style sheet, `.c0` to `.c5`; a seventh series reuses the first, dashed."""
MAX_NAME = 24


def escape_html(text: str | bytes, longest: int | None = None) -> str:
    """Return `text` escaped for HTML, with control and direction characters as code points.

    Line ends and tabs become Python escapes; text is cut off after `longest` characters.

    >>> escape_html("<b>\\u202e"), escape_html(b"a\\xff" * 9, 4)
    ('&lt;b&gt;\\\\u202e', 'a\ufffda\ufffd…')
    >>> print(escape_html("a\\r\\n\\tb"))
    a\\r\\n\\tb
    """
    data = text if isinstance(text, bytes) else utf8(text)
    plain = printable(data.replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\t", b"\\t"))
    return escape(plain if longest is None or len(plain) <= longest else plain[:longest] + "…")


def bars(groups: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Return a bar chart: a heading per group, and a labelled bar per name; NaN has no bar.

    >>> bars({"a text": {"one": 2.0}}, "bytes per token").count("<rect")
    1
    """
    values = [value for group in groups.values() for value in group.values() if not math.isnan(value)]
    scale = (WIDTH - NAME_WIDTH - 60) / max([*values, 1e-9])
    y, parts = 0, []
    for heading, group in groups.items():
        y += ROW_HEIGHT + 4
        parts.append(f'<text class="strong" x="0" y="{y - 6}">{escape_html(heading, 70)}</text>')
        for index, (name, value) in enumerate(group.items()):
            width, number = (0.0, "–") if math.isnan(value) else (value * scale, f"{value:.2f}")
            middle = y + ROW_HEIGHT * 0.7
            parts.append(
                f"<g><title>{escape_html(name)}: {number} {escape(unit)}</title>"
                f'<text x="{NAME_WIDTH - 8}" y="{middle:.0f}" class="end">{escape_html(name, MAX_NAME)}</text>'
                f'<rect class="c{index % COLOUR_COUNT}" x="{NAME_WIDTH}" y="{y + 3}" '
                f'width="{width:.1f}" height="{ROW_HEIGHT - 6}"/>'
                f'<text x="{NAME_WIDTH + width + 6:.1f}" y="{middle:.0f}">{number}</text></g>'
            )
            y += ROW_HEIGHT
    return _svg(y + 8, f"{unit} of {len(groups)} texts", parts)


def lines(series: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> str:
    """Return a line chart: a line per name over 1, 2, ..., and a legend below.

    >>> lines({"one": [1, 1, 2]}, "spaces", "tokens").count("<polyline")
    1
    """
    height, left, top, bottom = 220, 44, 12, 36
    highest = max([1.0, *(max(values, default=1.0) for values in series.values())])
    longest = max([2, *map(len, series.values())])
    step_x = (WIDTH - left - 16) / (longest - 1)
    scale = (height - top - bottom) / highest
    base = height - bottom
    parts = [f'<path class="axis" d="M{left} {top}V{base}H{WIDTH - 16}"/>']
    for value in sorted({0, round(highest / 2), round(highest)}):
        parts.append(f'<text class="end" x="{left - 6}" y="{base - value * scale + 4:.1f}">{value:g}</text>')
    for x in sorted({1, longest // 4, longest // 2, longest * 3 // 4, longest} - {0}):
        parts.append(f'<text class="mid" x="{left + (x - 1) * step_x:.1f}" y="{base + 15}">{x}</text>')
    parts.append(f'<text class="mid" x="{(WIDTH + left) / 2:.0f}" y="{height - 4}">{escape(x_label)}</text>')
    for index, (name, values) in enumerate(series.items()):
        points = " ".join(f"{left + x * step_x:.1f},{base - value * scale:.1f}" for x, value in enumerate(values))
        dash = f' stroke-dasharray="{2 + 3 * index} {1 + 2 * index}"' if index else ""  # never by colour alone
        legend = height + 16 + index * ROW_HEIGHT
        parts.append(f'<polyline class="l{index % COLOUR_COUNT}"{dash} points="{points}"/>')
        parts.append(
            f'<path class="l{index % COLOUR_COUNT}"{dash} d="M{left} {legend - 4}h34"/>'
            f'<text x="{left + 42}" y="{legend}">{escape_html(name, 60)}</text>'
        )
    return _svg(height + 10 + len(series) * ROW_HEIGHT, f"{y_label} by {x_label}", parts)


def _svg(height: int, title: str, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
