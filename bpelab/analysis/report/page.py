"""Render a `Report` as a self-contained HTML page: tables, charts as SVG, light and dark, no script, no network.

File names and token bytes are untrusted: tables and charts escape them, and what stands outside passes through
`svg_charts.escape_html`. In addition, the page's content security policy forbids scripts and requests.

Chapter: Measuring.
"""

from collections.abc import Sequence
from html import escape

from ..compression import Compression
from ..numbers import NumberCuts
from .html_table import HTML, Cell, percent, table
from .measure import Measures, Report
from .optional_sections import cost, domains, premiums, superwords
from .svg_charts import bars, escape_html, lines

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --soft: #5c5c5c; --page: #fff; --line: #d4d4d4; --wash: #f4f4f4;
  --c0: #0072b2; --c1: #b87700; --c2: #009e73; --c3: #d55e00; --c4: #b3568f; --c5: #2a8cc4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --soft: #a8a8a8; --page: #16181b; --line: #3d4147;
  --wash: #202328; --c0: #56b4e9; --c1: #e69f00; --c2: #2fc79b; --c3: #ff8b45; --c4: #e59cc5; --c5: #8fd0f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; } h2 { margin: 2rem 0 0.3rem; font-size: 1.2rem; }
p { margin: 0.3rem 0 0.7rem; max-width: 46rem; } .soft, caption { color: var(--soft); font-size: 0.9rem; }
.wide { overflow-x: auto; } .wide svg { display: block; width: 100%; min-width: 34rem; height: auto; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.3rem 0; } caption { text-align: left; }
th, td { padding: 0.25rem 0.9rem 0.25rem 0; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: top; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th:first-child, td:first-child, .left { text-align: left; }
td.left, th:first-child { overflow-wrap: anywhere; min-width: 8rem; }
code { font-family: ui-monospace, monospace; background: var(--wash); padding: 0 0.2em; white-space: pre-wrap; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.end { text-anchor: end; } .mid { text-anchor: middle; }
svg .strong { font-weight: 600; } .axis { fill: none; stroke: var(--soft); }
.c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); }
.c3 { fill: var(--c3); } .c4 { fill: var(--c4); } .c5 { fill: var(--c5); }
polyline, .l0, .l1, .l2, .l3, .l4, .l5 { fill: none; stroke-width: 2; }
.l0 { stroke: var(--c0); } .l1 { stroke: var(--c1); } .l2 { stroke: var(--c2); }
.l3 { stroke: var(--c3); } .l4 { stroke: var(--c4); } .l5 { stroke: var(--c5); }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
MAX_TOKEN_SHOWN, EXAMPLES = 48, 6
START = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Tokenizers compared: '
)
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
    names = ", ".join(escape_html(name, 40) for name in report.measures)
    body = "".join(
        f"<section><h2>{escape(title)}</h2>{content}</section>"
        for title, content in (
            ("Compression", _compression(report)),
            ("Superwords", superwords(report)),
            ("Domain shift", domains(report)),
            ("Parity", premiums(report)),
            ("Cost", cost(report)),
            ("Round trip", _round_trip(report)),
            ("Numbers", _numbers(report)),
            ("White space", _white_space(report)),
            ("Longest tokens", _longest_tokens(report)),
            ("What vocabularies share", _shared(report)),
            ("Tokens that are never reached", _unreachable(report)),
            ("What is odd", _findings(report)),
        )
        if content
    )
    return (
        f"{START}{names}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>Tokenizers compared</h1>{_facts(report)}{body}</body></html>\n"
    )


def _code(text: str | bytes, longest: int = MAX_TOKEN_SHOWN) -> HTML:
    return HTML(f"<code>{escape_html(text, longest)}</code>")


def _tokens(tokens: Sequence[tuple[int, bytes]]) -> HTML:
    some = ", ".join(f"{_code(token)} {token_id}" for token_id, token in tokens[:EXAMPLES])
    return HTML(some + (f" and {len(tokens) - EXAMPLES:,} more" if len(tokens) > EXAMPLES else ""))


def _facts(report: Report) -> str:
    def pattern(each: Measures) -> str:
        return _code(each.pattern, 90) if each.pattern else "none, or more than one"

    rows = [(name, each.tokens, pattern(each)) for name, each in report.measures.items()]
    sizes = ", ".join(
        f"{escape_html(name)} ({len(text.encode('utf-8', 'replace')):,} bytes)" for name, text in report.texts.items()
    )
    return table(("tokenizer", "tokens", "pattern"), rows, [2]) + f'<p class="soft">Texts: {sizes}</p>'


