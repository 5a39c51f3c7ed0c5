"""The cost of a text under several tokenizers: tokens, operations, weights, cache, money. Chapter: Measuring."""

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any

from .._support.textio import utf8
from ..analysis.compression import compression
from ..analysis.cost import price
from ..analysis.shape import ModelShape
from ..analysis.validate import require_number
from ..errors import BPELabError
from ..tokenizer import BPETokenizer
from .base import Figure
from .visible import html_table, plain_label, pluralize

HEAD = ("tokenizer", "tokens", "operations", "for the output", "weights", "for the vocabulary", "cache")


class CostCalculator(Figure):
    """A slider over `tokenizers`, for a model of `shape` with the vocabulary of the chosen tokenizer.

    Operations are those of one forward pass over the text, with attention to all earlier tokens and a prediction after
    each token, as in training. With a `rate`, a price per million tokens in any currency, the figure shows the cost.
    All numbers come from `bpelab.analysis`. Shows 4,000 characters.

    >>> from bpelab import BPETokenizer
    >>> sizes = {"few": BPETokenizer.train("low lower " * 9, 258), "more": BPETokenizer.train("low lower " * 9, 261)}
    >>> print(CostCalculator("lower low", sizes, ModelShape(2, 4, 2, 16, 64, 256, 1)).data["say"])
    With “more”, 261 tokens in the vocabulary, the text is 3 tokens. Reading it takes 840,576 operations, 12% of them
    for the output; 21% of the 156,288 weights are there for the vocabulary. The cache holds 768 bytes of it.

    Raises BPELabError without tokenizers, or if the rate is negative or not a number.
    """

    name = "cost_calculator"
    limit = 4000

    def __init__(
        self, text: str, tokenizers: Mapping[str, BPETokenizer], shape: ModelShape, rate: float | None = None
    ) -> None:
        if not tokenizers:
            raise BPELabError("a cost calculator needs at least one tokenizer")
        self._tokenizers, self._shape = dict(tokenizers), shape
        self._rate = None if rate is None else require_number("rate", rate)
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return a row for each tokenizer: its name, its cells as text, its sentence, and the parts of its work."""
        if not text:
            return {"rows": [], "parts": [], "head": [], "say": "No text, so no tokens and no cost."}
        rows = [self._row(name, tokenizer, text) for name, tokenizer in self._tokenizers.items()]
        most = max(sum(row["operations"].values()) for row in rows)
        for row in rows:
            row["lengths"] = [round(100 * operations / most, 2) for operations in row.pop("operations").values()]
        head = [*HEAD, *(["price"] if self._rate is not None else [])]
        parts = ["attention", "looking back", "feed-forward", "output"]
        return {"rows": rows, "parts": parts, "head": head, "say": rows[-1]["say"]}

    def _row(self, name: str, tokenizer: BPETokenizer, text: str) -> dict[str, Any]:
        shape = replace(self._shape, vocabulary=tokenizer.n_vocab)
        tokens = compression(tokenizer, text).tokens
        operations, weights = shape.operations_for(tokens), shape.weights
        work, pending = sum(operations.values()), sum(weights.values())
        for_output = f"{operations['output'] / work:.0%}"
        for_vocabulary = f"{(weights['embedding'] + weights['output']) / pending:.0%}"
        cache = f"{round(tokens * shape.cache_bytes):,} bytes"
        label = plain_label(utf8(name))
        cells = [label, f"{tokens:,}", f"{work:,}", for_output, f"{pending:,}", for_vocabulary, cache]
        say = (
            f"With “{label}”, {pluralize(tokenizer.n_vocab, 'token')} in the vocabulary, the text is "
            f"{pluralize(tokens, 'token')}. Reading it takes {work:,} operations, {for_output} of them for the output; "
            f"{for_vocabulary} of the {pending:,} weights are there for the vocabulary. The cache holds {cache} of it."
        )
        if self._rate is not None:
            cells.append(f"{price({'read': tokens}, {'read': self._rate}):.6f}")
            say += f" At {self._rate:g} for a million tokens it costs {cells[-1]}."
        return {"cells": cells, "say": say, "operations": operations}

    def still(self, data: dict[str, Any]) -> str:
        """Return the table of all tokenizers, and the last one's sentence."""
        if not data["rows"]:
            return f"<p>{escape(data['say'])}</p>"
        table = html_table(data["head"], (map(escape, row["cells"]) for row in data["rows"]))
        return f"{table}\n<p>{escape(data['say'])}</p>"
