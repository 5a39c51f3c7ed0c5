"""Render a `Report` as a self-contained HTML page: tables, charts as SVG, light and dark, no script, no network.

`page.html` is the page, with `$names` for what `sections.py` makes of a report: tables, charts, numbers in sentences.
File names and token bytes are untrusted, so `escape_html` escapes them there. In addition, the page's content security
policy forbids scripts and requests.

Chapter: Measuring.
"""

from pathlib import Path
from string import Template

from .measure import Report
from .sections import Values, values_of

TEMPLATE = Path(__file__).with_suffix(".html").read_text("utf-8")
"""A head, sections that each begin with a line for the title, and an end. An empty line separates parts."""
END = "</body></html>\n"
START = TEMPLATE.partition("$")[0]
"""The start of every page, by which `bpelab report` recognises its own pages."""


def page(report: Report) -> str:
    """Return the HTML of the page.

    >>> from bpelab import BPETokenizer
    >>> from bpelab.analysis.report.measure import compare
    >>> one = BPETokenizer.train("low lower " * 9, 261)
    >>> html = page(compare({"<one>": one}, {"a line": "lower low"}))
    >>> html.startswith("<!doctype html>"), "<one>" in html, "&lt;one&gt;" in html
    (True, False, True)
    """
    values = values_of(report)
    head, *sections = TEMPLATE.removesuffix(END).split("<section>")
    return Template(head).substitute(values) + "".join(_section(section, values) for section in sections) + END


def _section(section: str, values: Values) -> str:
    """Fill in a section's parts, leaving out those with a missing value; "" if no part remains."""
    title, parts = section.removesuffix("</section>\n\n").split("\n", 1)
    filled = [
        part.substitute(values)
        for part in map(Template, parts.split("\n\n"))
        if all(values[name] is not None for name in part.get_identifiers())
    ]
    return "\n".join([f"<section>{title}", *filled]) + "</section>\n" if filled else ""
