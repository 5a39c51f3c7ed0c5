"""A text coloured by token, several tokenizers side by side. Chapters: Matching GPT-2 and GPT-4; Measuring."""

from collections.abc import Mapping
from html import escape
from itertools import accumulate
from typing import Any

from .._support.textio import utf8, valid_text
from ..errors import BPELabError
from ..tokenizer import BPETokenizer
from .base import Figure
from .trained_data import own_tokenizers
from .visible import chips, plain_label, pluralize, visible


class TokenView(Figure):
    """The tokens of `text` under each of `tokenizers` (title -> tokenizer), with ids, bytes, offsets and counts.

    Signs stand for invisible characters, and a character that is spread over several tokens is marked. No special
    tokens are added, and none are recognised in the text. Shows 3,000 characters.

    >>> tokenizer = BPETokenizer.train("low lower " * 9, 260)
    >>> view = TokenView("low é", {"ours": tokenizer})
    >>> panel = view.data["panels"][0]
    >>> panel["ids"], panel["split"], panel["summary"]
    ([257, 32, 195, 169], [[2, 3, 'é']], '4 tokens, 1.50 bytes per token')
    """

    name = "token_view"
    limit = 3000

    def __init__(self, text: str, tokenizers: Mapping[str, BPETokenizer] | BPETokenizer) -> None:
        named = {"": tokenizers} if isinstance(tokenizers, BPETokenizer) else dict(tokenizers)
        if not named:
            raise BPELabError("there is nothing to compare: tokenizers is a dict of title -> BPETokenizer")
        self._tokenizers = named
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return panels; `starts` are byte offsets, and `split` the runs of tokens that share characters."""
        panels = [self._panel(title, tokenizer, text) for title, tokenizer in self._tokenizers.items()]
        counts = "; ".join(f"{panel['title']}: {panel['summary']}".removeprefix(": ") for panel in panels)
        return {"panels": panels, "say": f"{counts}." if text else "No text, so no tokens."}

    def for_own_text(self) -> dict[str, Any] | None:
        """Return the tokenizers, in the order of the panels."""
        return own_tokenizers(self._tokenizers.values())

    def _panel(self, title: str, tokenizer: BPETokenizer, text: str) -> dict[str, Any]:
        ids = tokenizer.encode_ordinary(text)
        parts = tokenizer.convert_ids_to_tokens(ids)
        data = b"".join(parts)
        starts = list(accumulate(map(len, parts), initial=0))
        ratio = f", {len(data) / len(ids):.2f} bytes per token" if ids else ""
        normalized = data != utf8(text)
        return {
            "title": valid_text(title),
            "ids": ids,
            "starts": starts,
            "split": _shared_characters(data, starts),
            "tokens": {str(i): [visible(part), part.hex(" ").upper()] for i, part in sorted(set(zip(ids, parts)))},
            "summary": f"{pluralize(len(ids), 'token')}{ratio}{', normalized' if normalized else ''}",
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the tokens, one tokenizer below the other."""
        rows = []
        for panel, tokenizer in zip(data["panels"], self._tokenizers.values()):
            title = f"{panel['title']}: {panel['summary']}".removeprefix(": ")
            rows.append(f"<p>{escape(title)}</p>\n<p>{chips(tokenizer.convert_ids_to_tokens(panel['ids']))}</p>")
        return "\n".join(rows)


def _shared_characters(data: bytes, starts: list[int]) -> list[list[Any]]:
    """Return [first token, last token, the characters] for each run of tokens whose borders lie inside characters.

    >>> _shared_characters("aé!".encode(), [0, 2, 3, 4])
    [[0, 1, 'é']]
    """
    runs: list[list[Any]] = []
    for token, offset in enumerate(starts[1:-1], 1):
        if 0x80 <= data[offset] < 0xC0:  # a continuation byte
            first, last = offset, offset + 1
            while 0x80 <= data[first] < 0xC0:
                first -= 1
            while last < len(data) and 0x80 <= data[last] < 0xC0:
                last += 1
            char = plain_label(data[first:last])
            if runs and runs[-1][1] == token - 1:
                runs[-1][1] = token
                runs[-1][2] += "" if first < starts[token - 1] else char
            else:
                runs.append([token - 1, token, char])
    return runs
