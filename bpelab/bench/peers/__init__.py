"""The libraries to measure, in the order of the table.

Each has an adapter that calls it in its fastest way. An adapter doesn't define methods that its library can't support.
"""

from .base import Peer, Vocabulary
from .json_files import Kitoken, Snaptokens, Tokie
from .no_files import BpeOpenAI, Gigabpe, Quicktok, RsBpe, Rustbpe, Toktok
from .ours import Bpelab, BpelabPython, Naive
from .reference import HuggingFace, HuggingFace1, Tiktoken
from .tiktoken_files import Fastokens, Gigatoken, Iree, Splintr

PEERS: dict[str, type[Peer]] = {
    peer.name: peer
    for peer in (
        Tiktoken,
        Bpelab,
        BpelabPython,
        Gigatoken,
        Fastokens,
        Snaptokens,
        Splintr,
        Quicktok,
        Toktok,
        RsBpe,
        BpeOpenAI,
        Iree,
        Kitoken,
        Tokie,
        HuggingFace,
        HuggingFace1,
        Rustbpe,
        Gigabpe,
        Naive,
    )
}
__all__ = ["PEERS", "Peer", "Vocabulary"]
