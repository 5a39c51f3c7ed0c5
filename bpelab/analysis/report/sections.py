"""What each section of the report shows: tables, charts and numbers, as the escaped values of `page.html`.

Chapter: Measuring.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..compression import Compression, ratio
from ..cost import context_capacity, price, vocabulary_share
from ..domains import DomainShift
from ..numbers import NumberCuts
from .html_table import HTML, Cell, percent, table
from .measure import Measures, Report
from .svg_charts import bars, escape_html, lines

Values = dict[str, str | None]
"""The name of a value in `page.html` -> its HTML, or None where the report doesn't have it."""
Rows = list[Sequence[Cell]]
MAX_TOKEN_SHOWN, EXAMPLES = 48, 6
RUN_LENGTHS = (1, 2, 4, 8, 16, 32, 64)


def values_of(report: Report) -> Values:
    """Return all values of `page.html`."""
    return {
        **_inputs(report),
        **_compression(report),
        "superwords": _superwords(report),
        **_domains(report),
        **_premiums(report),
        **_context(report),
        **_price(report),
        **_operations(report),
        "round_trips": _round_trips(report),
        "numbers": _numbers(report),
        **_white_space(report),
        "longest": _longest(report),
        "overlaps": _overlaps(report),
        "unreachable": _unreachable(report),
        "findings": _findings(report),
    }


def _each(report: Report) -> Iterator[tuple[str, str, Measures, Compression]]:
    """Yield (text, tokenizer, its measures, its compression of the text), by text."""
    for text in report.texts:
        for name, each in report.measures.items():
            yield text, name, each, each.texts[text]


def _by_text(report: Report, number: Callable[[Compression], float]) -> dict[str, dict[str, float]]:
    """Return a number of each tokenizer, by text."""
    return {text: {name: number(each.texts[text]) for name, each in report.measures.items()} for text in report.texts}


def _over_the_fewest(groups: Mapping[str, Mapping[str, float]], what: str) -> str | None:
    """Return a bar chart of each number over the smallest for its text; None if there is nothing to compare."""
    if max(map(len, groups.values())) < 2:
        return None
    least = {group: min((number for number in each.values() if number), default=1) for group, each in groups.items()}
    ratios = {group: {name: n / least[group] for name, n in each.items()} for group, each in groups.items()}
    return bars(ratios, f"{what} over the fewest")


def _code(text: str | bytes, longest: int = MAX_TOKEN_SHOWN) -> HTML:
    return HTML(f"<code>{escape_html(text, longest)}</code>")


def _tokens(tokens: Sequence[tuple[int, bytes]]) -> HTML:
    some = ", ".join(f"{_code(token)} {token_id}" for token_id, token in tokens[:EXAMPLES])
    return HTML(some + (f" and {len(tokens) - EXAMPLES:,} more" if len(tokens) > EXAMPLES else ""))


def _inputs(report: Report) -> Values:
    rows = [
        (name, each.tokens, _code(each.pattern, 90) if each.pattern else "none, or more than one")
        for name, each in report.measures.items()
    ]
    sizes = ((escape_html(name), len(text.encode("utf-8", "replace"))) for name, text in report.texts.items())
    return {
        "names": ", ".join(escape_html(name, 40) for name in report.measures),
        "tokenizers": table("tokenizer | tokens | pattern", rows, [2]),
        "texts": ", ".join(f"{name} ({size:,} bytes)" for name, size in sizes),
    }


def _compression(report: Report) -> Values:
    head = (
        "text | tokenizer | tokens | bytes per token | characters per token | tokens per word | Rényi efficiency | "
        "tokens used | of the vocabulary"
    )
    rows: Rows = []
    for text, name, _, it in _each(report):
        ratios = it.bytes_per_token, it.characters_per_token, it.fertility, it.renyi_efficiency
        rows.append((text, name, it.tokens, *ratios, it.distinct_tokens, percent(it.share_used)))
    chart = bars(_by_text(report, lambda it: it.bytes_per_token), "bytes per token")
    return {"compression_chart": chart, "compression": table(head, rows, [1])}


