"""A table of verdicts on claims, which readers filter by verdict and by topic. Chapter: Claims, tested."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from ..errors import BPELabError
from .base import Figure
from .visible import html_table, pluralize

ORDER = ("safe", "mostly", "dangerous", "wrong")
"""The verdicts, as `bpelab.notebook.claims` names them."""
HEAD = ("verdict, and how often it is right", "claim", "what harm it does unnoticed", "instead")


class ClaimTable(Figure):
    """All `verdicts`, a row each: how often the claim is right, what harm it does, and what to do instead.

    They come from a `bpelab.notebook.claims.Claims`. A claim links to the section that tests it, on this page or
    another. Each condition has a dot at the share of its cases in which the claim is right. Text output omits the harm.

    >>> from bpelab.notebook.claims import Claims
    >>> claims = Claims()
    >>> verdict = claims.test("Odd numbers are prime.", {"below 8": [(True, "3")], "from 8 on": [(False, "9")]})
    >>> ClaimTable(claims.verdicts).data["say"]
    '1 claim: 1 wrong.'

    Raises BPELabError without verdicts. Cost: the size of the table.
    """

    name = "claim_table"
    limit = 0

    def __init__(self, verdicts: Sequence[Any]) -> None:
        if not verdicts:
            raise BPELabError("a table of claims needs at least one verdict")
        self._verdicts = tuple(verdicts)
        super().__init__("")

    def compute(self, text: str) -> dict[str, Any]:
        """Return the rows, how often each verdict and topic occurs, and a sentence; `text` is not used."""
        found = [verdict.verdict for verdict in self._verdicts]
        topics = [verdict.topic for verdict in self._verdicts if verdict.topic]
        kinds = {kind: found.count(kind) for kind in ORDER if kind in found}
        counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
        return {
            "rows": [_row(verdict) for verdict in self._verdicts],
            "verdicts": kinds,
            "topics": {topic: topics.count(topic) for topic in dict.fromkeys(topics)},
            "head": list(HEAD),
            "say": f"{pluralize(len(found), 'claim')}: {counted}.",
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the whole table."""
        rows = []
        for row in data["rows"]:
            claim = escape(row["claim"])
            if row["link"]:
                claim = f'<a href="{escape(row["link"])}">{claim}</a>'
            judged = f"<b>{row['verdict']}</b> {row['share']}"
            rows.append((judged, f"{claim} {escape(row['remark'])}", escape(row["harm"]), escape(row["instead"])))
        return f"<p>{data['say']}</p>\n{html_table(map(escape, data['head']), rows, None)}"

    def _as_text(self) -> str:
        lines = [f"{type(self).__name__}: {self.data['say']}"]
        for number, row in enumerate(self.data["rows"], start=1):
            lines.append(f"{number:2} {row['verdict']:9} {row['share']:14} {row['claim']}")
            if row["instead"]:
                lines.append(f"{'':28}-> {row['instead']}")
        return "\n".join(lines)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = super()._repr_mimebundle_(**options)
        views = bundle[0] if isinstance(bundle, tuple) else bundle
        views["text/plain"] = self._as_text()
        return bundle


def _row(verdict: Any) -> dict[str, Any]:
    """Return one verdict as the front end shows it; its link ends in the anchor that Sphinx gives the section."""
    anchor = re.sub("[^a-z0-9]+", "-", verdict.section.lower()).strip("-")
    return {
        "claim": verdict.claim,
        "verdict": verdict.verdict,
        "share": verdict.share,
        "conditions": [
            [f"{one.name}: {one.right:,} of {one.cases:,}", round(100 * one.right / one.cases, 1)]
            for one in verdict.conditions
        ],
        "remark": verdict.remark,
        "code": bool(verdict.remark) and verdict.remark == verdict.counterexample,
        "harm": verdict.harm if verdict.verdict == "dangerous" else "",
        "instead": verdict.instead,
        "topic": verdict.topic,
        "link": f"{verdict.page}#{anchor}" if anchor else "",
    }
