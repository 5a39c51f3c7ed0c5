"""The card of a tokenizer: a README.md whose numbers were measured, on a text that lies beside it.

A number that can be measured again can be checked, so the card has them in one table, and `stated` reads it back.

Chapter: Your own tokenizer. Cost: that of encoding the text, and of encoding every token a few times.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .. import __version__
from ..analysis.compression import compression
from ..analysis.numbers import number_cuts
from ..analysis.tokens import never_merged, unmet
from ..analysis.whitespace import run_lengths
from ..chat.models import SHIPPED
from ..errors import BPELabError
from ..pretokenizers.patterns import find_pattern
from ..textio import valid_text
from ..tokenizer import BPETokenizer
from .hostile import hostile_texts

TEXT = "held-out.txt"
CARD = "README.md"
UNKNOWN = "not known"
FORMS = {
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
"""What is measured, and how it is written."""


@lru_cache(1)
def reference() -> BPETokenizer:
    """The tokenizer that others are compared with: that of the chat model in this package, 1,024 tokens, small English.

    >>> reference()
    <BPETokenizer: 1,024 tokens, pattern 'gpt2', 3 special>
    """
    return BPETokenizer.from_pretrained(SHIPPED)


def is_lost(tokenizer: BPETokenizer, text: str) -> bool:
    """Whether a text doesn't come back from its ids as it was.

    >>> is_lost(BPETokenizer.train("aa", 256, normalizer="NFKC"), "ﬁ")
    True
    """
    return tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) != valid_text(text)


def measure(tokenizer: BPETokenizer, text: str) -> dict[str, float]:
    """The numbers of a card, by the names in FORMS; NaN for what can't be known.

    >>> found = measure(BPETokenizer.train("low lower lowest " * 9, 262), "lower low")
    >>> found["bytes per token"], found["tokens never reached"], found["hostile texts that are lost"]
    (2.25, 0, 0)
    """
    found = compression(tokenizer, text)
    try:
        unreached: float = len({*never_merged(tokenizer), *unmet(tokenizer)})
    except BPELabError:  # tokens of characters
        unreached = math.nan
    values = (
        len(tokenizer),
        found.bytes,
        found.tokens,
        found.bytes_per_token,
        found.fertility,
        compression(reference(), text).bytes_per_token,
        sum(is_lost(tokenizer, each) for each in hostile_texts()),
        number_cuts(tokenizer).consistency,
        run_lengths(tokenizer, longest=16, after="x")[-1],
        unreached,
    )
    return dict(zip(FORMS, values))


def written(name: str, value: float) -> str:
    """A measured value as the card has it.

    >>> written("bytes of the text", 12345), written("numbers cut alike", 0.4725)
    ('12,345', '47.2%')
    """
    return UNKNOWN if math.isnan(value) else format(value, FORMS[name])


def stated(card: str) -> dict[str, str]:
    """The rows of two cells in the tables of a card: what stands left -> what stands right.

    >>> stated("# A\\n| measured | |\\n| --- | ---: |\\n| bytes per token | 2.5 |\\n")
    {'measured': '', 'bytes per token': '2.5'}
    """
    rows = re.findall(r"^[ \t]*\|([^|\n]*)\|([^|\n]*)\|[ \t]*$", card, re.MULTILINE)
    cells = ((left.strip().strip("`"), right.strip()) for left, right in rows)
    return {left: right for left, right in cells if set(left) - set("-:")}


def agrees(claim: str, value: float) -> bool:
    """Whether a number in words is a value, rounded to as many decimals as it is given with.

    >>> agrees("1,190", 1190), agrees("2.5", 2.4961), agrees("2.50", 2.4861), agrees("47%", 0.4725)
    (True, True, False, True)
    """
    if math.isnan(value):
        return claim == UNKNOWN
    found = re.fullmatch(r"(\d[\d,]{0,30})(?:\.(\d{1,15}))?(%?)", claim)
    if found is None:
        return False
    decimals = len(found[2] or "") + (2 if found[3] else 0)
    number = float(f"{found[1].replace(',', '')}.{found[2] or 0}") / (100 if found[3] else 1)
    return abs(number - value) <= 0.5 * 10.0**-decimals + 1e-12


def write_card(
    name: str, tokenizer: BPETokenizer, measured: Mapping[str, float], files: Iterable[tuple[str, str]], about: str
) -> str:
    """The card. `files` are names with what was left out of each."""
    pattern = tokenizer.pattern and find_pattern(tokenizer.pattern)
    rows = "\n".join(f"| {row} | {written(row, value)} |" for row, value in measured.items())
    listed = "\n".join(f"| `{_cell(file)}` | {_cell(left_out)} |" for file, left_out in files)
    split = tokenizer.pattern or str(tokenizer.pre_tokenizer)
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

On `{TEXT}`, by bpelab {__version__}. The reference is the tokenizer of {len(reference()):,} tokens that comes with it.

| measured | |
| --- | ---: |
{rows}

## Files

| file | left out |
| --- | --- |
{listed}

What was left out has to be known from here. Text is split by the pattern {pattern.name if pattern else ""}:

{_fenced(pattern.regex if pattern else split)}

The special tokens:

{_fenced(json.dumps(dict(tokenizer.special_tokens), ensure_ascii=False))}

The hash of each file is in `SHA256SUMS`; `sha256sum -c SHA256SUMS` checks them.
"""


def _cell(text: str) -> str:
    """Text that stays in its cell of a table."""
    return " ".join(text.replace("|", "&#124;").split())


def _fenced(text: str) -> str:
    """A block of code, in a fence longer than any within it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
