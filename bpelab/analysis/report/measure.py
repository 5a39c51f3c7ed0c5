"""Everything that this package measures, of several tokenizers on several texts.

Chapter: Measuring. Cost: that of encoding the texts, of 15,000 numbers, and of each token once: seconds for 100,000
tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import BPELabError
from ..progress import bar
from ..textio import valid_text
from ..tokenizer import BPETokenizer
from .audit import audit
from .checks import integer, number
from .compression import Compression, compression
from .fairness import Paid, parity
from .numbers import NumberCuts, number_cuts
from .shape import Shape
from .tokens import Overlap, longest_tokens, never_merged, overlap, unmet
from .whitespace import Indentation, indentation, run_lengths

RUNS = {"spaces": " ", "spaces and a letter": " ", "tabs": "\t", "line ends": "\n"}
AFTER = {"spaces and a letter": "x"}
LONG_NUMBERS = range(1_234_567, 99_999_999, 19_753)
"""5,000 numbers of seven and eight digits."""
HARD = "  two  spaces\r\n\ttab, e\u0301 and \u00e9, \ufb01, 日本 😀 \u200b \x00 İ"
"""A text that normalizers and missing characters show themselves on."""


@dataclass(frozen=True)
class Measured:
    """What was found out about one tokenizer.

    Attributes:
        tokens: how many it has, special ones included. `n_vocab`: the rows that a model's embedding needs for them.
        pattern: of its pre-tokenizer; None where it is no single pattern.
        texts: name of a text -> its compression.
        code: name of a text -> its white space.
        back: name of a text, and "a hard sample" -> whether decoding gave the text back.
        numbers: 0 to 9999. `long_numbers`: some of seven and eight digits.
        runs: what the run is of -> tokens for 1, 2, ... 64 of it.
        longest: (id, bytes) of the tokens with the most bytes.
        never_merged: ids of tokens that no merge makes.
        unmet: ids of tokens that their own text doesn't give; None where tokens have no text of their own.
        oddities: the sentences of `audit`.
    """

    tokens: int
    n_vocab: int
    pattern: str | None
    texts: dict[str, Compression]
    code: dict[str, Indentation]
    back: dict[str, bool]
    numbers: NumberCuts
    long_numbers: NumberCuts
    runs: dict[str, list[int]]
    longest: list[tuple[int, bytes]]
    never_merged: list[tuple[int, bytes]]
    unmet: list[tuple[int, bytes]] | None
    oddities: list[str]


def measure(tokenizer: BPETokenizer, texts: Mapping[str, str]) -> Measured:
    """All measures of one tokenizer.

    >>> found = measure(BPETokenizer.train("low lower " * 9, 261), {"a line": "lower low"})
    >>> found.texts["a line"].tokens, found.back, found.numbers.tokens_per_number
    (3, {'a line': True, 'a hard sample': True}, 3.889)
    """
    named = tokenizer.model.tokens
    try:
        met_nowhere = [(token_id, named[token_id]) for token_id in unmet(tokenizer)]
    except BPELabError:
        met_nowhere = None
    return Measured(
        tokens=len(tokenizer),
        n_vocab=tokenizer.n_vocab,
        pattern=tokenizer.pattern,
        texts={name: compression(tokenizer, text) for name, text in texts.items()},
        code={name: indentation(tokenizer, text) for name, text in texts.items()},
        back={name: _comes_back(tokenizer, text) for name, text in {**texts, "a hard sample": HARD}.items()},
        numbers=number_cuts(tokenizer),
        long_numbers=number_cuts(tokenizer, LONG_NUMBERS),
        runs={name: run_lengths(tokenizer, char, after=AFTER.get(name, "")) for name, char in RUNS.items()},
        longest=longest_tokens(tokenizer),
        never_merged=[(token_id, named[token_id]) for token_id in never_merged(tokenizer)],
        unmet=met_nowhere,
        oddities=list(audit(tokenizer)),
    )


def _comes_back(tokenizer: BPETokenizer, text: str) -> bool:
    ids = tokenizer.encode(text, add_special_tokens=False)
    return tokenizer.decode(ids, unknown="replace") == valid_text(text)


@dataclass(frozen=True)
class Report:
    """Tokenizers, by name, side by side.

    Attributes:
        texts: name -> text.
        measured: name of a tokenizer -> what was found out.
        overlaps: (name, name) -> what their vocabularies share, for each two.
        paid: name of a tokenizer -> name of a text -> what it pays, where texts were given that say the same.
        shape: of the model to say costs of; its vocabulary is each tokenizer's own.
        context: the tokens to say of how much text fits into them.
        price: of a million tokens.
    """

    texts: Mapping[str, str]
    measured: dict[str, Measured]
    overlaps: dict[tuple[str, str], Overlap]
    paid: dict[str, dict[str, Paid]] = field(default_factory=dict)
    shape: Shape | None = None
    context: int | None = None
    price: float | None = None


def compare(
    tokenizers: Mapping[str, BPETokenizer],
    texts: Mapping[str, str],
    *,
    parallel: Mapping[str, str] | None = None,
    shape: Shape | None = None,
    context: int | None = None,
    price: float | None = None,
    progress: bool | None = False,
) -> Report:
    """Measure each tokenizer, and each two vocabularies against each other.

    The texts of `parallel` say the same, and each pays what it pays against the first. See `Report` for the others.
    `progress` shows a bar of tokenizers: True, False, or None for where standard error is a terminal.
    Raises BPELabError for a context or a price that is no number.

    >>> one, two = BPETokenizer.train("low lower " * 9, 261), BPETokenizer.train("low " * 9, 259)
    >>> compare({"one": one, "two": two}, {"a line": "lower low"}).overlaps["one", "two"].shared
    259
    """
    if context is not None:
        integer("context", context)
    if price is not None:
        number("price", price)
    names = list(tokenizers)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    measured = {}
    with bar(progress, len(tokenizers), "measuring", " tokenizers") as advance:
        for name, tokenizer in tokenizers.items():
            measured[name] = measure(tokenizer, texts)
            advance(1)
    return Report(
        dict(texts),
        measured,
        {(a, b): overlap(tokenizers[a], tokenizers[b]) for a, b in pairs},
        {name: parity(tokenizer, parallel, next(iter(parallel))) for name, tokenizer in tokenizers.items()}
        if parallel
        else {},
        shape,
        context,
        price,
    )
