"""The definition of BPE encoding: find the adjacent pair whose merge has the lowest rank, merge it, repeat.

Of equal ranks the leftmost pair goes first, and one pair is merged at a time. Every other encoder is tested against
this one.

Chapter: Encoding. Cost: O(n^2) for a piece of n bytes; the fastest for short ones.
Source: Sennrich, Haddow and Birch 2016; `_byte_pair_merge` of tiktoken.
"""

from ..model.bpe import BPEModel
from ..model.trace import MergeStep, Record


class NaiveEncoder:
    """Encodes by definition: scan, merge, repeat.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w"), (b"e", b"r")])
    >>> NaiveEncoder(model).encode_piece(b"lower")
    [257, 258]
    """

    def __init__(self, model: BPEModel) -> None:
        self.model = model

    @staticmethod
    def supports(model: BPEModel) -> bool:
        """Return True: the definition serves every model."""
        return True

    def encode_piece(self, piece: bytes, record: Record | None = None) -> list[int]:
        """Return the ids of one piece. `record` is called with a MergeStep for each merge."""
        if (whole := self.model.whole_piece_id(piece)) is not None:
            return [whole]
        find = self.model.merges.get
        ids = self.model.initial_ids(piece)
        while True:
            best = None
            for position in range(len(ids) - 1):
                merge = find((ids[position], ids[position + 1]))
                if merge is not None and (best is None or merge[0] < best[0]):
                    best, at = merge, position
            if best is None:
                return ids
            left, right = ids[at], ids[at + 1]
            ids[at : at + 2] = [best[1]]
            if record is not None:
                record(MergeStep(best[0], at, left, right, best[1], tuple(ids)))
