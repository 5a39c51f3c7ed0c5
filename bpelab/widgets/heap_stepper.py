"""The heap encoder, step by step: the linked list, the heap, and stale entries. Chapter: A heap."""

from heapq import heappop, heappush
from html import escape
from typing import Any

from .._support.textio import utf8
from ..encoders.heap import HeapEncoder
from ..model.bpe import BPEModel
from ..model.trace import HeapStep, MergeStep, trace_encode
from .base import Figure
from .visible import chips, labels, pluralize, quoted


class HeapStepper(Figure):
    """Each pop of the heap encoder on `text`, encoded as one piece: the entry, and whether it was stale.

    Shows 60 bytes. Everything comes from the steps that the heap encoder records. A node's name is the position of its
    first byte.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"o", b"w"), (b"lo", b"w")])
    >>> stepper = HeapStepper(model, "low")
    >>> [(step["action"], step["rank"], step["node"]) for step in stepper.data["steps"]]
    [('pop', 0, 0), ('stale', 1, 1), ('pop', 2, 0)]
    >>> stepper.data["steps"][1]["say"]
    'Pop rank 1 at node 1: stale. Node 1 was merged into its left neighbour, so the entry is thrown away.'
    """

    name = "heap_stepper"
    limit = 60
    unit = "byte"

    def __init__(self, model: BPEModel, text: str) -> None:
        self._model = getattr(model, "model", model)  # a tokenizer will do too
        super().__init__(text)

    def compute(self, text: str) -> dict[str, Any]:
        """Return bytes, steps, and heap entries: [rank, node, left, right, pushed at, popped at, stale from] each.

        `heaps` is the heap's array before the first step and after each, as indices of entries.
        """
        model, piece = self._model, utf8(text)
        leaves = model.initial_ids(piece)
        state = _LinkedList(leaves, model)
        steps: list[dict[str, Any]] = []
        if (whole := model.whole_piece_id(piece)) is not None and len(piece) > 1:
            say = f"{quoted(piece)} is a token, id {whole}, and is taken whole. No heap is needed."
            state.heaps.append([])
            steps.append({"action": "whole", "rank": None, "node": 0, "token": whole, "take": len(piece), "say": say})
        else:
            for step in trace_encode(HeapEncoder(model), piece):
                state.follow(step, steps)
        pushed = sum(entry[4] == 0 for entry in state.entries)
        begin = (
            f"{pluralize(len(leaves), 'node')}. {pluralize(pushed, 'pair')} can merge and {_are(pushed)} on the heap."
        )
        begin = begin if leaves else "No text, so no nodes and an empty heap."
        return {
            "leaves": leaves,
            "pieces": [0] if leaves else [],
            "steps": steps,
            "entries": state.entries,
            "heaps": [*state.heaps, [entry for *_, entry in state.heap]] if leaves else [[]],
            "ids": HeapEncoder(model).encode_piece(piece),
            "labels": labels(model.tokens, [*leaves, *(s["token"] for s in steps if s.get("token") is not None)]),
            "begin": begin,
            "say": steps[-1]["say"] if steps else begin,
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return the tokens, and every pop."""
        rows = "".join(f"<li>{escape(step['say'])}</li>" for step in data["steps"])
        tokens = chips(self._model.tokens[token] for token in data["ids"])
        return f"<p>{escape(data['begin'])}</p>\n<ol>{rows}</ol>\n<p>{tokens}</p>"


class _LinkedList:
    """The linked list of tokens, rebuilt from the encoder's recorded steps."""

    def __init__(self, leaves: list[int], model: BPEModel) -> None:
        self.at = dict(enumerate(leaves))  # node -> token, for the remaining nodes
        self.model = model
        self.entries: list[list[Any]] = []
        self.heap: list[tuple[int, int, int]] = []  # (rank, node, number of the entry): in the encoder's order
        self.heaps: list[list[int]] = []

    def pair(self, node: int) -> tuple[int, int] | None:
        following = min((other for other in self.at if other > node), default=None)
        return None if node not in self.at or following is None else (self.at[node], self.at[following])

    def follow(self, step: Any, steps: list[dict[str, Any]]) -> None:
        tokens = self.model.tokens
        if isinstance(step, HeapStep) and step.action == "push":
            pair = self.pair(step.node)
            assert pair is not None
            heappush(self.heap, (step.rank, step.node, len(self.entries)))
            self.entries.append([step.rank, step.node, *pair, len(steps), None, None])
            if steps:
                steps[-1]["say"] += f" {quoted(tokens[pair[0]])} + {quoted(tokens[pair[1]])} goes on the heap."
        elif isinstance(step, HeapStep):
            self.heaps.append([entry for *_, entry in self.heap])
            entry = self.entries[heappop(self.heap)[2]]
            entry[5] = len(steps) + 1
            steps.append({"action": step.action, "rank": step.rank, "node": step.node})
            if step.action == "stale":
                steps[-1]["say"] = f"Pop rank {step.rank:,} at node {step.node}: stale. {self.reason(entry)}"
        elif isinstance(step, MergeStep):
            node = steps[-1]["node"]
            following = min(other for other in self.at if other > node)
            del self.at[following]
            self.at[node] = step.token
            left, right, new = (quoted(tokens[token]) for token in (step.left, step.right, step.token))
            say = f"Pop rank {step.rank:,} at node {node}: {left} and {right} are still neighbours and become {new}."
            steps[-1] |= {"token": step.token, "take": 2, "position": step.position, "say": say}
            for entry in self.entries:
                if entry[5] is None and entry[6] is None and not self.is_current(entry):
                    entry[6] = len(steps)

    def is_current(self, entry: list[Any]) -> bool:
        pair = self.pair(entry[1])
        merge = None if pair is None else self.model.merges.get(pair)
        return merge is not None and merge[0] == entry[0]

    def reason(self, entry: list[Any]) -> str:
        node, tokens = entry[1], self.model.tokens
        if node not in self.at:
            return f"Node {node} was merged into its left neighbour, so the entry is thrown away."
        pair = self.pair(node)
        now = (
            f"{quoted(tokens[self.at[node]])} at the end"
            if pair is None
            else (f"{quoted(tokens[pair[0]])} and {quoted(tokens[pair[1]])}")
        )
        meant = f"{quoted(tokens[entry[2]])} and {quoted(tokens[entry[3]])}"
        return f"It meant {meant}, but now there is {now}, so the entry is thrown away."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