def _superwords(report: Report) -> str | None:
    """Return how many superwords each tokenizer has, and what they save; None if no tokenizer has any."""
    rows: Rows = []
    for text, name, each, _ in _each(report):
        if (use := each.superwords.get(text)) is not None:
            alone: Sequence[Cell] = ("–", "–", "–")
            if use.words_vocabulary is not None and use.tokens_of_words_alone is not None:
                alone = (use.words_vocabulary, use.tokens_of_words_alone, percent(use.saving))
            shares = percent(use.share), percent(use.share_of_text)
            rows.append((text, name, use.superwords, *shares, use.words_per_token, *alone))
    head = (
        "text | tokenizer | superwords | of the vocabulary | of the text's tokens | words per token | "
        "words alone: vocabulary | words alone: tokens | saved"
    )
    return table(head, rows, [1]) if rows else None


def _domains(report: Report) -> Values:
    """Return each tokenizer's domain shift from the first text to each of the others; no values for a single text."""
    home, *others = report.texts
    if not others:
        return dict.fromkeys(("domains_chart", "home", "domains"))
    rows: Rows = []
    for text, name, each, there in _each(report):
        if text != home:
            shift = DomainShift(each.texts[home], there)
            rows.append((text, name, shift.home.bytes_per_token, shift.away.bytes_per_token, percent(shift.loss)))
    head = "text | tokenizer | bytes per token at home | there | lost"
    chart = _over_the_fewest(_by_text(report, lambda it: it.tokens), "Tokens")
    return {"domains_chart": chart, "home": escape_html(home), "domains": table(head, rows, [1])}


def _premiums(report: Report) -> Values:
    """Return the premium of each parallel text relative to the first; no values without parallel texts."""
    if not report.premiums:
        return dict.fromkeys(("first_parallel", "premiums_chart", "premiums"))
    first, *others = next(iter(report.premiums.values()))
    by_text = {text: {name: each[text] for name, each in report.premiums.items()} for text in (first, *others)}
    rows = [
        (text, name, it.tokens, it.bytes, it.premium, it.byte_premium, it.tokenizer_premium)
        for text, by_name in by_text.items()
        for name, it in by_name.items()
    ]
    chart = bars({text: {name: it.premium for name, it in by_text[text].items()} for text in others}, "premium")
    head = "text | tokenizer | tokens | bytes | premium | in bytes | the tokenizer's part"
    return {"first_parallel": escape_html(first), "premiums_chart": chart, "premiums": table(head, rows, [1])}


def _context(report: Report) -> Values:
    """Return how much of each text fits into the context; no values without a context."""
    if not report.context:
        return dict.fromkeys(("context", "capacities"))
    rows: Rows = []
    for text, name, _, it in _each(report):
        fits = ("–", "–")
        if it.tokens:
            capacity = context_capacity(report.context, it)
            fits = (f"{capacity.words:,.0f}", f"{capacity.pages:,.1f}")
        rows.append((text, name, it.tokens, *fits))
    head = "text | tokenizer | tokens | words that fit | pages that fit"
    return {"context": f"{report.context:,}", "capacities": table(head, rows, [1])}


def _price(report: Report) -> Values:
    """Return what reading each text costs; no values without a price."""
    if report.price is None:
        return dict.fromkeys(("price", "prices"))
    rates = {"read": report.price}
    rows = [(text, name, it.tokens, f"{price({'read': it.tokens}, rates):.6f}") for text, name, _, it in _each(report)]
    return {"price": f"{report.price:g}", "prices": table("text | tokenizer | tokens | price", rows, [1])}


