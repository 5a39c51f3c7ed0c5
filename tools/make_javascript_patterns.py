"""Write patterns.json, with which the library in JavaScript splits text. Run it when a pattern or the Unicode table changes.

python -m tools.make_javascript_patterns

The file has the automata of all published patterns that a table can run (`regex/patterns.py`, llama.cpp's, and the steps
of a tokenizer.json that have no pattern of their own), compiled by the library itself. They share one table from
characters to joint classes: two characters are in one joint class if no automaton tells them apart. So it has some 130
classes, and for each automaton the map from these to its own.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from bpelab import native
from bpelab.errors import PatternError
from bpelab.formats.gguf_load import splitter
from bpelab.formats.gguf_pre_tokenizers import gguf_pre
from bpelab.formats.json_components import write_component
from bpelab.formats.published_patterns import DEEPSEEK, MISREAD, PUBLISHED as PUBLISHED_PATTERNS
from bpelab.formats.published_ranks import PUBLISHED
from bpelab.native.plan import Unsupported, dfa_table
from bpelab.pretokenizers import (
    BertPreTokenizer,
    Digits,
    Punctuation,
    SplitPattern,
    Whitespace,
    WhitespaceSplit,
)
from bpelab.pretokenizers.base import PreTokenizer
from bpelab.pretokenizers.pattern_steps import PatternStep
from bpelab.regex.dfa import BLOCKS, NotRegular, dfa_for
from bpelab.regex.matchers import Pattern
from bpelab.regex.patterns import ALIASES, PATTERNS
from bpelab.unicode.hf_normalizer_tables import assigned_after_unicode_9

PATH = Path(native.__file__).parent / "javascript" / "patterns.json"
BEHAVIORS = ("Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext", "Removed")
COMPONENTS: tuple[PreTokenizer, ...] = (
    *(Digits(individual) for individual in (False, True)),
    *(Punctuation(behavior) for behavior in BEHAVIORS),
    *(SplitPattern(Pattern("String", text), behavior) for text in (" ", "▁") for behavior in BEHAVIORS),
    WhitespaceSplit(),
    Whitespace(),
    BertPreTokenizer(),
)
Table = tuple[Any, ...]


class Automata:
    """The automata of patterns, each once, in the order of `add`."""

    def __init__(self) -> None:
        self.tables: dict[bytes, Table] = {}
        self.numbers: dict[tuple[str, str], int | None] = {}

    def add(self, pattern: str, dialect: str) -> int | None:
        """Return the number of a pattern's automaton, or None if no table can run it."""
        if (pattern, dialect) not in self.numbers:
            try:
                table = dfa_table(dfa_for(pattern, dialect))
                key = repr((*map(list, table[:1]), *table[1:3], bytes(table[3]), bytes(table[4]))).encode()
                self.tables.setdefault(key, table)
                self.numbers[pattern, dialect] = [*self.tables].index(key)
            except (PatternError, NotRegular, Unsupported):
                self.numbers[pattern, dialect] = None
        return self.numbers[pattern, dialect]

    def steps(self, steps: Iterable[PatternStep] | None) -> list[list[Any]] | None:
        """Return [automaton, what is kept, what a text must contain] for each step, or None if one isn't served."""
        found = [[self.add(step.pattern, step.dialect), step.keep, step.required] for step in steps or ()]
        return None if steps is None or any(step[0] is None for step in found) else found


def contents() -> str:
    """Return the JSON text of the file."""
    automata = Automata()
    names = {name: automata.add(pattern.regex, "rust") for name, pattern in PATTERNS.items()}
    for expression in (*(pattern.oniguruma for pattern in PATTERNS.values()), *PUBLISHED_PATTERNS, *MISREAD, *DEEPSEEK):
        automata.add(expression, "oniguruma")
    gguf = {
        name: {"steps": steps, "ignoreMerges": pre.ignore_merges}
        for name, pre in gguf_pre().items()
        if pre.byte_level and (steps := automata.steps(splitter(pre.original or pre.regex).pattern_steps())) is not None
    }
    components = {
        json.dumps(write_component(part, "pre_tokenizer"), ensure_ascii=False, separators=(",", ":")): steps
        for part in COMPONENTS
        if (steps := automata.steps(part.pattern_steps())) is not None
    }
    joint, lengths, classes = joint_classes([*automata.tables.values()])
    patterns: dict[str, dict[str, int]] = {"rust": {}, "oniguruma": {}}
    for (expression, dialect), number in automata.numbers.items():
        if number is not None and len(expression) < 1000:
            patterns[dialect][expression] = number
    patterns["rust"] |= {
        pattern.oniguruma: number for name, pattern in PATTERNS.items() if (number := names[name]) is not None
    }
    data = {
        "lengths": lengths,
        "classes": classes,
        "automata": [
            {
                "width": width,
                "start": start,
                "transitions": base64(list(transitions)) if max(transitions) < 256 else list(transitions),
                "classes": base64(column[number] for column in joint),
                "rules": None if rules is None else list(rules),
            }
            for number, (transitions, width, start, _, _, rules) in enumerate(automata.tables.values())
        ],
        "patterns": patterns,
        "names": names | {alias: names[name] for alias, name in ALIASES.items()},
        "components": components,
        "gguf": gguf,
        "ranks": {digest: [one.name, one.pattern, one.normalizer] for digest, one in PUBLISHED.items()},
        "afterUnicode9": re.sub(r"\\[uU]0*([0-9a-fA-F]+)", r"\\u{\1}", assigned_after_unicode_9().pattern),
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def joint_classes(tables: Sequence[Table]) -> tuple[list[tuple[int, ...]], str, str]:
    """Return the joint classes, each as its class in every automaton, and the runs of code points: lengths, classes."""
    blocks: dict[tuple[bytes, ...], list[int]] = {}
    numbers: dict[tuple[int, ...], int] = {}
    of_code_points: list[int] = []
    for block in range(BLOCKS):
        parts = tuple(
            bytes(stage2[stage1[block] << 8 : (stage1[block] << 8) + 256]) for _, _, _, stage1, stage2, _ in tables
        )
        if parts not in blocks:
            blocks[parts] = [numbers.setdefault(column, len(numbers)) for column in zip(*parts)]
        of_code_points += blocks[parts]
    lengths, classes = bytearray(), bytearray()
    for number, run in groupby(of_code_points):
        lengths += varint(sum(1 for _ in run))
        classes += varint(number)
    return [*numbers], base64(lengths), base64(classes)


def varint(number: int) -> bytes:
    """Return a number in base 128, the lowest digit first, each but the last with its highest bit set."""
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def base64(data: Iterable[int]) -> str:
    """Return bytes in Base64."""
    return b64encode(bytes(data)).decode()


if __name__ == "__main__":
    PATH.write_text(contents(), encoding="utf-8", newline="\n")
