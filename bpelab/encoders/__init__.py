"""Encoders turn one piece of bytes into ids. They differ in speed and in nothing else.

Each is built from a `BPEModel` and offers `encode_piece(piece, record=None)` and `supports(model)`.
`NotBPELongestMatch` is beside them for teaching and is not in the registry. It may
import `model`. Begin with `naive.py`, then `heap.py`.
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
"""Bytes from which buckets are quicker than the heap."""

__all__ = [
    "ENCODERS",
    "AnyEncoder",
    "BucketEncoder",
    "HeapEncoder",
    "NaiveEncoder",
    "NotBPELongestMatch",
    "TrieEncoder",
    "encode_function",
    "make_encoder",
]


def encode_function(name: str, model: BPEModel) -> Callable[[bytes], list[int]]:
    """`encode_piece` of the encoder called `name`; for "auto" that of the heap, and for long pieces that of buckets.

    The naive encoder is somewhat quicker on the shortest pieces, which the tokenizer's cache spares it anyway, and far
    slower on long ones; buckets are a quarter slower than the heap on words and three to five times as fast on long
    pieces; the trie needs a preparation. So these two are the choice that is never bad.
    (Vocabularies with superwords have an encoder of their own, `superwords.py`, which `core/pipeline.py` takes.)

    Raises ValueError for a name that is neither "auto" nor in ENCODERS.
    """
    if name != "auto":
        return make_encoder(name, model).encode_piece
    short, long = HeapEncoder(model).encode_piece, BucketEncoder(model).encode_piece
    return lambda piece: short(piece) if len(piece) < LONG else long(piece)


def check_name(name: str) -> None:
    """Raise ValueError for the name of an encoder that is not in ENCODERS."""
    if name not in ENCODERS:
        known = ", ".join(("auto", "native", *ENCODERS))
        raise ValueError(f"there is no encoder {name!r}; choose one of {known}")


def make_encoder(name: str, model: BPEModel) -> AnyEncoder:
    """Return the encoder called `name` for `model`; `heap` if it can't serve the model, and for "auto".

    Raises ValueError for a name that is neither "auto" nor in ENCODERS.
    """
    if name == "auto":
        name = "heap"
    check_name(name)
    chosen = ENCODERS[name]
    return (chosen if chosen.supports(model) else HeapEncoder)(model)
