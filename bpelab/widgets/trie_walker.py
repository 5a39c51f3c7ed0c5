"""Backtracking longest match, step by step: candidates, checks, dead ends. Chapter: A trie."""

from html import escape
from typing import Any

from .._support.textio import utf8
from ..encoders.naive import NaiveEncoder
from ..encoders.trie import TrieEncoder
from ..model.bpe import BPEModel
from ..model.trace import TrieStep, trace_encode
from .base import Figure
from .visible import chips, labels, pluralize, quoted


class TrieWalker(Figure):
    """Each step of the trie encoder on `text`, encoded as one piece: candidate, compatibility check, step back.

    Shows 200 bytes. Everything comes from the steps that the trie encoder records. Raises ModelError if the trie
    encoder doesn't support the model.

    >>> model = BPEModel.from_merges([(b"e", b"r"), (b"w", b"e"), (b"l", b"o"), (b"lo", b"w")])
    >>> walker = TrieWalker(model, "lower")
    >>> [(step["action"], step["position"]) for step in walker.data["steps"]]
    [('match', 0), ('accept', 0), ('match', 3), ('accept', 3)]
    """

    name = "trie_walker"
    limit = 200
    unit = "byte"

    def __init__(self, model: BPEModel, text: str) -> None:
        self._model = getattr(model, "model", model)  # a tokenizer will do too
        self._encoder = TrieEncoder(self._model)
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return bytes and steps; each step is the encoder's, with a sentence that explains it."""
        model, piece = self._model, utf8(text)
        leaves = model.initial_ids(piece)
        steps: list[dict[str, Any]] = []
        if (whole := model.whole_piece_id(piece)) is not None and len(piece) > 1:
            say = f"{quoted(piece)} is a token, id {whole}, and is taken whole."
            steps.append({"action": "accept", "position": 0, "token": whole, "say": say})
        else:
            accepted: list[int] = []
            dead: set[int] = set()
            for step in trace_encode(self._encoder, piece):
                assert isinstance(step, TrieStep)
                end = step.position + len(model.tokens[step.token])
                if step.action == "back":
                    accepted.pop()
                    dead.add(end)
                say = self._sentence(step, accepted, end if step.action == "back" or end in dead else None)
                steps.append({"action": step.action, "position": step.position, "token": step.token, "say": say})
                if step.action == "accept":
                    accepted.append(step.token)
        ids = self._encoder.encode_piece(piece)
        if steps:
            steps[-1]["say"] += f" The end is reached: {pluralize(len(ids), 'token')}."
        begin = f"{pluralize(len(leaves), 'byte')}, nothing accepted yet." if leaves else "No text, so no tokens."
        return {
            "leaves": leaves,
            "pieces": [0] if leaves else [],
            "steps": steps,
            "ids": ids,
            "lengths": {str(step["token"]): len(model.tokens[step["token"]]) for step in steps},
            "labels": labels(model.tokens, [*leaves, *(step["token"] for step in steps)]),
            "begin": begin,
            "say": steps[-1]["say"] if steps else begin,
        }

    def _sentence(self, step: TrieStep, accepted: list[int], dead: int | None) -> str:
        tokens, token = self._model.tokens, quoted(self._model.tokens[step.token])
        if step.action == "match":
            return f"At byte {step.position} the longest token that fits is {token}."
        if step.action == "shorter":
            return f"The next shorter token that fits is {token}."
        if step.action == "accept":
            before = f" can follow {quoted(tokens[accepted[-1]])}" if accepted else ", with nothing before it,"
            return f"{token}{before} {'and ' if accepted else ''}is accepted."
        if step.action == "back":
            return f"Nothing shorter is left: byte {dead} is a dead end. Take {token} back and try a shorter one."
        if dead is not None:
            return f"{token} would end at byte {dead}, which is a dead end. It is rejected."
        both = tokens[accepted[-1]] + tokens[step.token]
        merged = " ".join(quoted(tokens[i]) for i in NaiveEncoder(self._model).encode_piece(both))
        return f"{token} can't follow {quoted(tokens[accepted[-1]])}: merging the two would give {merged}. Rejected."

    def still(self, data: dict[str, Any]) -> str:
        """Return the tokens, and every verdict on the way."""
        tokens = chips(self._model.tokens[token] for token in data["ids"])
        verdicts = [step["say"] for step in data["steps"] if step["action"] in ("accept", "reject", "back")]
        rows = "".join(f"<li>{escape(say)}</li>" for say in verdicts)
        return f"<p>{tokens}</p>\n<ol>{rows}</ol>" if rows else f"<p>{escape(data['say'])}</p>"
