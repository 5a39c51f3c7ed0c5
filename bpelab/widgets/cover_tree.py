"""A prompt byte by byte: its covers as a tree, with their shares, and what comes next. Chapter: One byte at a time."""

from collections import Counter
from html import escape
from itertools import pairwise
from typing import Any, ClassVar, Literal

from .._support.textio import utf8
from ..prefix.byte_model import ByteModel
from ..prefix.covers import covers
from ..prefix.weighing import Ids, common_beginning
from .base import Figure
from .visible import html_table, label_text, pluralize, quoted, visible

MOST = 8
"""How many covers, and how many bytes, are shown."""
LEAST = 0.001
"""The least probability of a next byte that is shown."""
Row = list[Any]
"""Of a bar: the parts of its name, each with its kind; its length, from 0 to 1; its number."""


class CoverTree(Figure):
    """The covers of `text`, and of everything that it begins with, by a model of bytes (`ByteModel`).

    Shows 24 bytes, and the likeliest covers and next bytes. Tokens with which all covers begin are part of the prompt.

    >>> from bpelab import BPETokenizer
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> tree = CoverTree(ByteModel(lambda ids: [0.0] * 262, tokenizer), "slo")
    >>> tree.data["say"]
    'After “slo” the likeliest next byte is “w”, 59 %. The prompt has 2 covers.'

    Raises as `BPETokenizer.covers` and the model do. Cost: that of `ByteModel.next_bytes` for each byte.
    """

    name = "cover_tree"
    limit = 24
    unit: ClassVar[Literal["byte", "character"]] = "byte"

    def __init__(self, model: ByteModel, text: str) -> None:
        self._model = model
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return for each beginning of the text its covers and the next bytes, and a sentence."""
        data = utf8(text)
        steps = [self._step(data[:size]) for size in range(len(data) + 1)]
        return {"steps": steps, "say": steps[-1]["say"]}

    def _step(self, prompt: bytes) -> dict[str, Any]:
        found = self._model.next_bytes(prompt)
        following = [(visible(bytes([byte])), share) for byte, share in found.probabilities.items()]
        following = sorted([*following, ([["", "end"]], found.end)], key=lambda item: -round(item[1], 4))
        rows = [_bar([["", name]], share) for name, share in following[:MOST] if share >= LEAST]
        after = f"After {quoted(prompt)}" if prompt else "No text yet:"
        said = (
            f"the likeliest next byte is “{label_text(rows[0][0][0][1])}”, {rows[0][2]}" if rows else "nothing can come"
        )
        count = len(covers(self._model.tokenizer, prompt))
        number = f" The prompt has {pluralize(count, 'cover')}." if prompt else ""
        return {**self._tree(prompt), "next": rows, "say": f"{after} {said}.{number}"}

    def _tree(self, prompt: bytes) -> dict[str, Any]:
        """Return the tokens with which all covers begin, and a bar for each of the likeliest covers, as a tree."""
        shares = self._model.covers(prompt).shares if prompt else {}
        tokens, shown = self._model.tokenizer.model.tokens, dict(list(shares.items())[:MOST])
        root = common_beginning([cover[:-1] for cover in shares]) if shares else ()
        rows, size = [], len(b"".join(tokens[token] for token in root))
        for above, cover in pairwise([(), *_in_tree_order(shown)]):
            known = len(common_beginning([above, cover]))
            parts = [
                ["shared" if at < known else "inside", visible(tokens[cover[at]])]
                for at in range(len(root), len(cover))
            ]
            beyond = sum(len(tokens[token]) for token in cover) - len(prompt)
            if beyond:
                last = tokens[cover[-1]]
                parts[-1:] = [["inside", visible(last[:-beyond])], ["beyond", visible(last[-beyond:])]]
            rows.append(_bar(parts, shown[cover]))
        begin = [["inside", visible(tokens[token])] for token in root]
        return {"prompt": [*begin, ["rest", visible(prompt[size:])]], "covers": rows}

    def still(self, data: dict[str, Any]) -> str:
        """Return the covers of the whole text, and the next bytes, as tables."""
        last = data["steps"][-1]
        tables = (
            html_table((name, "share"), ((escape(_named(parts)), share) for parts, _, share in last[key]))
            for key, name in (("covers", "cover"), ("next", "next byte"))
            if last[key]
        )
        return f"<p>{escape(data['say'])}</p>\n" + "\n".join(tables)


def _in_tree_order(shares: dict[Ids, float]) -> list[Ids]:
    """Return covers so that those that begin alike are side by side, the likelier branches first."""
    branches: Counter[Ids] = Counter()
    for cover, share in shares.items():
        for size in range(1, len(cover) + 1):
            branches[cover[:size]] += share  # type: ignore[assignment]
    places = {cover: [(-branches[cover[:size]], cover[:size]) for size in range(1, len(cover) + 1)] for cover in shares}
    return sorted(shares, key=places.__getitem__)


def _bar(parts: list[list[Any]], share: float) -> Row:
    return [parts, round(share, 4), "under 0.1 %" if share < LEAST else f"{100 * share:.{share < 0.0995:d}f} %"]


def _named(parts: list[list[Any]]) -> str:
    """Return a bar's name as text, with a line between tokens."""
    return "".join(
        ("" if kind in ("beyond", "") or not at else "|") + label_text(label) for at, (kind, label) in enumerate(parts)
    )
