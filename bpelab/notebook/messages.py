"""Messages of the exercises, displayed in a notebook (HTML), by a script (`print`) and in a test (`repr`).

The words are the same in all three and depend on nothing but the answer: no times, no addresses. Values are shown as
code that can be pasted into a cell.
"""

import inspect
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from ..encoders import ENCODERS, HeapEncoder, NaiveEncoder, TrieEncoder
from ..model.bpe import BPEModel
from ..model.rank_merges import RankMerges

MAX_CHARS = 700
SINGLE = "single = {bytes([byte]): byte for byte in range(256)}"
SINGLE_RANKS = {bytes([byte]): byte for byte in range(256)}
_COLOURS = {"right": "#009E73", "fault": "#E69F00", "note": "#868686"}


class Message:
    """A title, sentences and blocks of code; displays itself. Labels stand beside the title, in a frame, in HTML only.

    >>> print(Message("4.1 (By hand)", "right", ["Right."]))
    4.1 (By hand): Right.
    """

    def __init__(self, title: str, tone: str, parts: list[str | tuple[str, ...]]) -> None:
        self.title, self.tone, self.parts = title, tone, parts
        self.labels: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = []
        for part in self.parts:
            lines += ["    " + line for line in part] if isinstance(part, tuple) else [part]
        return f"{self.title}: " + "\n".join(lines)

    def _repr_html_(self) -> str:
        blocks, first = [], f"<strong>{escape(self.title)}</strong> "
        colour = _COLOURS[self.tone]
        name, edge = "", f"border-left: 4px solid {colour}; padding: .1em 1em"
        if self.labels:
            name = f' role="group" aria-label="{escape(", ".join((self.title, *self.labels)))}"'
            edge = f"border: 1px solid {colour}; border-left-width: 4px; border-radius: 4px; padding: .2em 1em"
            blocks.append(f'<p style="margin: .3em 0;">{first}<em>{escape(" · ".join(self.labels))}</em></p>')
            first = ""
        for part in self.parts:
            if isinstance(part, tuple):
                text = escape("\n".join(part))
                blocks.append(
                    '<pre style="white-space: pre-wrap; overflow-wrap: anywhere; color: inherit; background: none; '
                    f'border: none; padding: 0; margin: .4em 0 .4em 1.5em;">{text}</pre>'
                )
            else:
                text = re.sub(r"`([^`]+)`", r"<code style='color: inherit; background: none;'>\1</code>", escape(part))
                blocks.append(f'<p style="margin: .3em 0;">{first}{text}</p>')
                first = ""
        return f'<div class="bpelab-exercise"{name} style="{edge}; color: inherit;">{"".join(blocks)}</div>'


class Source:
    """Source code with a line about it, displayed as Markdown."""

    def __init__(self, heading: str, code: str) -> None:
        self.heading, self.code = heading, code

    def __repr__(self) -> str:
        return f"{self.heading}\n\n{self.code}"

    def _repr_markdown_(self) -> str:
        return f"{self.heading}\n\n```python\n{self.code}\n```"


def merges_of(model: BPEModel) -> list[tuple[bytes, bytes]] | None:
    """Return the merges from which `BPEModel.from_merges` makes this model; None if it can't be made that way.

    >>> merges_of(BPEModel.from_merges([(b"a", b"b")]))
    [(b'a', b'b')]
    """
    if isinstance(model.merges, RankMerges):
        return None
    ordered = sorted(model.merges.items(), key=lambda item: item[1])
    merges = [(model.tokens[left], model.tokens[right]) for (left, right), _ in ordered]
    again = BPEModel.from_merges(merges, ignore_merges=model.ignore_merges)
    return merges if dict(again.merges) == dict(model.merges) else None


def ranks_of(table: Mapping[Any, Any]) -> dict[bytes, int] | None:
    """Return a rank table without the 256 bytes, if each byte is its own rank; None for any other mapping."""
    if any(table.get(bytes([byte])) != byte for byte in range(256)):
        return None
    return {token: rank for token, rank in table.items() if len(token) > 1}


def code(value: Any) -> str:
    """Return `value` as Python code, if possible.

    >>> code((BPEModel.from_merges([(b"a", b"b")]), [1]))
    "(BPEModel.from_merges([(b'a', b'b')]), [1])"
    """
    if isinstance(value, BPEModel):
        return _model_code(value)
    if isinstance(value, (NaiveEncoder, HeapEncoder, TrieEncoder)):
        name = next(name for name, kind in ENCODERS.items() if kind is type(value))
        return f"ENCODERS[{name!r}]({code(value.model)})"
    if isinstance(value, dict):
        if (ranks := ranks_of(value)) is not None:
            return f"single | {ranks!r}" if ranks else "single"
        return "{" + ", ".join(f"{code(key)}: {code(item)}" for key, item in value.items()) + "}"
    if isinstance(value, set):
        return "{" + ", ".join(sorted(map(code, value))) + "}" if value else "set()"
    if type(value) is list:
        return "[" + ", ".join(map(code, value)) + "]"
    if type(value) is tuple:
        return "(" + ", ".join(map(code, value)) + ("," if len(value) == 1 else "") + ")"
    if inspect.isfunction(value):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, int) and value.bit_length() > 4_000:
        return f"<a number of {value.bit_length():,} bits>"
    return re.sub(r"\b0x[0-9a-fA-F]{6,}", "0x...", repr(value))


def _model_code(model: BPEModel) -> str:
    flag = ", ignore_merges=True" if model.ignore_merges else ""
    if (merges := merges_of(model)) is not None:
        return f"BPEModel.from_merges({merges!r}{flag})"
    ranks = ranks_of({token: token_id for token_id, token in model.tokens.items()})
    if isinstance(model.merges, RankMerges) and ranks is not None:
        return f"BPEModel.from_ranks({code(SINGLE_RANKS | ranks)}{flag or ', ignore_merges=False'})"
    return f"<a model of {len(model.tokens):,} tokens>"


def short(text: str) -> str:
    """Return `text`, with its middle left out if it is long.

    >>> len(short("a" * 10_000)) < 1_000
    True
    """
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2
    return f"{text[:half]} ... ({len(text) - 2 * half:,} characters left out) ... {text[-half:]}"
