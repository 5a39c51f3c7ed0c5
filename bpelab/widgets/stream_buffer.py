"""Streaming decoding, id by id: bytes pushed, bytes held back, text shown. Chapter: Streaming."""

from html import escape
from typing import Any

from ..streaming import StreamDecoder
from ..tokenizer import BPETokenizer
from .base import Figure
from .byte_inspector import LEAD_BITS
from .trained_data import own_tokenizers
from .visible import chips, pluralize, quoted, visible

MAX_PENDING_SHOWN = 16
"""The most pending bytes to draw; a decoder that doesn't decode bytes may hold back more."""


class StreamBuffer(Figure):
    """The tokens of `text`, pushed one by one into a `StreamDecoder`: the bytes it holds back, and the text it shows.

    The text is encoded without special tokens. Everything else comes from `push`, `pending` and `finish`. Shows 100
    bytes.

    >>> from bpelab import BPETokenizer
    >>> buffer = StreamBuffer(BPETokenizer.train("abab", 257), "abé")
    >>> [(step["new"], [byte[0] for byte in step["held"]]) for step in buffer.data["steps"]]
    [([['', 'ab']], []), ([], ['C3']), ([['', 'é']], []), ([], [])]
    >>> buffer.data["steps"][1]["say"]
    'Push id 195, C3: nothing is shown, and 1 of the 2 bytes of a character is held back.'
    """

    name = "stream_buffer"
    limit = 100
    unit = "byte"

    def __init__(self, tokenizer: BPETokenizer, text: str) -> None:
        self._tokenizer = tokenizer
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return a step for each id and one for `finish`; `pending` are [byte, its mark in UTF-8, its other bits]."""
        all_ids = self._tokenizer.encode_ordinary(text)
        ids = all_ids[: self.limit]  # a normalizer can make a text many times as long
        decoder, steps = StreamDecoder(self._tokenizer), list[dict[str, Any]]()
        tokens = self._tokenizer.convert_ids_to_tokens(ids)
        for token_id, token in zip(ids, tokens):
            new = decoder.push(token_id)
            say = f"Push id {token_id}, {token.hex(' ').upper()}: {_after_push(new, decoder.pending)}"
            steps.append(_step(token_id, new, decoder.pending, say))
        if ids:
            pending, new = decoder.pending, decoder.finish()
            steps.append(_step(None, new, decoder.pending, _after_finish(new, pending)))
        begin = f"{pluralize(len(ids), 'id')}, none pushed yet. The screen is empty."
        if len(all_ids) > len(ids):
            begin = f"The first {pluralize(len(ids), 'id')} of {len(all_ids):,}, none pushed yet. The screen is empty."
        return {
            "ids": ids,
            "steps": steps,
            "tokens": {str(i): [visible(token), token.hex(" ").upper()] for i, token in sorted(set(zip(ids, tokens)))},
            "begin": begin if ids else "No text, so no ids.",
            "say": steps[-1]["say"] if ids else "No text, so no ids.",
        }

    def for_own_text(self) -> dict[str, Any] | None:
        """Return the tokenizer, if its text is its tokens' bytes."""
        return own_tokenizers([self._tokenizer]) if self._tokenizer.spec.joins_bytes else None

    def still(self, data: dict[str, Any]) -> str:
        """Return the tokens, and every push."""
        rows = "".join(f"<li>{escape(step['say'])}</li>" for step in data["steps"])
        tokens = chips(self._tokenizer.convert_ids_to_tokens(data["ids"]))
        return f"<p>{tokens}</p>\n<ol>{rows}</ol>" if rows else f"<p>{escape(data['say'])}</p>"


def _step(token_id: int | None, new: str, pending: bytes, say: str) -> dict[str, Any]:
    present, size = _incomplete_character(pending)
    return {"id": token_id, "new": visible(new.encode()), "held": _bits(pending), "missing": size - present, "say": say}


def _bits(pending: bytes) -> list[list[str]]:
    """Return each byte, the bits that mark it in UTF-8 (those of a first byte, or 10), and its other bits.

    >>> _bits(b"\\xe2\\x82")
    [['E2', '1110', '0010'], ['82', '10', '000010']]
    """
    rows = []
    for byte in pending[:MAX_PENDING_SHOWN]:
        bits = f"{byte:08b}"
        mark = next(mark for mark in ("10", *LEAD_BITS.values()) if bits.startswith(mark))
        rows.append([f"{byte:02X}", mark, bits[len(mark) :]])
    return rows


def _incomplete_character(pending: bytes) -> tuple[int, int]:
    """Return how many bytes of an incomplete character have arrived, and how many it has in total.

    >>> _incomplete_character(b"a\\xf0\\x9f"), _incomplete_character("日".encode())
    ((2, 4), (0, 0))
    """
    for present in range(1, min(3, len(pending)) + 1):
        if pending[-present] >= 0xC0:
            size = next(size for size, mark in LEAD_BITS.items() if f"{pending[-present]:08b}".startswith(mark))
            return (present, size) if present < size else (0, 0)
    return 0, 0


def _after_push(new: str, pending: bytes) -> str:
    shown = f"{quoted(new.encode())} is shown" if new else "nothing is shown"
    present, size = _incomplete_character(pending)
    if not pending:
        return f"{shown}, and nothing is held back."
    count = (
        f"{present} of the {size} bytes of a character" if present == len(pending) else pluralize(len(pending), "byte")
    )
    return f"{shown}, and {count} {'is' if len(pending) == 1 else 'are'} held back."


def _after_finish(new: str, pending: bytes) -> str:
    if not pending:
        return "Finish: nothing was held back."
    become = "becomes" if len(pending) == 1 else "become"
    return f"Finish: the {pluralize(len(pending), 'byte')} held back {become} {quoted(new.encode())}."
