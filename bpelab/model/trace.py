"""Traces: the steps of encoders and trainers. Figures and the command line draw from nothing else.

An encoder reports each step to a `record` function; a trainer yields its steps. So a trace comes from the algorithm
itself, never from a second implementation.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from ..errors import BPELabError

MAX_TRACED_BYTES = 4096
BYTES = tuple(bytes([byte]) for byte in range(256))
"""The single bytes, with which training starts."""


@dataclass(frozen=True)
class MergeStep:
    """Two neighbours became one token.

    `position` is the index of the pair in the sequence before the merge; `ids` is the sequence after it.
    """

    rank: int
    position: int
    left: int
    right: int
    token: int
    ids: tuple[int, ...]


@dataclass(frozen=True)
class HeapStep:
    """The heap encoder pushed an entry on the heap ("push"), popped one ("pop"), or popped one that is out of date
    ("stale"). `node` is the byte at which the pair starts; `rank` is its rank."""

    action: str
    rank: int
    node: int


@dataclass(frozen=True)
class TrieStep:
    """The trie encoder tried `token` at byte `position`: "match" (the longest match), "shorter" (the next shorter one),
    "accept", "reject" (not compatible with the previous token), or "back" (that previous token is removed)."""

    action: str
    position: int
    token: int


@dataclass(frozen=True)
class TrainStep:
    """One merge of a training: the pair `left`, `right` (numbered 0 to 255 for bytes, then by rank), its count in
    the corpus, and the bytes of the new token. `counts`, if requested, has every pair's count before the merge."""

    rank: int
    left: int
    right: int
    count: int
    token: bytes
    counts: Mapping[tuple[int, int], int] | None = None


Step = MergeStep | HeapStep | TrieStep
Record = Callable[[Step], None]


class Encoder(Protocol):
    """The interface of every encoder."""

    def encode_piece(self, piece: bytes, record: Record | None = None) -> list[int]: ...


Trainer = Callable[..., Iterator[TrainStep]]
"""(words: Mapping[bytes, int], num_merges: int, min_frequency: int, keep_counts: bool) -> its steps."""


def trace_encode(encoder: Encoder, piece: bytes) -> Iterator[Step]:
    """Yield the steps of `encoder` as it encodes one piece.

    >>> from bpelab.encoders import ENCODERS
    >>> from bpelab.model import BPEModel
    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    >>> [step.ids for step in trace_encode(ENCODERS["naive"](model), b"low")]
    [(256, 119), (257,)]

    Raises BPELabError for a piece of more than 4,096 bytes: each step keeps the sequence, so memory grows with the
    square of the length.
    """
    if len(piece) > MAX_TRACED_BYTES:
        raise BPELabError(f"a trace of {len(piece):,} bytes would be too long; cut the piece to {MAX_TRACED_BYTES:,}")
    steps: list[Step] = []
    encoder.encode_piece(piece, steps.append)
    yield from steps


def trace_train(
    trainer: Trainer, words: Mapping[bytes, int], num_merges: int, min_frequency: int = 2
) -> Iterator[TrainStep]:
    """Yield the steps of training on `words` (pre-token -> count), each with all pair counts.

    >>> from bpelab.trainers import TRAINERS
    >>> [step.token for step in trace_train(TRAINERS["naive"], {b"low": 5, b"lower": 2}, 2)]
    [b'lo', b'low']
    """
    yield from trainer(words, num_merges, min_frequency, keep_counts=True)
