"""Encoders turn one piece of bytes into ids. They differ only in speed.

Each is built from a `BPEModel` and offers `encode_piece(piece, record=None)` and `supports(model)`.
`NotBPELongestMatch` is only for teaching and isn't in the registry. It may import `model`. Begin with `naive.py`, then
`heap.py`.
"""

from collections.abc import Callable

from ..model.bpe import BPEModel
from .buckets import BucketEncoder
from .heap import HeapEncoder
from .longest_match import NotBPELongestMatch
from .naive import NaiveEncoder
from .trie import TrieEncoder

AnyEncoder = NaiveEncoder | HeapEncoder | BucketEncoder | TrieEncoder

ENCODERS: dict[str, type[AnyEncoder]] = {
    "naive": NaiveEncoder,
    "heap": HeapEncoder,
    "buckets": BucketEncoder,
    "trie": TrieEncoder,
}
LONG = 200
"""The length in bytes from which buckets are faster than the heap."""

__all__ = [
    "ENCODERS",
    "BucketEncoder",
    "HeapEncoder",
    "NaiveEncoder",
    "NotBPELongestMatch",
    "TrieEncoder",
    "make_encoder",
]


def encode_function(name: str, model: BPEModel) -> Callable[[bytes], list[int]]:
    """Return `encode_piece` of the encoder called `name`; "auto" uses the heap, and buckets for long pieces.

    The naive encoder is slightly faster on the shortest pieces, which mostly come from the tokenizer's cache anyway,
    and far slower on long ones. Buckets are a quarter slower than the heap on words and three to five times as fast on
    long pieces. The trie takes time to build. So the heap with buckets is never a bad choice.
    (Vocabularies with superwords have their own encoder, `superwords.py`, which `core/pipeline.py` chooses.)

    Raises ValueError for a name that is neither "auto" nor in ENCODERS.
    """
    if name != "auto":
        return make_encoder(name, model).encode_piece
    short, long = HeapEncoder(model).encode_piece, BucketEncoder(model).encode_piece
    return lambda piece: short(piece) if len(piece) < LONG else long(piece)


def check_name(name: str) -> None:
    """Raise ValueError if `name` isn't in ENCODERS."""
    if name not in ENCODERS:
        known = ", ".join(("auto", "native", *ENCODERS))
        raise ValueError(f"there is no encoder {name!r}; choose one of {known}")


def make_encoder(name: str, model: BPEModel) -> AnyEncoder:
    """Build the encoder called `name` for `model`, or `heap` for "auto" or if that encoder doesn't support the model.

    Raises ValueError for a name that is neither "auto" nor in ENCODERS.
    """
    if name == "auto":
        name = "heap"
    check_name(name)
    chosen = ENCODERS[name]
    return (chosen if chosen.supports(model) else HeapEncoder)(model)
