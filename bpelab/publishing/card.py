"""The model card of a tokenizer: a README.md with numbers measured on a text in the same folder.

A number that can be measured again can be checked, so the card lists its numbers in one table for `parse_card`.

Chapter: Publish your own tokenizer. Cost: encoding the text, and encoding every token a few times.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .. import __version__
from .._support.textio import valid_text
from ..analysis.adversarial_texts import hostile_texts
from ..analysis.compression import compression
from ..analysis.numbers import number_cuts
from ..analysis.superwords import superword_uses
from ..analysis.tokens import never_merged, unreachable_alone
from ..analysis.whitespace import run_lengths
from ..chat.models.find import SHIPPED
from ..errors import BPELabError
from ..regex.patterns import covering_pattern, find_pattern
from ..tokenizer import BPETokenizer

TEXT_FILE = "held-out.txt"
CARD_FILE = "README.md"
UNKNOWN = "not known"
MEASURES = {
    "tokens in the vocabulary": ",d",
    "bytes of the text": ",d",
    "tokens of the text": ",d",
    "bytes per token": ".3f",
    "tokens per word": ".3f",
    "bytes per token, reference": ".3f",
    "hostile texts that are lost": ",d",
    "numbers cut alike": ".1%",
    "tokens for 16 spaces": ",d",
    "tokens never reached": ",d",
}
"""Measure -> the format specification of its value."""
OF_SUPERWORDS = {
    "superwords in the vocabulary": ",d",
    "superwords, share of the vocabulary": ".1%",
    "words per token": ".3f",
    "vocabulary of words alone": ",d",
    "tokens of the text, words alone": ",d",
    "tokens saved by going over words": ".1%",
}
"""Additional measures of a tokenizer with superwords; see `bpelab.analysis.superwords`."""


@lru_cache(1)
def reference() -> BPETokenizer:
    """Return the tokenizer to compare with: the shipped chat model's, which has 1,024 tokens of simple English.

    >>> reference()
    <BPETokenizer: 1,024 tokens, pattern 'gpt2', 3 special>
    """
    return BPETokenizer.from_pretrained(SHIPPED)


def is_lost(tokenizer: BPETokenizer, text: str) -> bool:
    """Return whether encoding and decoding changes the text.

    >>> is_lost(BPETokenizer.train("aa", 256, normalizer="NFKC"), "ﬁ")
    True
    """
    return tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) != valid_text(text)


def measure(tokenizer: BPETokenizer, text: str) -> dict[str, float]:
    """Measure the numbers of a card, by the names in MEASURES and OF_SUPERWORDS; NaN if one can't be measured.

    >>> measures = measure(BPETokenizer.train("low lower lowest " * 9, 262), "lower low")
    >>> measures["bytes per token"], measures["tokens never reached"], measures["hostile texts that are lost"]
    (2.25, 0, 0)
    """
    sizes = compression(tokenizer, text)
    try:
        unreached: float = len({*never_merged(tokenizer), *unreachable_alone(tokenizer)})
    except BPELabError:  # tokens are characters
        unreached = math.nan
    values = (
        len(tokenizer),
        sizes.bytes,
        sizes.tokens,
        sizes.bytes_per_token,
        sizes.fertility,
        compression(reference(), text).bytes_per_token,
        sum(is_lost(tokenizer, each) for each in hostile_texts()),
        number_cuts(tokenizer).consistency,
        run_lengths(tokenizer, longest=16, after="x")[-1],
        unreached,
    )
    return {**dict(zip(MEASURES, values)), **_of_superwords(tokenizer, text)}


def _of_superwords(tokenizer: BPETokenizer, text: str) -> dict[str, float]:
    """Measure superwords, by the names in OF_SUPERWORDS; return an empty dict if the tokenizer has no superwords."""
    if (use := superword_uses(tokenizer, {"": text}).get("")) is None:
        return {}
    sizes = use.words_vocabulary, use.tokens_of_words_alone
    alone = (math.nan if size is None else size for size in sizes)
    return dict(zip(OF_SUPERWORDS, (use.superwords, use.share, use.words_per_token, *alone, use.saving)))


def format_measure(name: str, value: float) -> str:
    """Format a measured value for the card.

    >>> format_measure("bytes of the text", 12345), format_measure("numbers cut alike", 0.4725)
    ('12,345', '47.2%')
    """
    return UNKNOWN if math.isnan(value) else format(value, {**MEASURES, **OF_SUPERWORDS}[name])


def parse_card(card: str) -> dict[str, str]:
    """Parse the two-column rows in a card's tables: left cell -> right cell.

    >>> parse_card("# A\\n| measured | |\\n| --- | ---: |\\n| bytes per token | 2.5 |\\n")
    {'measured': '', 'bytes per token': '2.5'}
    """
    rows = re.findall(r"^[ \t]*\|([^|\n]*)\|([^|\n]*)\|[ \t]*$", card, re.MULTILINE)
    cells = ((left.strip().strip("`"), right.strip()) for left, right in rows)
    return {left: right for left, right in cells if set(left) - set("-:")}


def agrees(claim: str, value: float) -> bool:
    """Return whether a number in a text equals a value rounded to the same number of decimals.

    >>> agrees("1,190", 1190), agrees("2.5", 2.4961), agrees("2.50", 2.4861), agrees("47%", 0.4725)
    (True, True, False, True)
    """
    if math.isnan(value):
        return claim == UNKNOWN
    match = re.fullmatch(r"(\d[\d,]{0,30})(?:\.(\d{1,15}))?(%?)", claim)
    if match is None:
        return False
    decimals = len(match[2] or "") + (2 if match[3] else 0)
    number = float(f"{match[1].replace(',', '')}.{match[2] or 0}") / (100 if match[3] else 1)
    return abs(number - value) <= 0.5 * 10.0**-decimals + 1e-12


def write_card(
    name: str, tokenizer: BPETokenizer, measures: Mapping[str, float], files: Iterable[tuple[str, str]], about: str
) -> str:
    """Return the card, in Markdown. `files` has pairs: a file's name, and what the file leaves out."""
    pattern = tokenizer.pattern and find_pattern(tokenizer.pattern)
    rows = "\n".join(f"| {row} | {format_measure(row, value)} |" for row, value in measures.items())
    file_rows = "\n".join(f"| `{_table_cell(file)}` | {_table_cell(left_out)} |" for file, left_out in files)
    split, size = tokenizer.pattern or str(tokenizer.spec.pre_tokenizer), len(reference())
    if tokenizer.pattern and not (pattern and pattern.cuts_words):
        split = covering_pattern(tokenizer.pattern)
    elif pattern:
        split = pattern.regex
    return f"""\
---
tags:
- tokenizer
- bpe
---

# {name}

{about.strip() or "A byte-pair encoding tokenizer."}

```python
from transformers import AutoTokenizer  # or: from bpelab import BPETokenizer

tokenizer = AutoTokenizer.from_pretrained("{name}")
```

## Measured

On `{TEXT_FILE}`, by bpelab {__version__}. The reference is the tokenizer of {size:,} tokens that comes with it.

| measured | |
| --- | ---: |
{rows}

## Files

| file | left out |
| --- | --- |
{file_rows}

What was left out has to be known from here. Text is split by the pattern {pattern.name if pattern else ""}:

{_code_block(split)}

The special tokens:

{_code_block(json.dumps(dict(tokenizer.special_tokens), ensure_ascii=False))}

The hash of each file is in `SHA256SUMS`; `sha256sum -c SHA256SUMS` checks them.
"""


def _table_cell(text: str) -> str:
    """Escape a text for a table cell."""
    return " ".join(text.replace("|", "&#124;").split())


def _code_block(text: str) -> str:
    """Return a Markdown code block, with a fence longer than any inside it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
