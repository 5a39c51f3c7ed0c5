"""Addresses that pages and sections had before: each leads on to where the section is now.

Chapters were numbered once, and a page is written at each of these addresses. Sections that went from a chapter to
another page kept their anchors: a chapter without the anchor it is asked for leads on to that page.
"""

from pathlib import Path

NUMBERED = (
    *("start", "bytes", "subwords", "training", "encoding", "regex", "tiktoken", "special_tokens", "heap"),
    *("incremental", "trie", "native", "streaming", "distributed", "formats", "measuring", "claims", "chat"),
    "capstone",
)
"""The chapters in the order of their numbers."""
MOVED = {"book/claims": "claims_evidence", "book/chat": "model_answers"}
"""Chapters of which sections are on another page now, and that page."""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{name}.html">
<noscript><meta http-equiv="refresh" content="0; url={name}.html"></noscript>
<script>location.replace("{name}.html" + location.hash)</script>
</head>
<body><p>This page is <a href="{name}.html">{name}.html</a> now.</p></body>
</html>
"""

TO_NEW_PAGE = """
<script>
addEventListener("DOMContentLoaded", () => {{
  if (location.hash && !document.getElementById(location.hash.slice(1)))
    location.replace("{name}.html" + location.hash);
}});
</script>
"""


def old_name(number: int, name: str) -> str:
    """Return the name that the file of a chapter had.

    >>> old_name(4, "encoding")
    '04_encoding'
    """
    return f"{number:02}_{'compiled' if name == 'native' else name}"


def lead_on(app, exception):
    """Write a page at every old address once the others are written."""
    if exception is not None or app.builder.format != "html":
        return
    for folder in (Path(app.outdir, "book"), Path(app.outdir, "book", "solutions")):
        for number, name in enumerate(NUMBERED):
            if not (folder / f"{name}.html").exists():
                continue  # another book, with this one's settings
            (folder / f"{old_name(number, name)}.html").write_text(PAGE.format(name=name), encoding="utf-8")


def lead_to_new_page(app, page, template, context, doctree):
    """Let a chapter send on who asks for a section that is on another page now."""
    if page in MOVED and "body" in context:
        context["body"] += TO_NEW_PAGE.format(name=MOVED[page])
