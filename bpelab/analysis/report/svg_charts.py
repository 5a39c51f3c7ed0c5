"""Two kinds of figure as SVG inside a page: bars, and lines. Colours and text come from the page's style sheet.

Everything that is written into a figure is escaped here. Chapter: Measuring.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

from ..formats.readable import visible
from ..textio import utf8

WIDE, NAMES, ROW = 640, 170, 20
COLOURS = 6
"""How many the style sheet has, as `.c0` to `.c5`; a seventh series takes the first again, dashed."""
LONGEST_NAME = 24


def shown(text: str | bytes, longest: int | None = None) -> str:
    """`text` as HTML that shows what is in it: control and direction characters as numbers, `<` as a character.

    Line ends and tabs are written as in Python.

    >>> shown("<b>\\u202e"), shown(b"a\\xff" * 9, 4)
    ('&lt;b&gt;\\\\u202e', 'a\ufffda\ufffd…')
    >>> print(shown("a\\r\\n\\tb"))
    a\\r\\n\\tb
    """
    data = text if isinstance(text, bytes) else utf8(text)
    plain = visible(data.replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\t", b"\\t"))
    return escape(plain if longest is None or len(plain) <= longest else plain[:longest] + "…")


def bars(groups: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """A heading for each group and a bar for each of its names, with the number beside it; NaN has no bar.

    >>> bars({"a text": {"one": 2.0}}, "bytes per token").count("<rect")
    1
    """
    values = [value for group in groups.values() for value in group.values() if not math.isnan(value)]
    scale = (WIDE - NAMES - 60) / max([*values, 1e-9])
    y, parts = 0, []
    for heading, group in groups.items():
        y += ROW + 4
        parts.append(f'<text class="strong" x="0" y="{y - 6}">{shown(heading, 70)}</text>')
        for place, (name, value) in enumerate(group.items()):
            width, number = (0.0, "–") if math.isnan(value) else (value * scale, f"{value:.2f}")
            middle = y + ROW * 0.7
            parts.append(
                f"<g><title>{shown(name)}: {number} {escape(unit)}</title>"
                f'<text x="{NAMES - 8}" y="{middle:.0f}" class="end">{shown(name, LONGEST_NAME)}</text>'
                f'<rect class="c{place % COLOURS}" x="{NAMES}" y="{y + 3}" width="{width:.1f}" height="{ROW - 6}"/>'
                f'<text x="{NAMES + width + 6:.1f}" y="{middle:.0f}">{number}</text></g>'
            )
            y += ROW
    return _svg(y + 8, f"{unit} of {len(groups)} texts", parts)


def lines(series: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> str:
    """A line for each name over 1, 2, ...; what they mean stands in a legend below.

    >>> lines({"one": [1, 1, 2]}, "spaces", "tokens").count("<polyline")
    1
    """
    high, left, top, bottom = 220, 44, 12, 36
    most = max([1.0, *(max(values, default=1.0) for values in series.values())])
    longest = max([2, *map(len, series.values())])
    step_x = (WIDE - left - 16) / (longest - 1)
    scale = (high - top - bottom) / most
    base = high - bottom
    parts = [f'<path class="axis" d="M{left} {top}V{base}H{WIDE - 16}"/>']
    for value in sorted({0, round(most / 2), round(most)}):
        parts.append(f'<text class="end" x="{left - 6}" y="{base - value * scale + 4:.1f}">{value:g}</text>')
    for place in sorted({1, longest // 4, longest // 2, longest * 3 // 4, longest} - {0}):
        parts.append(f'<text class="mid" x="{left + (place - 1) * step_x:.1f}" y="{base + 15}">{place}</text>')
    parts.append(f'<text class="mid" x="{(WIDE + left) / 2:.0f}" y="{high - 4}">{escape(x_label)}</text>')
    for number, (name, values) in enumerate(series.items()):
        points = " ".join(f"{left + x * step_x:.1f},{base - value * scale:.1f}" for x, value in enumerate(values))
        dash = f' stroke-dasharray="{2 + 3 * number} {1 + 2 * number}"' if number else ""  # never by colour alone
        legend = high + 16 + number * ROW
        parts.append(f'<polyline class="l{number % COLOURS}"{dash} points="{points}"/>')
        parts.append(
            f'<path class="l{number % COLOURS}"{dash} d="M{left} {legend - 4}h34"/>'
            f'<text x="{left + 42}" y="{legend}">{shown(name, 60)}</text>'
        )
    return _svg(high + 10 + len(series) * ROW, f"{y_label} by {x_label}", parts)


def _svg(height: int, title: str, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDE} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
