"""A heap: the same merges in the same order as `naive.py`, but the next one comes from a heap instead of a scan.

The sequence is a linked list, so that a merge only changes two pointers. The heap holds (rank, node) for every pair
that can merge; the smallest entry is the lowest rank and, of equal ranks, the leftmost. A merge creates up to two new
pairs, which are pushed; entries for pairs that no longer exist stay on the heap and are skipped when popped.

Chapter: A heap. Cost: O(n log n) for a piece of n bytes, since at most 3n entries are ever pushed.
Source: the priority queue of Hugging Face tokenizers (`models/bpe/word.rs`).
"""

from heapq import heappop, heappush

from ..model.bpe import BPEModel
from ..model.trace import HeapStep, MergeStep, Record

GONE = -1
"""Replaces the id of a node that was merged into the one on its left."""


class HeapEncoder:
    """Encodes with a linked list and a priority queue.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")])
    >>> HeapEncoder(model).encode_piece(b"lower")
    [257, 258]
    """

    def __init__(self, model: BPEModel) -> None:
        self.model = model

    @staticmethod
    def supports(model: BPEModel) -> bool:
        """Return True: merging in the order of ranks serves every model."""
        return True

    def encode_piece(self, piece: bytes, record: Record | None = None) -> list[int]:
        """Return the ids of one piece. `record` is called with every HeapStep and MergeStep."""
        if (whole := self.model.whole_piece_id(piece)) is not None:
            return [whole]
        return self.merge(self.model.initial_ids(piece), record)

    def merge(self, ids: list[int], record: Record | None = None) -> list[int]:
        """Merge a sequence of ids, which is modified, and return the result."""
        find = self.model.merges.get
        end = len(ids)
        previous = list(range(-1, end - 1))
        following = list(range(1, end + 1))

        heap: list[tuple[int, int, int]] = []  # (rank, node, new id)

        def push(node: int) -> None:
            merge = find((ids[node], ids[following[node]]))
            if merge is not None:
                heappush(heap, (merge[0], node, merge[1]))
                if record is not None:
                    record(HeapStep("push", merge[0], node))

        for node in range(end - 1):
            push(node)
        while heap:
            rank, node, new = heappop(heap)
            left, other = ids[node], following[node]
            # Stale: the node is gone, has no right neighbour any more, or is now part of another pair.
            if left == GONE or other == end or find((left, ids[other])) != (rank, new):
                if record is not None:
                    record(HeapStep("stale", rank, node))
                continue
            right, ids[node], ids[other] = ids[other], new, GONE
            after = following[node] = following[other]
            if record is not None:
                record(HeapStep("pop", rank, node))
                position = sum(token != GONE for token in ids[:node])
                record(MergeStep(rank, position, left, right, new, tuple(t for t in ids if t != GONE)))
            if after < end:
                previous[after] = node
                push(node)
            if previous[node] >= 0:
                push(previous[node])
        return [token for token in ids if token != GONE]
