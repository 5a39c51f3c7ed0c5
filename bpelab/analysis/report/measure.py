"""Measure several tokenizers on several texts: the contents of a report.

Chapter: Measuring. Cost: encoding the texts, 15,000 numbers, and each token once: seconds for 100,000 tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from ..._support.progress import progress_bar
from ..._support.textio import valid_text
from ...errors import BPELabError
from ...tokenizer import BPETokenizer
from ..audit import audit
from ..compression import Compression, compression
from ..fairness import TokenPremium, tokenization_premiums
from ..numbers import NumberCuts, number_cuts
from ..shape import ModelShape
from ..superwords import SuperwordUse, superword_uses
from ..tokens import Overlap, longest_tokens, never_merged, overlap, unreachable_alone
from ..validate import require_integer, require_number
from ..whitespace import Indentation, indentation, run_lengths

RUNS = {"spaces": " ", "spaces and a letter": " ", "tabs": "\t", "line ends": "\n"}
AFTER = {"spaces and a letter": "x"}
LONG_NUMBERS = range(1_234_567, 99_999_999, 19_753)
"""5,000 numbers of seven and eight digits."""
HARD_SAMPLE = "  two  spaces\r\n\ttab, e\u0301 and \u00e9, \ufb01, 日本 😀 \u200b \x00 İ"
"""A text that shows the effects of normalizers and of missing characters."""


@dataclass(frozen=True)
class Measures:
    """The measures of one tokenizer.

    Attributes:
        tokens: its number of tokens, special ones included.
        n_vocab: the number of embedding rows that a model needs for them.
        pattern: the pattern of its pre-tokenizer; None if that isn't a single pattern.
        texts: text name -> its compression.
        code: text name -> the cost of its white space.
        round_trips: text name, or "a hard sample" -> whether decoding returned the text.
        numbers: how 0 to 9999 are split.
        long_numbers: how some numbers of seven and eight digits are split.
        runs: kind of run -> tokens for runs of 1, 2, ... 64.
        longest: (id, bytes) of the tokens with the most bytes.
        never_merged: tokens, as (id, bytes), that no merge makes.
        unreachable_alone: tokens, as (id, bytes), that encoding their own text doesn't produce; None if tokens are
            characters.
        superwords: text name -> their use; empty for a tokenizer without superwords.
        findings: the sentences of `audit`.
    """

    tokens: int
    n_vocab: int
    pattern: str | None
    texts: dict[str, Compression]
    code: dict[str, Indentation]
    round_trips: dict[str, bool]
    numbers: NumberCuts
    long_numbers: NumberCuts
    runs: dict[str, list[int]]
    longest: list[tuple[int, bytes]]
    never_merged: list[tuple[int, bytes]]
    unreachable_alone: list[tuple[int, bytes]] | None
    superwords: dict[str, SuperwordUse]
    findings: list[str]


def measure(tokenizer: BPETokenizer, texts: Mapping[str, str]) -> Measures:
    """Return all measures of one tokenizer.

    >>> measures = measure(BPETokenizer.train("low lower " * 9, 261), {"a line": "lower low"})
    >>> measures.texts["a line"].tokens, measures.round_trips, measures.numbers.tokens_per_number
    (3, {'a line': True, 'a hard sample': True}, 3.889)
    """
    tokens = tokenizer.model.tokens
    try:
        unreachable = [(token_id, tokens[token_id]) for token_id in unreachable_alone(tokenizer)]
    except BPELabError:
        unreachable = None
    return Measures(
        tokens=len(tokenizer),
        n_vocab=tokenizer.n_vocab,
        pattern=tokenizer.pattern,
        texts={name: compression(tokenizer, text) for name, text in texts.items()},
        code={name: indentation(tokenizer, text) for name, text in texts.items()},
        round_trips={
            name: _round_trips(tokenizer, text) for name, text in {**texts, "a hard sample": HARD_SAMPLE}.items()
        },
        numbers=number_cuts(tokenizer),
        long_numbers=number_cuts(tokenizer, LONG_NUMBERS),
        runs={name: run_lengths(tokenizer, char, after=AFTER.get(name, "")) for name, char in RUNS.items()},
        longest=longest_tokens(tokenizer),
        never_merged=[(token_id, tokens[token_id]) for token_id in never_merged(tokenizer)],
        unreachable_alone=unreachable,
        superwords=superword_uses(tokenizer, texts),
        findings=list(audit(tokenizer)),
    )


def _round_trips(tokenizer: BPETokenizer, text: str) -> bool:
    ids = tokenizer.encode(text, add_special_tokens=False)
    return tokenizer.decode(ids, unknown="replace") == valid_text(text)


@dataclass(frozen=True)
class Report:
    """The measures of several tokenizers, by name.

    Attributes:
        texts: name -> text.
        measures: tokenizer name -> its measures.
        overlaps: (name, name) -> what the two vocabularies share, for each pair.
        premiums: tokenizer name -> text name -> its premium; empty without parallel texts.
        shape: the model whose costs are computed, with each tokenizer's own vocabulary size; or None.
        context: the context length, in tokens, to fill with text; or None.
        price: the price of a million tokens; or None.
    """

    texts: Mapping[str, str]
    measures: dict[str, Measures]
    overlaps: dict[tuple[str, str], Overlap]
    premiums: dict[str, dict[str, TokenPremium]] = field(default_factory=dict)
    shape: ModelShape | None = None
    context: int | None = None
    price: float | None = None


def compare(
    tokenizers: Mapping[str, BPETokenizer],
    texts: Mapping[str, str],
    *,
    parallel: Mapping[str, str] | None = None,
    shape: ModelShape | None = None,
    context: int | None = None,
    price: float | None = None,
    progress: bool | None = False,
) -> Report:
    """Measure each tokenizer, and compare each pair of vocabularies.

    The texts of `parallel` are translations of one another, and premiums are relative to the first. See `Report` for
    the other arguments. `progress`: True or False to show a progress bar or not, None to show it only in a terminal.
    Raises BPELabError if the context or the price isn't a valid number.

    >>> one, two = BPETokenizer.train("low lower " * 9, 261), BPETokenizer.train("low " * 9, 259)
    >>> compare({"one": one, "two": two}, {"a line": "lower low"}).overlaps["one", "two"].shared
    259
    """
    if context is not None:
        require_integer("context", context)
    if price is not None:
        require_number("price", price)
    measures = {}
    with progress_bar(progress, len(tokenizers), "measuring", " tokenizers") as advance:
        for name, tokenizer in tokenizers.items():
            measures[name] = measure(tokenizer, texts)
            advance(1)
    overlaps = {(a, b): overlap(tokenizers[a], tokenizers[b]) for a, b in combinations(tokenizers, 2)}
    premiums = {}
    if parallel:
        first = next(iter(parallel))
        premiums = {name: tokenization_premiums(each, parallel, first) for name, each in tokenizers.items()}
    return Report(dict(texts), measures, overlaps, premiums, shape, context, price)
