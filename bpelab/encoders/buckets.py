"""A bucket queue: the same merges in the same order as `heap.py`, but the heap holds ranks instead of positions.

Positions whose pairs have the same rank are in one bucket. Pop the lowest rank from the heap, and empty its bucket from
left to right in one sweep: a run of a million equal letters takes a handful of sweeps. A merge puts new pairs into
other buckets. In a trained model these have higher ranks than the current bucket. If one doesn't, the sweep stops, the
rest of the bucket goes back, and the next rank is popped. If that happens too often, the heap encoder takes over.

Chapter: A heap. Cost: O(n log n) for a piece of n bytes at worst; the sorted positions are mostly in order already.
"""

from heapq import heappop, heappush

from ..model.bpe import BPEModel
from ..model.rank_merges import Merge, Pair
from ..model.trace import MergeStep, Record
from .heap import GONE, HeapEncoder

MOST_STOPS = 64


class BucketEncoder:
    """Encodes by sweeping over the positions of one rank at a time.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")])
    >>> BucketEncoder(model).encode_piece(b"lower")
    [257, 258]
    """

    def __init__(self, model: BPEModel) -> None:
        self.model = model

    @staticmethod
    def supports(model: BPEModel) -> bool:
        """Return True: merging in the order of ranks serves every model."""
        return True

    def encode_piece(self, piece: bytes, record: Record | None = None) -> list[int]:
        """Return the ids of one piece. `record` is called with a MergeStep for each merge."""
        if (whole := self.model.whole_piece_id(piece)) is not None:
            return [whole]
        find = self.model.merges.get
        ids = self.model.initial_ids(piece)
        end = len(ids)
        previous, following = list(range(-1, end - 1)), list(range(1, end + 1))
        known: dict[Pair, Merge | None] = {}
        buckets: dict[int, list[int]] = {}
        ranks: list[int] = []

        def put(node: int, pair: Pair) -> int | None:
            merge = known[pair] if pair in known else known.setdefault(pair, find(pair))
            if merge is None:
                return None
            if (bucket := buckets.get(merge[0])) is None:
                buckets[merge[0]] = [node]
                heappush(ranks, merge[0])
            else:
                bucket.append(node)
            return merge[0]

        for node, pair in enumerate(zip(ids, ids[1:])):
            put(node, pair)
        stops = 0
        while ranks:
            rank = heappop(ranks)
            nodes = iter(sorted(buckets.pop(rank)))
            for node in nodes:
                left, other = ids[node], following[node]
                # Stale: the node is gone, has no right neighbour any more, or is now part of another pair.
                if left == GONE or other == end or (merge := known[left, ids[other]]) is None or merge[0] != rank:
                    continue
                right, ids[node], ids[other] = ids[other], merge[1], GONE
                after = following[node] = following[other]
                if record is not None:
                    position = sum(token != GONE for token in ids[:node])
                    record(MergeStep(rank, position, left, right, merge[1], tuple(t for t in ids if t != GONE)))
                later = earlier = None
                if after < end:
                    previous[after] = node
                    later = put(node, (merge[1], ids[after]))
                if previous[node] >= 0:
                    earlier = put(previous[node], (ids[previous[node]], merge[1]))
                if (later is not None and later <= rank) or (earlier is not None and earlier <= rank):
                    stops += 1
                    if stops > MOST_STOPS and record is None:
                        return HeapEncoder(self.model).encode_piece(piece)
                    if rest := list(nodes):
                        if rank not in buckets:
                            heappush(ranks, rank)
                        buckets[rank] = buckets.get(rank, []) + rest
        return [token for token in ids if token != GONE]
