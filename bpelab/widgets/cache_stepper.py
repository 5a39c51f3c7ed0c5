"""The piece cache at work: a piece seen before is a cache hit, the others are merged. Chapter: Native code."""

from html import escape
from typing import Any

from ..core.piece_cache import PieceCache
from ..tokenizer import BPETokenizer
from .base import Figure
from .visible import chips, plain_label, pluralize, visible

NO_PIECES = "No text, so no pieces."
"""The sentence for an empty text."""


class CacheStepper(Figure):
    """The pieces of `text` in order, each found in a piece cache, or merged and added to it.

    The cache is the library's, for `capacity` pieces. Shows 800 characters, and needs a tokenizer that cuts text into
    pieces.

    >>> tokenizer = BPETokenizer.train("a rat, a cat", 257)
    >>> CacheStepper(tokenizer, "a rat, a rat, a rat").data["say"]
    'Piece 8, “·rat”: found. 4 of 8 pieces found, 4 merged.'
    """

    name = "cache_stepper"
    limit = 800

    def __init__(self, tokenizer: BPETokenizer, text: str, capacity: int = 10_000) -> None:
        self._tokenizer, self._capacity = tokenizer, capacity
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the labels of the pieces, whether each was found, and a sentence for each."""
        cache, found, says = PieceCache(self._capacity), list[bool](), list[str]()
        pieces = self._tokenizer.pieces(text)
        for number, piece in enumerate(pieces, 1):
            found.append(cache.get(piece) is not None)
            if not found[-1]:
                cache.put(piece, self._tokenizer.encode_ordinary(piece))
            hits = sum(found)
            says.append(
                f"Piece {number:,}, “{plain_label(piece.encode())}”: {'found' if found[-1] else 'merged, and kept'}. "
                f"{hits:,} of {pluralize(number, 'piece')} found, {number - hits:,} merged."
            )
        return {
            "pieces": [visible(piece.encode()) for piece in pieces],
            "found": found,
            "says": says,
            "begin": f"{pluralize(len(pieces), 'piece')}, and an empty cache." if pieces else NO_PIECES,
            "say": says[-1] if says else NO_PIECES,
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the pieces that were merged: every piece once, unless the cache evicted it."""
        pieces = [piece.encode() for piece in self._tokenizer.pieces(self.text)]
        merged = (piece for piece, found in zip(pieces, data["found"]) if not found)
        return f"<p>{escape(data['say'])}</p>\n<p>Merged: {chips(merged)}</p>"
