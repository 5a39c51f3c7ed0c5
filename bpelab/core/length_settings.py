"""Truncation and padding: the settings that a tokenizer.json may have, and what they do to ids.

`BPETokenizer.encode` applies neither, so a text is never cut unasked. They are stored with the tokenizer and written
back.

Chapter: File formats. Source: tokenizers `utils/truncation.rs` and `utils/padding.rs`.
"""

from dataclasses import dataclass
from typing import Any

from ..vocab.special_tokens import HIGHEST_ID

LONGEST = 1 << 24
"""The greatest length that padding fills up to, in ids."""


@dataclass(frozen=True)
class Truncation:
    """Truncation to at most `max_length` ids, including those that the post-processor adds.

    >>> Truncation(max_length=3).apply([1, 2, 3, 4], added=1), Truncation(2, direction="Left").apply([1, 2, 3])
    ([1, 2], [2, 3])
    """

    max_length: int
    strategy: str = "LongestFirst"
    stride: int = 0
    direction: str = "Right"

    def __post_init__(self) -> None:
        if self.max_length < 0 or self.stride < 0:
            raise ValueError("max_length and stride are numbers from 0 up")
        if self.strategy not in ("LongestFirst", "OnlyFirst", "OnlySecond") or self.direction not in ("Left", "Right"):
            raise ValueError(f"there is no truncation {self.strategy!r} on the side {self.direction!r}")

    def apply(self, ids: list[int], added: int = 0) -> list[int]:
        """Return `ids`, cut so that `added` more ids fit."""
        room = max(0, self.max_length - added)
        if len(ids) <= room:
            return ids
        return ids[:room] if self.direction == "Right" else ids[len(ids) - room :]


@dataclass(frozen=True)
class Padding:
    """Padding with `pad_id`, to a fixed length or to a multiple.

    >>> Padding({"Fixed": 4}, pad_id=9).apply([1, 2]), Padding("BatchLongest", pad_to_multiple_of=4).apply([1])
    ([1, 2, 9, 9], [1, 0, 0, 0])
    """

    strategy: str | dict[str, int] = "BatchLongest"
    direction: str = "Right"
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"

    def __post_init__(self) -> None:
        fixed = self.strategy.get("Fixed") if isinstance(self.strategy, dict) else 0
        if self.strategy != "BatchLongest" and (
            not isinstance(self.strategy, dict) or len(self.strategy) != 1 or type(fixed) is not int or fixed < 0
        ):
            raise ValueError(f'a padding strategy is "BatchLongest" or {{"Fixed": length}}, not {self.strategy!r}')
        if self.direction not in ("Left", "Right"):
            raise ValueError(f"padding is on the side Left or Right, not {self.direction!r}")
        if max(fixed or 0, self.pad_to_multiple_of or 0) > LONGEST:
            raise ValueError(f"padding to more than {LONGEST:,} ids is refused")
        if (
            (self.pad_to_multiple_of or 0) < 0
            or not 0 <= self.pad_id <= HIGHEST_ID
            or not 0 <= self.pad_type_id <= HIGHEST_ID
        ):
            raise ValueError(f"pad_to_multiple_of, pad_id and pad_type_id are numbers from 0 to {HIGHEST_ID}")

    def apply(self, ids: list[int]) -> list[int]:
        """Return `ids`, padded."""
        return self.filled(ids, self.length(len(ids)) - len(ids), self.pad_id)

    def length(self, longest: int) -> int:
        """Return the length to pad rows to, if the longest has `longest` ids."""
        length = self.strategy["Fixed"] if isinstance(self.strategy, dict) else longest
        return length + (-length % self.pad_to_multiple_of if self.pad_to_multiple_of else 0)

    def filled(self, old: list[Any], count: int, value: Any) -> list[Any]:
        """Return `old` with `count` times `value` added on the padding side."""
        return [value] * count + old if self.direction == "Left" else old + [value] * count