def _operations(report: Report) -> Values:
    """Return what each text costs the model, with each tokenizer's own vocabulary; no values without a shape."""
    if report.shape is None:
        return dict.fromkeys(("layers", "hidden", "operations_chart", "operations"))
    rows: Rows = []
    totals: dict[str, dict[str, float]] = {text: {} for text in report.texts}
    for text, name, each, it in _each(report):
        model = replace(report.shape, vocabulary=each.n_vocab)
        work, weights = model.operations_for(it.tokens), sum(model.weights.values())
        totals[text][name] = total = sum(work.values())
        shares = percent(ratio(work["output"], total)), percent(vocabulary_share(model)[0])
        cache = round(it.tokens * model.cache_bytes)
        rows.append((text, name, it.tokens, total, shares[0], weights, shares[1], cache))
    head = "text | tokenizer | tokens | operations | for the output | weights | for the vocabulary"
    return {
        "layers": f"{report.shape.layers:,}",
        "hidden": f"{report.shape.hidden:,}",
        "operations_chart": _over_the_fewest(totals, "Operations"),
        "operations": table(f"{head} | bytes of cache", rows, [1]),
    }


def _round_trips(report: Report) -> str:
    names = [*report.texts, "a hard sample"]
    rows = [
        (name, *("yes" if each.round_trips[text] else HTML("<b>no</b>") for text in names))
        for name, each in report.measures.items()
    ]
    return table(("tokenizer", *names), rows)


def _numbers(report: Report) -> str:
    def row(name: str, what: str, cuts: NumberCuts) -> Sequence[Cell]:
        shares = {way: round(100 * count / cuts.numbers) for way, count in cuts.directions.items()}
        ways = ", ".join(f"{way} {share}%" for way, share in shares.items() if share)
        return name, what, cuts.tokens_per_number, cuts.consistency, ways

    rows: Rows = []
    for name, each in report.measures.items():
        rows += [row(name, "0 to 9999", each.numbers), row(name, "7 and 8 digits", each.long_numbers)]
    return table("tokenizer | numbers | tokens per number | consistency | how they are cut", rows, [1, 4])


def _white_space(report: Report) -> Values:
    runs: Rows = [
        (name, kind, *(sizes[length - 1] for length in RUN_LENGTHS))
        for name, each in report.measures.items()
        for kind, sizes in each.runs.items()
    ]
    spaces = {name: each.runs["spaces and a letter"] for name, each in report.measures.items()}
    code = [
        (text, name, each.code[text].tokens_per_line, percent(each.code[text].blank_share))
        for text, name, each, _ in _each(report)
    ]
    return {
        "runs_chart": lines(spaces, "spaces", "tokens"),
        "runs": table(("tokenizer", "run of", *map(str, RUN_LENGTHS)), runs, [1]),
        "indentation": table("text | tokenizer | tokens per line | white space", code, [1]),
    }


def _longest(report: Report) -> str:
    rows = [
        (name, position, _code(token), token_id, len(token))
        for name, each in report.measures.items()
        for position, (token_id, token) in enumerate(each.longest, 1)
    ]
    return table("tokenizer |  | token | id | bytes", rows, [2])


def _overlaps(report: Report) -> str | None:
    rows = [
        (*names, it.shared, percent(it.share_of_first), percent(it.share_of_second), it.same_id)
        for names, it in report.overlaps.items()
    ]
    head = "first | second | shared | of the first | of the second | with the same id"
    return table(head, rows, [1]) if rows else None


def _unreachable(report: Report) -> str:
    rows: Rows = []
    for name, each in report.measures.items():
        alone: Sequence[Cell] = ("–", "not reported for tokens that are characters")
        if each.unreachable_alone is not None:
            alone = (len(each.unreachable_alone), _tokens(each.unreachable_alone))
        rows.append((name, len(each.never_merged), _tokens(each.never_merged), *alone))
    return table("tokenizer | no merge | such as | don't come back | such as", rows, [2, 4])


def _findings(report: Report) -> str | None:
    items = (
        f"<li>{escape_html(name)}: {escape_html(sentence, 300)}</li>"
        for name, each in report.measures.items()
        for sentence in each.findings
    )
    return "".join(items) or None
