"""llama.cpp's pre-tokenizers: their names (`tokenizer.ggml.pre` in a GGUF file) and their split patterns.

A GGUF file has a name but no pattern; the patterns are in llama.cpp's source. A name's patterns are applied in order,
each to the pieces of the previous one. Text that a pattern doesn't match is also a piece: Hugging Face's "Isolated".

Chapter: File formats. Source: llama.cpp `src/llama-vocab.cpp`, `src/unicode.cpp` (data/gguf_pre_tokenizers.json).
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from ..data import FOLDER

_HAN = "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002ebef\uf900-\ufaff\U0002f800-\U0002fa1f"
_DIGITS = r"\P{N}*\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
_KIMI = (
    rf"[{_HAN}]+|[^\r\n\p{{L}}\p{{N}}]?(?:(?![{_HAN}])\p{{L}})+(?:'[sStTmMdD]|'[rR][eE]|'[vV][eE]|'[lL][lL])?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
HANDLERS = {r"\p{AFMoE_digits}": _DIGITS, r"\d{1,3}(?=(?:\d{3})*\b)": _DIGITS, r"\p{Han}+": _KIMI}
"""Patterns for which llama.cpp runs its own code instead -> a pattern equivalent to that code.
Digits are grouped from the right, and the first group includes all text before it that isn't a digit."""


class GGUFPre(NamedTuple):
    """One of llama.cpp's pre-tokenizers.

    Attributes:
        name: llama.cpp's name, such as "llama-bpe".
        regex: llama.cpp's split patterns, for any engine with Unicode categories.
        byte_level: whether pieces go through GPT-2's byte alphabet.
        original: the model's own patterns, if llama.cpp's source has them and they differ; else None.
        llama_cpp_regex: the patterns of `regex` as llama.cpp writes them.
        ignore_merges: whether a piece that is a token becomes that token, whatever the merges.
        add_bos, add_sep: whether these tokens are added if the file doesn't say.
        clean_spaces: whether decoding removes the space before some punctuation.
    """

    name: str
    regex: tuple[str, ...]
    byte_level: bool
    original: tuple[str, ...] | None
    llama_cpp_regex: tuple[str, ...]
    ignore_merges: bool
    add_bos: bool
    add_sep: bool
    clean_spaces: bool

    @property
    def is_approximation(self) -> bool:
        r"""True if llama.cpp's own splitter only approximates the patterns: those with a category such as `\p{Lu}`."""
        return any(re.search(r"\\p\{L[ultmo]\}", pattern) for pattern in self.original or self.llama_cpp_regex)


@lru_cache(1)
def gguf_pre() -> Mapping[str, GGUFPre]:
    r"""Return all pre-tokenizers by name; among equal ones, the best known comes first. Read once, in milliseconds.

    >>> gguf_pre()["viking"].regex[1], gguf_pre()["llama-bpe"].ignore_merges
    ('\\p{N}', True)
    """
    data = json.loads((FOLDER / "gguf_pre_tokenizers.json").read_text("utf-8"))
    by_name = {}
    for group in data["patterns"]:
        llama_cpp_regex = tuple(group["regex"])
        for name in group["names"]:
            by_name[name] = GGUFPre(
                name=name,
                regex=tuple(HANDLERS.get(pattern, pattern) for pattern in llama_cpp_regex),
                byte_level=group.get("byte_level", True),
                original=tuple(group["original"]) if "original" in group else None,
                llama_cpp_regex=llama_cpp_regex,
                ignore_merges=name in data["ignore_merges"],
                add_bos=name in data["add_bos"],
                add_sep=name in data["add_sep"],
                clean_spaces=name not in data["keep_spaces"],
            )
    return MappingProxyType(by_name)


def names_for(regexes: Sequence[str]) -> list[str]:
    r"""Return the names of pre-tokenizers that use these split patterns, in this order; the best known name first.

    A name matches if its patterns, or the model's own patterns behind them, equal these exactly, except for a final
    `|\s+` after `|\s+(?!\S)`, which changes no piece. The list is empty if llama.cpp has no such name.

    >>> names_for([r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"])[0]
    'gpt-2'
    """
    pattern, all_names = with_all_spaces(regexes), gguf_pre()
    spellings = {
        pre.llama_cpp_regex
        for pre in all_names.values()
        if pattern in map(with_all_spaces, (pre.regex, pre.llama_cpp_regex, pre.original or pre.regex))
    }
    return [name for name, pre in all_names.items() if pre.llama_cpp_regex in spellings]


def with_all_spaces(regexes: Sequence[str]) -> tuple[str, ...]:
    r"""Append `|\s+` to the patterns that end with `|\s+(?!\S)`; it matches only the text that they leave unmatched.

    The pieces stay the same, but the pattern becomes the model's own, which has a name here and splits faster.

    >>> with_all_spaces([r"\p{N}", r"\S+|\s+(?!\S)"])
    ('\\p{N}', '\\S+|\\s+(?!\\S)|\\s+')
    """
    return tuple(r + r"|\s+" if r.endswith(r"|\s+(?!\S)") else r for r in regexes)


def __getattr__(name: str) -> Mapping[str, GGUFPre]:
    if name == "GGUF_PRE":  # read when first asked for
        return gguf_pre()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
