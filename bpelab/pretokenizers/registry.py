"""The pre-tokenizers by the name that a tokenizer.json gives as "type"; their dataclass fields are its other keys."""

from .base import PreTokenizer
from .sequence import PRE_TOKENIZERS as UNPATTERNED
from .split_pattern import SplitPattern

PRE_TOKENIZERS: dict[str, type[PreTokenizer]] = {**UNPATTERNED, "Split": SplitPattern}
