"""Encoders turn one piece of bytes into ids. They differ in speed and in nothing else.

Each is built from a `BPEModel` and offers `encode_piece(piece, record=None)` and `supports(model)`.
`NotBPELongestMatch` stands beside them for teaching and is not in the registry.
"""

from ..model import BPEModel
from .heap import HeapEncoder
from .longest_match import NotBPELongestMatch
from .naive import NaiveEncoder
from .trie import TrieEncoder

AnyEncoder = NaiveEncoder | HeapEncoder | TrieEncoder

ENCODERS: dict[str, type[AnyEncoder]] = {"naive": NaiveEncoder, "heap": HeapEncoder, "trie": TrieEncoder}

__all__ = [
    "ENCODERS",
    "AnyEncoder",
    "HeapEncoder",
    "NaiveEncoder",
    "NotBPELongestMatch",
    "TrieEncoder",
    "make_encoder",
]


def make_encoder(name: str, model: BPEModel) -> AnyEncoder:
    """The encoder called `name` for `model`; `heap` for "auto", and where the one asked for can't serve the model.

    Scanning is somewhat quicker on the shortest pieces, which the tokenizer's cache spares it anyway, and far slower on
    long ones; the trie needs a preparation. So the heap is the choice that is never bad.

    Raises ValueError for a name that is neither "auto" nor in ENCODERS.
    """
    if name == "auto":
        name = "heap"
    if name not in ENCODERS:
        raise ValueError(f"there is no encoder {name!r}; choose auto or one of {', '.join(ENCODERS)}")
    chosen = ENCODERS[name]
    return (chosen if chosen.supports(model) else HeapEncoder)(model)
