"""Optional sections of the report: for superwords, several texts, parallel texts, a model's shape, a context, a price.

Chapter: Measuring.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..compression import Compression, ratio
from ..cost import context_capacity, price, vocabulary_share
from ..domains import DomainShift
from ..shape import ModelShape
from .html_table import Cell, percent, table
from .measure import Measures, Report
from .svg_charts import bars, escape_html

HEAD = ("text", "tokenizer", "tokens")


def _relative_to_fewest(groups: Mapping[str, Mapping[str, float]], what: str) -> str:
    """Return a bar chart of each number over the smallest for its text; "" if there is nothing to compare."""
    if max(map(len, groups.values())) < 2:
        return ""
    least = {group: min((number for number in each.values() if number), default=1) for group, each in groups.items()}
    ratios = {group: {name: n / least[group] for name, n in each.items()} for group, each in groups.items()}
    says = f"<p>{what}, relative to the tokenizer with the fewest on the text:</p>"
    return f'{says}<div class="wide">{bars(ratios, f"{what} over the fewest")}</div>'


def domains(report: Report) -> str:
    """Return each tokenizer's domain shift from the first text to every other; "" for one text."""
    home, *others = report.texts
    if not others:
        return ""
    rows: list[list[Cell]] = []
    for text in others:
        for name, each in report.measures.items():
            shift = DomainShift(each.texts[home], each.texts[text])
            ratios = shift.home.bytes_per_token, shift.away.bytes_per_token
            rows.append([text, name, *ratios, percent(shift.loss)])
    chart = _relative_to_fewest(
        {text: {name: each.texts[text].tokens for name, each in report.measures.items()} for text in report.texts},
        "Tokens",
    )
    return (
        f"{chart}<p>Home is the first text, {escape_html(home)}. The loss is the fraction of its bytes per token "
        "missing on another text; below 0 it is a gain. Texts differ in how well they compress, so compare the losses "
        "of two tokenizers instead of judging one alone.</p>"
        + table(("text", "tokenizer", "bytes per token at home", "there", "lost"), rows, [1])
    )


def superwords(report: Report) -> str:
    """Return how many superwords each tokenizer has, and what they save; "" if none has any."""
    rows: list[list[Cell]] = []
    for text in report.texts:
        for name, each in report.measures.items():
            if (use := each.superwords.get(text)) is None:
                continue
            shares = percent(use.share), percent(use.share_of_text)
            alone: list[Cell] = ["–", "–", "–"]
            if use.words_vocabulary is not None and use.tokens_of_words_alone is not None:
                alone = [use.words_vocabulary, use.tokens_of_words_alone, percent(use.saving)]
            rows.append([text, name, use.superwords, *shares, use.words_per_token, *alone])
    if not rows:
        return ""
    head = ("text", "tokenizer", "superwords", "of the vocabulary", "of the text's tokens", "words per token")
    return (
        "<p>A superword is a token that continues over the end of a word, as <code> of the</code> does. <i>Words "
        "alone</i> is the text encoded with the word merges: those before the first superword if words were learned "
        "first, otherwise those that neither make nor join one. That vocabulary is smaller; spending the difference "
        "on words might have saved some of this too. To see what superwords save at one size, compare with a "
        "tokenizer of as many tokens, trained on the same text without them.</p>"
        + table((*head, "words alone: vocabulary", "words alone: tokens", "saved"), rows, [1])
    )


def premiums(report: Report) -> str:
    """Return the premium of each parallel text relative to the first; "" without parallel texts."""
    if not report.premiums:
        return ""
    first, *others = next(iter(report.premiums.values()))
    chart = bars(
        {text: {name: by_text[text].premium for name, by_text in report.premiums.items()} for text in others}, "premium"
    )
    rows = [
        (text, name, each.tokens, each.bytes, each.premium, each.byte_premium, each.tokenizer_premium)
        for text in (first, *others)
        for name, each in ((name, by_text[text]) for name, by_text in report.premiums.items())
    ]
    return (
        "<p>These texts are translations of one another. A text's premium is its number of tokens divided by that of "
        f"the first, {escape_html(first)}, under the same tokenizer. Part of it comes from the number of UTF-8 bytes; "
        f'the rest is the tokenizer\'s.</p><div class="wide">{chart}</div>'
        + table(("text", "tokenizer", "tokens", "bytes", "premium", "in bytes", "the tokenizer's part"), rows, [1])
    )


def cost(report: Report) -> str:
    """Return how much text fits the context, the price of each text, and the cost of a model, each if requested."""
    parts = [
        _context(report, report.context) if report.context else "",
        _price(report, report.price) if report.price is not None else "",
        _operations(report, report.shape) if report.shape else "",
    ]
    return "".join(parts)


def _each(report: Report) -> Iterator[tuple[str, str, Measures, Compression]]:
    for text in report.texts:
        for name, each in report.measures.items():
            yield text, name, each, each.texts[text]


def _context(report: Report, context: int) -> str:
    rows: list[list[Cell]] = []
    for text, name, _, measures in _each(report):
        words, pages = "–", "–"
        if measures.tokens:
            capacity = context_capacity(context, measures)
            words, pages = f"{capacity.words:,.0f}", f"{capacity.pages:,.1f}"
        rows.append([text, name, measures.tokens, words, pages])
    says = f"<p>What fits into a context of {context:,} tokens, in text like this, with pages of 300 words:</p>"
    return says + table((*HEAD, "words that fit", "pages that fit"), rows, [1])


def _price(report: Report, rate: float) -> str:
    rows = [
        (text, name, each.tokens, f"{price({'read': each.tokens}, {'read': rate}):.6f}")
        for text, name, _, each in _each(report)
    ]
    return f"<p>What reading the text costs at {rate:g} for a million tokens:</p>" + table((*HEAD, "price"), rows, [1])


def _operations(report: Report, shape: ModelShape) -> str:
    rows: list[list[Cell]] = []
    totals: dict[str, dict[str, float]] = {text: {} for text in report.texts}
    for text, name, each, measures in _each(report):
        model = replace(shape, vocabulary=each.n_vocab)
        work, weights = model.operations_for(measures.tokens), sum(model.weights.values())
        totals[text][name] = total = sum(work.values())
        shares = percent(ratio(work["output"], total)), percent(vocabulary_share(model)[0])
        cache = round(measures.tokens * model.cache_bytes)
        rows.append([text, name, measures.tokens, total, shares[0], weights, shares[1], cache])
    head = (*HEAD, "operations", "for the output", "weights", "for the vocabulary", "bytes of cache")
    return (
        f"<p>A model of {shape.layers:,} layers that is {shape.hidden:,} wide, with the tokenizer's own vocabulary. "
        "The operations are those of a forward pass over the text, with causal attention and a prediction after each "
        "token, as in training.</p>" + _relative_to_fewest(totals, "Operations") + table(head, rows, [1])
    )
