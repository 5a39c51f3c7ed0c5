"""Merges of another tokenizer, added one by one: which of its tokens are reachable.

Chapter: New words for an old model.
"""

from collections import Counter
from html import escape
from typing import Any

from ..editing.append_merges import as_list_of_merges
from ..encoders.heap import HeapEncoder
from ..errors import BPELabError
from ..model.bpe import BPEModel
from ..tokenizer import BPETokenizer
from ..trainers.naive import train_naive
from .base import Figure
from .visible import pluralize, quoted, visible

Merges = list[tuple[bytes, bytes]]


class ReachableTokens(Figure):
    """The merges learned from scratch on `text`, appended one by one to the merges of a tokenizer.

    After each, a graph of the tokens: every token with the two that its merge joins, and whether each token of the text
    is reached when its own bytes are encoded. Shows 300 characters and at most `num_merges` merges, and only those of
    the tokenizer's tokens that the new ones are made of or encode to.

    >>> tokenizer = BPETokenizer.train("that thin thing", 257)
    >>> figure = ReachableTokens(tokenizer, "them them then", num_merges=3)
    >>> figure.data["says"][2].split(": ")[1]
    "“the” isn't reached"

    Raises BPELabError if the tokenizer's tokens aren't bytes.
    """

    name = "reachable_tokens"
    limit = 300

    def __init__(self, tokenizer: BPETokenizer, text: str, *, num_merges: int = 12) -> None:
        if not tokenizer.spec.is_byte_level:
            raise BPELabError("the figure learns merges of bytes, and this tokenizer begins with others")
        model = as_list_of_merges(tokenizer.model)
        pairs = sorted(model.merges, key=lambda pair: model.merges[pair][0])
        self._tokenizer, self._num_merges = tokenizer, num_merges
        self._own = [(model.tokens[left], model.tokens[right]) for left, right in pairs]
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return the tokens as nodes, the merges of the text, and the tokens not reached after each merge."""
        words = Counter(piece.encode() for piece in self._tokenizer.pieces(text))
        tokens = [bytes([byte]) for byte in range(256)]
        learned: Merges = []
        for step in train_naive(words, self._num_merges):
            learned.append((tokens[step.left], tokens[step.right]))
            tokens.append(step.token)
        known, own = set(self._own), {left + right for left, right in self._own}
        ends: list[dict[bytes, list[bytes]]] = []  # after each merge: new token -> what its bytes become
        for count in range(len(learned) + 1):
            model = BPEModel.from_merges(self._own + [pair for pair in learned[:count] if pair not in known])
            encode = HeapEncoder(model).encode_piece
            new = [left + right for left, right in learned[:count]]
            ends.append({token: [model.tokens[token_id] for token_id in encode(token)] for token in new})
        parts = self._graph(learned, ends)
        number = {token: at for at, token in enumerate(parts)}
        missed = [{token for token, found in becomes.items() if found != [token]} for becomes in ends]
        begin = f"The tokenizer has {pluralize(len(self._own), 'merge')}, and all its tokens are reached."
        says = [f"{begin} The text teaches {len(learned)} more." if text else "No text, so no merges of it."]
        says += [self._sentence(learned[:count], ends[count], missed[count]) for count in range(1, len(ends))]
        return {
            "labels": [visible(token) for token in parts],
            "parts": [[number[part] for part in pair] for pair in parts.values()],
            "levels": _levels(parts),
            "own": [number[token] for token in parts if len(token) == 1 or token in own],
            "added": [number[left + right] for left, right in learned],
            "missed": [sorted(number[token] for token in tokens) for tokens in missed],
            "says": says,
            "say": says[-1],
        }

    def _graph(self, learned: Merges, ends: list[dict[bytes, list[bytes]]]) -> dict[bytes, tuple[bytes, ...]]:
        """Return token -> parts for all tokens shown, parts first: new tokens, and those that their bytes encode to."""
        made = {left + right: (left, right) for left, right in (*reversed(learned), *reversed(self._own))}
        found: dict[bytes, tuple[bytes, ...]] = {}

        def add(token: bytes) -> None:
            if token not in found:
                pair = made.get(token, ())
                for part in pair:
                    add(part)
                found[token] = pair

        for becomes in ends:
            for token, tokens in becomes.items():
                for each in (*tokens, token):
                    add(each)
        return found

    def _sentence(self, learned: Merges, becomes: dict[bytes, list[bytes]], missed: set[bytes]) -> str:
        left, right = learned[-1]
        token = left + right
        say = f"Merge {len(learned)} of the text, {quoted(left)} + {quoted(right)}: {quoted(token)} "
        if (left, right) in self._own:
            say += "is a token of the tokenizer, too."
        elif token in missed:
            cut = " ".join(map(quoted, becomes[token]))
            say += f"isn't reached: earlier merges make {cut} of its bytes, and no merge joins these."
        else:
            say += "is reached."
        return f"{say} Reached so far: {len(becomes) - len(missed)} of {len(becomes)}."

    def still(self, data: dict[str, Any]) -> str:
        """Return the merges of the text, and whether the token of each is reached."""
        rows = "".join(f"<li>{escape(say)}</li>" for say in data["says"][1:])
        return f"<p>{escape(data['says'][0])}</p>\n<ol>{rows}</ol>" if rows else f"<p>{escape(data['say'])}</p>"


def _levels(parts: dict[bytes, tuple[bytes, ...]]) -> list[int]:
    """Return the depth of each token: the number of merges on the longest path from it to a byte."""
    levels: dict[bytes, int] = {}
    for token, pair in parts.items():
        levels[token] = 1 + max((levels[part] for part in pair), default=-1)
    return list(levels.values())