def _compression(report: Report) -> str:
    def row(text: str, name: str, measures: Compression) -> tuple[Cell, ...]:
        return (
            text,
            name,
            measures.tokens,
            measures.bytes_per_token,
            measures.characters_per_token,
            measures.fertility,
            measures.renyi_efficiency,
            measures.distinct_tokens,
            percent(measures.share_used),
        )

    head = ("text", "tokenizer", "tokens", "bytes per token", "characters per token", "tokens per word")
    rows = [row(text, name, each.texts[text]) for text in report.texts for name, each in report.measures.items()]
    chart = bars(
        {
            text: {name: each.texts[text].bytes_per_token for name, each in report.measures.items()}
            for text in report.texts
        },
        "bytes per token",
    )
    return (
        "<p>Longer bars are fewer tokens. Compare tokenizers on one text, not one tokenizer on two. A word is a run of "
        "characters that are not white space. Rényi efficiency, of order 2.5, is 1 where every token of the "
        "vocabulary is used equally often.</p>"
        f'<div class="wide">{chart}</div>'
        + table((*head, "Rényi efficiency", "tokens used", "of the vocabulary"), rows, [1])
    )


def _round_trip(report: Report) -> str:
    names = [*report.texts, "a hard sample"]
    rows = [
        (name, *("yes" if each.round_trips[text] else HTML("<b>no</b>") for text in names))
        for name, each in report.measures.items()
    ]
    return (
        "<p>Whether decoding the ids returns the text. The sample contains what normalizers change: double "
        "spaces, accents in two ways, a ligature, a control character.</p>" + table(("tokenizer", *names), rows)
    )


def _numbers(report: Report) -> str:
    def row(name: str, what: str, cuts: NumberCuts) -> tuple[Cell, ...]:
        shares = {way: round(100 * count / cuts.numbers) for way, count in cuts.directions.items()}
        ways = ", ".join(f"{way} {share}%" for way, share in shares.items() if share)
        return name, what, cuts.tokens_per_number, cuts.consistency, ways

    rows = []
    for name, each in report.measures.items():
        rows += [row(name, "0 to 9999", each.numbers), row(name, "7 and 8 digits", each.long_numbers)]
    return (
        "<p>Consistency is the share of numbers that are cut as most numbers of their length are. <i>Left</i> and "
        "<i>right</i> say from which end groups of equal size were counted; with <i>both</i> the end is unknown.</p>"
        + table(("tokenizer", "numbers", "tokens per number", "consistency", "how they are cut"), rows, [1, 4])
    )


def _white_space(report: Report) -> str:
    some = (1, 2, 4, 8, 16, 32, 64)
    rows: list[Sequence[Cell]] = [
        (name, kind, *(sizes[number - 1] for number in some))
        for name, each in report.measures.items()
        for kind, sizes in each.runs.items()
    ]
    chart = lines(
        {name: each.runs["spaces and a letter"] for name, each in report.measures.items()}, "spaces", "tokens"
    )
    code = [
        (text, name, each.code[text].tokens_per_line, percent(each.code[text].blank_share))
        for text in report.texts
        for name, each in report.measures.items()
    ]
    return (
        f'<p>Tokens for a run of spaces before a letter:</p><div class="wide">{chart}</div>'
        + table(("tokenizer", "run of", *map(str, some)), rows, [1])
        + "<p>Tokens for a line that isn't empty, and the part of all tokens that is white space alone:</p>"
        + table(("text", "tokenizer", "tokens per line", "white space"), code, [1])
    )


def _longest_tokens(report: Report) -> str:
    rows = [
        (name, position, _code(token), token_id, len(token))
        for name, each in report.measures.items()
        for position, (token_id, token) in enumerate(each.longest, 1)
    ]
    return table(("tokenizer", "", "token", "id", "bytes"), rows, [2])


def _shared(report: Report) -> str:
    rows = [
        (a, b, overlap.shared, percent(overlap.share_of_first), percent(overlap.share_of_second), overlap.same_id)
        for (a, b), overlap in report.overlaps.items()
    ]
    if not rows:
        return ""
    return "<p>Tokens with the same bytes. A space and <code>▁</code> are two things here.</p>" + table(
        ("first", "second", "shared", "of the first", "of the second", "with the same id"), rows, [1]
    )


def _unreachable(report: Report) -> str:
    def unreachable_alone(each: Measures) -> tuple[Cell, str]:
        return (
            ("–", "not reported for tokens that are characters")
            if each.unreachable_alone is None
            else (len(each.unreachable_alone), _tokens(each.unreachable_alone))
        )

    rows = [
        (name, len(each.never_merged), _tokens(each.never_merged), *unreachable_alone(each))
        for name, each in report.measures.items()
    ]
    return (
        "<p>Tokens that no merge makes, and tokens that encoding their own text, alone or in a few contexts, doesn't "
        "produce. The first follows from the vocabulary. The second is evidence, not proof: another context might "
        "produce them.</p>" + table(("tokenizer", "no merge", "such as", "don't come back", "such as"), rows, [2, 4])
    )


def _findings(report: Report) -> str:
    items = "".join(
        f"<li>{escape_html(name)}: {escape_html(sentence, 300)}</li>"
        for name, each in report.measures.items()
        for sentence in each.findings
    )
    return f"<ul>{items}</ul>" if items else ""
