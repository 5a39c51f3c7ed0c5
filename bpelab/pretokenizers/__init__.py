"""Pre-tokenizers: what cuts a text into pieces before any merge."""

from ..lazy import lazily
from .base import PreTokenizer as PreTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .patterns import PATTERNS as PATTERNS, NamedPattern as NamedPattern, find_pattern as find_pattern
    from .registry import PRE_TOKENIZERS as PRE_TOKENIZERS
    from .split import Split as Split
    from .split_pattern import SplitPattern as SplitPattern

_HOMES = {
    "PRE_TOKENIZERS": "registry",
    **dict.fromkeys(["PATTERNS", "NamedPattern", "find_pattern"], "patterns"),
    "Split": "split",
    "SplitPattern": "split_pattern",
}

__all__ = ["PreTokenizer", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazily(_HOMES, globals())
