"""The libraries that are measured, in the order of the table.

Each has an adapter that calls it in the way that is best for it. An adapter doesn't define what its library can't do.
"""

from importlib import metadata
from importlib.util import find_spec

from .any_vocabulary import Fastokens, Gigatoken, Iree, Kitoken, Splintr, Tokie
from .base import Peer, Vocabulary
from .no_files import BpeOpenAI, Gigabpe, Quicktok, RsBpe, Rustbpe
from .ours import Bpelab, BpelabPython, Naive
from .reference import HuggingFace, Tiktoken

PEERS: dict[str, type[Peer]] = {
    peer.name: peer
    for peer in (
        Tiktoken,
        Bpelab,
        BpelabPython,
        Gigatoken,
        Fastokens,
        Splintr,
        Quicktok,
        RsBpe,
        BpeOpenAI,
        Iree,
        Kitoken,
        Tokie,
        HuggingFace,
        Rustbpe,
        Gigabpe,
        Naive,
    )
}
BASELINE = "tiktoken"
"""The library whose ids are the reference, and whose speed is the unit of ratios."""

__all__ = ["BASELINE", "PEERS", "Peer", "Vocabulary", "obstacle", "version"]


def why_unavailable(peer: type[Peer]) -> str | None:
    """Return why a library can't be measured here, or None if it can. Imports nothing."""
    for module in (peer.module, *peer.requires):
        if find_spec(module) is None:
            return f"not installed: pip install {peer.package}" if module == peer.module else f"{module} is missing"
    return None


def version(peer: type[Peer]) -> str | None:
    """Return the version of the library's package, or None where it is not installed."""
    if peer.package == "bpelab":
        from ... import __version__

        return __version__  # of this code, also where it isn't installed
    try:
        return metadata.version(peer.package)
    except metadata.PackageNotFoundError:
        return None
