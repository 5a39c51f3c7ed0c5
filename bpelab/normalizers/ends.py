"""Normalizers that work on the ends of a text, and how much a stream may return before it knows the end.

Chapter: Regex pre-tokenization. Cost: linear. Source: Hugging Face tokenizers, `normalizers/strip.rs` and `prepend.rs`.
"""

from dataclasses import dataclass, replace

from ..texts.aligned_string import AlignedString
from ..texts.stages import Stage
from ..texts.text_buffer import Chain, add, join
from .base import BaseNormalizer, BoundedNormalizer, check_length
from .characters import white_space


@dataclass(frozen=True)
class Strip(BaseNormalizer):
    """Remove white space at the start, the end, or both.

    >>> Strip(strip_right=False)(" a ")
    'a '
    """

    strip_left: bool = True
    strip_right: bool = True

    def __call__(self, text: str) -> str:
        if self.strip_left:
            text = text.lstrip(white_space())
        return text.rstrip(white_space()) if self.strip_right else text

    def stages(self) -> list[Stage]:
        return [StripStage(self.strip_left, self.strip_right)]

    def align(self, string: AlignedString) -> AlignedString:
        right = len(Strip(False, self.strip_right)(string.text))
        left = len(string.text) - len(Strip(self.strip_left, False)(string.text))
        return replace(string[left : max(left, right)], base=string.base)


@dataclass(frozen=True)
class Prepend(BoundedNormalizer):
    """Prepend a text to every text that is not empty.

    >>> Prepend("▁")("Hello"), Prepend("▁")("")
    ('▁Hello', '')

    Raises TextTooLongError if the result is too long.
    """

    prepend: str

    def apply_bounded(self, text: str, limit: int) -> str:
        check_length(self, len(self.prepend) + len(text), limit)
        return self.prepend + text if text else text

    def stages(self) -> list[Stage]:
        return [PrependStage(self.prepend)]

    def align(self, string: AlignedString) -> AlignedString:
        return string.prepend(self.prepend)


class PrependStage(Stage):
    """Prepend as a stage: add a string in front of a non-empty text."""

    start = False

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def push(self, state: bool, text: str) -> tuple[bool, str]:
        return (True, text if state else self._prefix + text) if text else (state, "")

    def finish(self, state: bool) -> str:
        return ""

    def buffered(self, state: bool) -> str:
        return ""


class StripStage(Stage):
    """Strip as a stage. It holds back white space, which could be the end."""

    start = (False, None)

    def __init__(self, left: bool, right: bool) -> None:
        self._left, self._right = left, right

    def push(self, state: tuple[bool, Chain], text: str) -> tuple[tuple[bool, Chain], str]:
        begun, space = state
        if self._left and not begun:
            text = text.lstrip(white_space())
        if not text or not self._right:
            return (begun or bool(text), space), text
        kept = text.rstrip(white_space())
        if not kept:
            return (True, add(space, text)), ""
        return (True, add(None, text[len(kept) :])), join(add(space, kept))

    def finish(self, state: tuple[bool, Chain]) -> str:
        return ""

    def buffered(self, state: tuple[bool, Chain]) -> str:
        return join(state[1])
