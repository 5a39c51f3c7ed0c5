"""Ids on their way to a screen, one by one: bytes pushed, bytes held back, text shown. Chapter: Streaming."""

from html import escape
from typing import Any

from ..streaming import StreamDecoder
from ..tokenizer import BPETokenizer
from .base import Figure
from .byte_inspector import LEADS
from .visible import chips, number, quoted, visible

MOST_HELD = 16
"""Bytes held back that are drawn; a decoder that is not about bytes may hold more."""


class StreamBuffer(Figure):
    """The tokens of `text`, pushed one by one into a `StreamDecoder`: what it holds back, and what it shows.

    The text is encoded without special tokens. Everything else is what `push`, `pending` and `finish` say. Shows 100
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
        """A step for each id and one for `finish`; `held` are [byte, its mark in UTF-8, its other bits]."""
        every = self._tokenizer.encode_ordinary(text)
        ids = every[: self.limit]  # a normalizer can make a text many times as long
        decoder, steps = StreamDecoder(self._tokenizer), list[dict[str, Any]]()
        tokens = self._tokenizer.convert_ids_to_tokens(ids)
        for token_id, token in zip(ids, tokens):
            new = decoder.push(token_id)
            say = f"Push id {token_id}, {token.hex(' ').upper()}: {_after_push(new, decoder.pending)}"
            steps.append(_step(token_id, new, decoder.pending, say))
        if ids:
            held, new = decoder.pending, decoder.finish()
            steps.append(_step(None, new, decoder.pending, _after_finish(new, held)))
        begin = f"{number(len(ids), 'id')}, none pushed yet. The screen is empty."
        if len(every) > len(ids):
            begin = f"The first {number(len(ids), 'id')} of {len(every):,}, none pushed yet. The screen is empty."
        return {
            "ids": ids,
            "steps": steps,
            "tokens": {str(i): [visible(token), token.hex(" ").upper()] for i, token in sorted(set(zip(ids, tokens)))},
            "begin": begin if ids else "No text, so no ids.",
            "say": steps[-1]["say"] if ids else "No text, so no ids.",
        }

    def still(self, data: dict[str, Any]) -> str:
        """The tokens, and every push."""
        rows = "".join(f"<li>{escape(step['say'])}</li>" for step in data["steps"])
        tokens = chips(self._tokenizer.convert_ids_to_tokens(data["ids"]))
        return f"<p>{tokens}</p>\n<ol>{rows}</ol>" if rows else f"<p>{escape(data['say'])}</p>"


def _step(token_id: int | None, new: str, held: bytes, say: str) -> dict[str, Any]:
    have, size = _begun(held)
    return {"id": token_id, "new": visible(new.encode()), "held": _bits(held), "missing": size - have, "say": say}


def _bits(held: bytes) -> list[list[str]]:
    """Each byte, the bits that mark it in UTF-8 (those of a first byte, or 10), and its other bits.

    >>> _bits(b"\\xe2\\x82")
    [['E2', '1110', '0010'], ['82', '10', '000010']]
    """
    rows = []
    for byte in held[:MOST_HELD]:
        bits = f"{byte:08b}"
        mark = next(mark for mark in ("10", *LEADS.values()) if bits.startswith(mark))
        rows.append([f"{byte:02X}", mark, bits[len(mark) :]])
    return rows


def _begun(held: bytes) -> tuple[int, int]:
    """How many bytes are there of a character that has only begun, and how many it has in all.

    >>> _begun(b"a\\xf0\\x9f"), _begun("日".encode())
    ((2, 4), (0, 0))
    """
    for have in range(1, min(3, len(held)) + 1):
        if held[-have] >= 0xC0:
            size = next(size for size, mark in LEADS.items() if f"{held[-have]:08b}".startswith(mark))
            return (have, size) if have < size else (0, 0)
    return 0, 0


def _after_push(new: str, held: bytes) -> str:
    shown = f"{quoted(new.encode())} is shown" if new else "nothing is shown"
    have, size = _begun(held)
    if not held:
        return f"{shown}, and nothing is held back."
    count = f"{have} of the {size} bytes of a character" if have == len(held) else number(len(held), "byte")
    return f"{shown}, and {count} {'is' if len(held) == 1 else 'are'} held back."


def _after_finish(new: str, held: bytes) -> str:
    if not held:
        return "Finish: nothing was held back."
    become = "becomes" if len(held) == 1 else "become"
    return f"Finish: the {number(len(held), 'byte')} held back {become} {quoted(new.encode())}."
