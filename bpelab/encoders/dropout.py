"""BPE-dropout: encoding that skips merges at random, so that a model in training sees many segmentations of a word.

Before each merge, every possible pair is dropped with the same probability, and the best of the others is merged. When
all are dropped, encoding ends. Dropout is off by default, and a seed makes it reproducible.

Chapter: File formats. Cost: O(n log n / (1 - p)) for a piece of n bytes. Source: Provilkov, Emelianenko and Voita 2020;
the order of the draws is that of Hugging Face tokenizers (`models/bpe/word.rs`).
"""

from heapq import heappop, heappush
from random import Random

from ..model.bpe import BPEModel

GONE = -1


class DropoutEncoder:
    """Encodes with BPE-dropout: skips each merge with `probability` whenever it comes up.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    >>> encoder = DropoutEncoder(model, 0.5, Random(1))
    >>> sorted({tuple(encoder.encode_piece(b"low")) for _ in range(50)})
    [(108, 111, 119), (256, 119), (257,)]

    Raises ValueError for a probability below 0 or above 1.
    """

    def __init__(self, model: BPEModel, probability: float, random: Random) -> None:
        if not 0 <= probability <= 1:
            raise ValueError(f"the probability of leaving a merge out is from 0 to 1, not {probability}")
        self.model, self.probability, self.random = model, probability, random

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return ids of one piece, which may differ from call to call. A piece that is a token may be split too."""
        find = self.model.merges.get
        ids = self.model.initial_ids(piece)
        end = len(ids)
        previous, following = list(range(-1, end - 1)), list(range(1, end + 1))
        heap: list[tuple[int, int, int]] = []  # (rank, node, new id)

        def push(node: int) -> None:
            if node >= 0 and following[node] < end:
                merge = find((ids[node], ids[following[node]]))
                if merge is not None:
                    heappush(heap, (merge[0], node, merge[1]))

        for node in range(end - 1):
            push(node)
        left_out: list[tuple[int, int, int]] = []
        while heap:
            entry = heappop(heap)
            if self.random.random() < self.probability:
                left_out.append(entry)
                continue
            for skipped in left_out:  # they get another chance, even if this entry turns out to be stale
                heappush(heap, skipped)
            left_out.clear()
            rank, node, new = entry
            other = following[node]
            if ids[node] == GONE or other == end or find((ids[node], ids[other])) != (rank, new):
                continue
            ids[node], ids[other] = new, GONE
            after = following[node] = following[other]
            if after < end:
                previous[after] = node
            push(node)
            push(previous[node])
        return [token for token in ids if token != GONE]
