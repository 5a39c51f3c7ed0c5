"""The merges that encode a text, step by step, with the tree of merges above it. Chapter: Encoding."""

from html import escape
from typing import Any

from .._support.textio import utf8
from ..encoders.naive import NaiveEncoder
from ..model.bpe import BPEModel
from ..model.trace import MergeStep, trace_encode
from ..tokenizer import BPETokenizer
from .base import Figure
from .trained_data import own_tokenizers
from .visible import chips, html_table, labels, pluralize, quoted


class MergePlayer(Figure):
    """The merges of `text`, to play, step and scrub: the pair, its rank, its position, and how many tokens are left.

    With a tokenizer, the text is first cut into pieces, which are merged one after the other; with a model, it is one
    piece. Shows 200 bytes. The merges are those that the naive encoder records (`trace_encode`).

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")])
    >>> player = MergePlayer(model, "lower")
    >>> [(step["rank"], step["position"]) for step in player.data["steps"]]
    [(0, 0), (1, 0), (2, 1)]
    >>> player.data["say"]
    'Merge 3 of 3: rank 2 joins “e” and “r” at position 1 into “er”, id 258. 2 tokens are left.'
    """

    name = "merge_player"
    limit = 200
    unit = "byte"

    def __init__(self, tokenizer: BPETokenizer | BPEModel, text: str) -> None:
        self._tokenizer = tokenizer if isinstance(tokenizer, BPETokenizer) else None
        self._model = tokenizer.model if isinstance(tokenizer, BPETokenizer) else tokenizer
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return bytes, pieces (where each starts), and steps: `take` tokens at `position` become `token`."""
        model, encoder = self._model, NaiveEncoder(self._model)
        pieces = [utf8(piece) for piece in self._pieces(text)]
        leaves = [token for piece in pieces for token in model.initial_ids(piece)]
        steps: list[dict[str, Any]] = []
        finished: list[int] = []
        for piece in pieces:
            now = model.initial_ids(piece)
            whole = model.whole_piece_id(piece)
            if whole is not None and len(piece) > 1:
                steps.append({"rank": None, "position": len(finished), "take": len(piece), "token": whole})
                now = [whole]
            else:
                for step in trace_encode(encoder, piece):
                    assert isinstance(step, MergeStep)
                    now = list(step.ids)
                    steps.append(
                        {
                            "rank": step.rank,
                            "position": len(finished) + step.position,
                            "take": 2,
                            "token": step.token,
                            "pair": [step.left, step.right],
                        }
                    )
            finished += now
        left = len(leaves)
        for step_number, entry in enumerate(steps, 1):
            left += 1 - entry["take"]
            entry["say"] = (
                f"{self._sentence(step_number, len(steps), entry)} {pluralize(left, 'token')} {_are(left)} left."
            )
        begin = f"{pluralize(len(leaves), 'byte')}, each a token of its own. Nothing is merged yet."
        return {
            "leaves": leaves,
            "pieces": [sum(map(len, pieces[:index])) for index in range(len(pieces))],
            "steps": steps,
            "ids": finished,
            "labels": labels(model.tokens, [*leaves, *(entry["token"] for entry in steps)]),
            "begin": begin if leaves else "No text, so no tokens.",
            "say": steps[-1]["say"] if steps else begin if leaves else "No text, so no tokens.",
        }

    def for_own_text(self) -> dict[str, Any] | None:
        """Return the tokenizer; a model alone cuts no text into pieces, so a page can't open it."""
        return own_tokenizers([self._tokenizer]) if self._tokenizer else None

    def _pieces(self, text: str) -> list[str]:
        if self._tokenizer is None:
            return [text] if text else []
        pieces = self._tokenizer.pieces(text)
        whole = "".join(pieces)
        shown = self.truncate(whole)  # a normalizer can make a text many times as long
        return pieces if shown == whole else self._tokenizer.pieces(shown)

    def _sentence(self, step_number: int, count: int, step: dict[str, Any]) -> str:
        tokens, new = self._model.tokens, step["token"]
        if step["rank"] is None:
            return f"Step {step_number} of {count}: {quoted(tokens[new])} is a token, id {new}, and is taken whole."
        left, right = (quoted(tokens[token]) for token in step["pair"])
        return (
            f"Merge {step_number} of {count}: rank {step['rank']:,} joins {left} and {right} "
            f"at position {step['position']} into {quoted(tokens[new])}, id {new}."
        )

    def still(self, data: dict[str, Any]) -> str:
        """Return the tokens, and every merge with its rank."""
        tokens = self._model.tokens
        rows = [
            (
                "whole" if step["rank"] is None else f"{step['rank']:,}",
                chips(tokens[part] for part in step.get("pair", [])),
                chips([tokens[step["token"]]]),
            )
            for step in data["steps"]
        ]
        table = "\n" + html_table(("rank", "joins", "into"), rows, None) if rows else ""
        return f"<p>{escape(data['say'])}</p>\n<p>{chips(tokens[token] for token in data['ids'])}</p>{table}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
