"""SentencePiece's character map, applied Hugging Face's way, which differs and which models were trained with.

The text is cut into grapheme clusters. A cluster of fewer than 6 bytes that *begins* with an entry is replaced, as a
whole, by the text of the shortest such entry (so an accent can be lost). Otherwise each of its characters is looked up
by itself.

Chapter: File formats. Cost: linear; look-ups are cached. Source: Hugging Face
tokenizers, `normalizers/precompiled.rs`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ..texts.aligned_string import AlignedString, CharChange
from ..texts.stages import REMEMBERED, BoundaryStage, Stage
from ..unicode.graphemes import clusters
from .base import BoundedNormalizer, check_length
from .charsmap import read_charsmap


@dataclass(frozen=True)
class Precompiled(BoundedNormalizer):
    """Apply a SentencePiece character map, as Hugging Face does.

    Raises ValueError if the map is malformed, and TextTooLongError if the result is too long.
    """

    precompiled_charsmap: str

    def __post_init__(self) -> None:
        read_charsmap(self.precompiled_charsmap)

    def apply_bounded(self, text: str, limit: int) -> str:
        find = read_charsmap(self.precompiled_charsmap).get
        parts, length = [], 0
        for cluster in clusters(text):
            become = "".join(new for _, new in _replacements(cluster, find))
            parts.append(become)
            length += len(become)
            check_length(self, length, limit)
        return "".join(parts)

    def stages(self) -> list[Stage]:
        return [BoundaryStage(self, between_clusters)]

    def align(self, string: AlignedString) -> AlignedString:
        find = read_charsmap(self.precompiled_charsmap).get
        changes: list[CharChange] = []
        for old, new in (pair for cluster in clusters(string.text) for pair in _replacements(cluster, find)):
            more = len(new) - len(old)
            changes.extend((char, int(len(new) - n <= more)) for n, char in enumerate(new))
            if more < 0 and changes:  # removals count as after the last character, whichever that is
                changes[-1] = changes[-1][0], changes[-1][1] + more
        return string.transform(changes)


def _replacements(cluster: str, find: Callable[[str], str | None]) -> list[tuple[str, str]]:
    """Return (old, new) for a cluster that is replaced as a whole, or for each of its characters."""
    whole = find(cluster) if len(cluster.encode("utf-8", "surrogatepass")) < 6 else None
    if whole is not None:
        return [(cluster, whole)]
    return [(char, char if (become := find(char)) is None else become) for char in cluster]


_FLAGS = range(0x1F1E6, 0x1F200)


@lru_cache(REMEMBERED)
def between_clusters(a: str, b: str) -> bool:
    """Return True if a grapheme cluster ends between `a` and `b`, whatever comes before `a` (UAX #29).

    Returns False after a mark or a joiner, and between regional indicators, which may be one flag or halves of two.
    """
    plain = len(list(clusters("x" + a))) == 2 and ord(a) not in _FLAGS
    return plain and len(list(clusters(a + b))) == 2
