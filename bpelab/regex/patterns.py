"""The split patterns of well-known tokenizers, by name, each with its source.

A pattern decides which bytes can ever share a token, so changing one character of it changes ids without an error.
Each pattern has two spellings: `regex` is what tiktoken (or the model's own code) uses; `oniguruma` cuts every text at
the same offsets under Hugging Face's engine, in which `$` means the end of a line and `{1,3}+` is not possessive.
The patterns that cut words match every character and leave no gap. In the superword pattern, the text between two
matches is one piece.

Chapter: Regex pre-tokenization.
"""

from __future__ import annotations

from collections import namedtuple

from ..errors import PatternError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .charsets import Dialect

_NAME = r"[A-Za-z](?:[\w-]|\.\d){2,}"
"""A plain word: more likely a misspelt name than a regular expression that anybody would write."""


class NamedPattern(namedtuple("NamedPattern", "name regex oniguruma source cuts_words", defaults=[True])):
    """A split pattern: its name, two equivalent spellings, the source it was copied from, and whether it cuts words."""

    __slots__ = ()
    name: str
    regex: str
    oniguruma: str
    source: str
    cuts_words: bool


_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
_GPT2_CLASSIC = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_CL100K_ONIGURUMA = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# tiktoken's earlier pattern, still that of Llama 3 and many tokenizer.json files. It differs from today's in one case:
# in white space at the end of a text, the part after the last line break is a piece of its own.
_CL100K_CLASSIC = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_O200K = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
# The second stage of SuperBPE: only digits, runs of punctuation and spaces before more space are cut off.
_SUPERBPE = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
_QWEN2 = _CL100K_CLASSIC.replace(r"\p{N}{1,3}", r"\p{N}")
_QWEN35 = _QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"?[^\s\p{L}\p{N}]+", r"?[^\s\p{L}\p{M}\p{N}]+")
# Chinese characters are pieces of their own, and not part of words.
_KIMI = r"[\p{Han}]+|" + _O200K.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace(r"\n/]*", r"\n]*")
_TEKKEN = _O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")

PATTERNS: dict[str, NamedPattern] = {
    pattern.name: pattern
    for pattern in (
        NamedPattern("gpt2", _GPT2, _GPT2_CLASSIC, "tiktoken_ext/openai_public.py: r50k_pat_str; gpt-2/src/encoder.py"),
        NamedPattern("cl100k", _CL100K, _CL100K_ONIGURUMA, "tiktoken_ext/openai_public.py: cl100k_base()"),
        NamedPattern("o200k", _O200K, _O200K, "tiktoken_ext/openai_public.py: o200k_base()"),
        NamedPattern("llama3", _CL100K_CLASSIC, _CL100K_CLASSIC, "llama3/llama/tokenizer.py: pat_str"),
        NamedPattern("qwen2", _QWEN2, _QWEN2, "Qwen2 tokenizer.json: pre_tokenizer (as llama3, but digit by digit)"),
        NamedPattern(
            "qwen3.5", _QWEN35, _QWEN35, "Qwen3.5 tokenizer.json: pre_tokenizer (as qwen2, but marks in words)"
        ),
        NamedPattern("tekken", _TEKKEN, _TEKKEN, "mistral-common tekken_240718.json (as o200k, without contractions)"),
        NamedPattern(
            "kimi-k2", _KIMI, _KIMI, "Kimi-K2-Instruct tokenization_kimi.py: pat_str (as o200k, but Han apart)"
        ),
        NamedPattern("superbpe", _SUPERBPE, _SUPERBPE, "superbpe/scripts: extend_tokenizer.sh; stage 2", False),
    )
}

ALIASES = {
    "r50k": "gpt2",
    "r50k_base": "gpt2",
    "p50k": "gpt2",
    "p50k_base": "gpt2",
    "p50k_edit": "gpt2",
    "gpt4": "cl100k",
    "cl100k_base": "cl100k",
    "gpt4o": "o200k",
    "o200k_base": "o200k",
    "o200k_harmony": "o200k",
    "glm4": "llama3",  # glm-4-9b tokenization_chatglm.py: pat_str
    "kimi": "kimi-k2",
    "qwen2.5": "qwen2",
    "qwen3.6": "qwen3.5",
}


def find_pattern(name_or_regex: str) -> NamedPattern | None:
    """Return the named pattern with this name, alias or spelling, or None.

    >>> find_pattern("r50k_base").name
    'gpt2'
    >>> find_pattern(PATTERNS["cl100k"].oniguruma).name
    'cl100k'
    >>> find_pattern("[a-z]+") is None
    True
    """
    name = ALIASES.get(name_or_regex, name_or_regex)
    if name in PATTERNS:
        return PATTERNS[name]
    return next((p for p in PATTERNS.values() if name_or_regex in (p.regex, p.oniguruma)), None)


def as_named_pattern(pattern: str, dialect: Dialect) -> NamedPattern | None:
    """Return the named pattern for a name or spelling (Rust) or an Oniguruma spelling (Oniguruma), or None.

    >>> as_named_pattern("r50k_base", "rust").name, as_named_pattern("r50k_base", "oniguruma")
    ('gpt2', None)
    """
    if dialect == "rust":
        return find_pattern(pattern)
    return next((named for named in PATTERNS.values() if named.oniguruma == pattern), None)


def covering_pattern(pattern: str | None) -> str:
    r"""Return an equivalent regular expression that matches every character, for engines that drop unmatched text.

    In tiktoken and minbpe only the matches of a pattern are pieces; here and in a tokenizer.json, the text between two
    matches is a piece too.

    >>> covering_pattern(r"\d"), covering_pattern(None), covering_pattern("gpt2") == PATTERNS["gpt2"].regex
    ('\\d|(?s:(?:(?!\\d).)+)', '(?s:.+)', True)
    """
    if pattern is None:
        return r"(?s:.+)"
    if named := find_pattern(pattern):
        pattern = named.regex
        if named.cuts_words:
            return pattern
    return rf"{pattern}|(?s:(?:(?!{pattern}).)+)"


def without_covering(pattern: str) -> str:
    r"""Undo `covering_pattern`; return other patterns unchanged.

    >>> without_covering(covering_pattern(r"\d")), without_covering("[a-z]+|.")
    ('\\d', '[a-z]+|.')
    """
    half = (len(pattern) - len("|(?s:(?:(?!).)+)")) // 2
    return pattern[:half] if half > 0 and covering_pattern(pattern[:half]) == pattern else pattern


def refuse_misspelt(pattern: object) -> None:
    """Raise PatternError if `pattern` looks like a misspelt pattern name, and TypeError if it isn't a str.

    As a regular expression, such a word would match only itself, so texts would hardly be cut.

    >>> refuse_misspelt("gpt-4")
    Traceback (most recent call last):
      ...
    bpelab.errors.PatternError: there is no pattern 'gpt-4': did you mean 'gpt4'? For the expression, write '(?:gpt-4)'
    """
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern is a name, a regular expression or None, not {type(pattern).__name__}")
    if find_pattern(pattern) is not None:
        return
    import re

    from .._support.nearest_name import nearest

    if not re.fullmatch(_NAME, pattern):
        return
    plain = {_plain(name): name for name in (*ALIASES, *PATTERNS)}
    meant = nearest(_plain(pattern), plain)
    advice = f"did you mean {plain[meant]!r}?" if meant else f"the names are {', '.join(PATTERNS)}."
    raise PatternError(f"there is no pattern {pattern!r}: {advice} For the expression, write '(?:{pattern})'")


def _plain(name: str) -> str:
    import re

    return re.sub(r"[\W_]", "", name).lower()
