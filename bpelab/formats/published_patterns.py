r"""Write the split patterns of a tokenizer.json as they were published, wherever that changes no id.

tokenizers 1.0 has no engine for regular expressions. It recognises published patterns by their text; a file with
another one opens, and can't encode. So a pattern that cuts every text as a published one does is written as that one:
minbpe's for GPT-4, for example, as the one without possessive quantifiers. The proof is on automata.

tiktoken's own pattern for cl100k_base was never published in a tokenizer.json: the files of GPT-4 have its earlier
form, which is Llama 3's. The two differ where a text ends in white space: today's keeps `"\n "` whole and the earlier
one cuts after the last line break. That changes ids only if a token lies across that cut, and a vocabulary hardly ever
has one.

Chapter: File formats. Cost: nothing for a named pattern; the walk over two automata (some 0.1 s) for one that might be
a published one. Source: tokenizers 1.0.0rc3, each pattern tried.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..core.spec import TokenizerSpec
from ..encoders.heap import HeapEncoder
from ..errors import PatternError
from ..model.bpe import BPEModel
from ..pretokenizers.split import Split
from ..regex.dfa import NotRegular
from ..regex.equivalence import compare_patterns
from ..regex.patterns import PATTERNS
from .json_components import PORTABLE_END, portable_end

CLASSIC = PATTERNS["llama3"].oniguruma
DIGITS = r"\p{N}{1,3}"
PUBLISHED = tuple(PATTERNS[name].oniguruma for name in ("gpt2", "llama3", "qwen2", "o200k", "tekken", "kimi-k2"))
"""The patterns that tokenizers 1.0 runs, as a tokenizer.json spells them."""
MISREAD = tuple(CLASSIC.replace(DIGITS, digits) for digits in (r"\p{N}{1,2}", r"\p{N}+"))
"""Patterns that tokenizers 1.0.0rc3 recognises and runs as CLASSIC: it cuts numbers after three digits all the same."""
DEEPSEEK = (
    DIGITS,
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)
"""Three patterns that it runs together, in this order."""
PROBE = "It's I'LL  naïve 1234 x12345 ?! --\r\n \n  \t a文字É\u0301 /\n  "
"""A text that most patterns cut unlike each published one, so that few automata are compared."""
ACROSS = re.compile(rb"[\r\n][\t\v\f \x80-\xff]+\Z")
"""What a token looks like that may lie across the cut after the last line break."""


class UnpublishedPattern(UserWarning):
    """A file was saved with a split pattern that tokenizers 1.0 doesn't run."""


def as_published(pattern: str) -> str:
    r"""Return the published pattern that cuts every text as an Oniguruma pattern does, or the pattern itself.

    >>> as_published(CLASSIC.replace(r"?\p{L}+", r"?+\p{L}++")) == CLASSIC, as_published("[a-z]+")
    (True, '[a-z]+')
    """
    return pattern if pattern in PUBLISHED else _proven(pattern) or pattern


@lru_cache(64)
def _proven(pattern: str) -> str | None:
    try:
        pieces = Split(pattern, dialect="oniguruma").split(PROBE)
        for published in PUBLISHED:
            alike = Split(published, dialect="oniguruma").split(PROBE) == pieces
            if alike and compare_patterns(pattern, published, "oniguruma") is None:
                return published
    except (NotRegular, PatternError):
        pass  # there is no proof, and it stays as it is
    return None


def same_ids_with_classic(model: BPEModel) -> bool:
    """Return whether a model gives every text the same ids with "cl100k" as with CLASSIC, its earlier form.

    They are the same if no token lies across the cut that only the earlier form makes, so that no merge does. A model
    that takes pieces whole must also reach each token of white space by its merges.
    """
    if model.initial_symbols is not None or any(map(ACROSS.search, model.tokens.values())):
        return False
    if not model.ignore_merges:
        return True
    merging = HeapEncoder(BPEModel(model.tokens, model.merges, model.alphabet))
    return all(
        merging.encode_piece(token) == [token_id]
        for token_id, token in model.tokens.items()
        if token.decode("utf-8", "replace").isspace()
    )


def publish_patterns(pre_tokenizer: Any, spec: TokenizerSpec) -> None:
    """Replace the patterns of a pre-tokenizer, given as JSON, by published ones that give the same ids."""
    classic = spec.pattern == "cl100k" and same_ids_with_classic(spec.model)
    for step in _regex_splits(pre_tokenizer):
        if (step["behavior"], step["invert"]) == ("Isolated", False):
            pattern = step["pattern"]["Regex"].replace(PORTABLE_END, r"\z")
            step["pattern"]["Regex"] = portable_end(CLASSIC if classic else as_published(pattern))


def unpublished(pre_tokenizer: Any) -> str | None:
    """Return the first pattern of a pre-tokenizer, given as JSON, that tokenizers 1.0 doesn't run, or None."""
    splits = _regex_splits(pre_tokenizer)
    patterns = tuple(step["pattern"]["Regex"] for step in splits)
    if patterns == DEEPSEEK:
        return None
    takes_matches = {("Isolated", False), ("Removed", True)}
    return next(
        (
            pattern
            for pattern, step in zip(patterns, splits)
            if pattern not in PUBLISHED or (step["behavior"], step["invert"]) not in takes_matches
        ),
        None,
    )


def _regex_splits(pre_tokenizer: Any) -> list[dict[str, Any]]:
    """Return the steps of a pre-tokenizer, given as JSON, that split by a regular expression."""
    steps = [] if pre_tokenizer is None else pre_tokenizer.get("pretokenizers", [pre_tokenizer])
    return [step for step in steps if step["type"] == "Split" and "Regex" in step["pattern"]]
