"""Metaspace, SentencePiece's way to escape spaces: each becomes `▁`, at the front of the next word.

Cost: linear. Chapter: Regex pre-tokenization.
Source: tokenizers/src/pre_tokenizers/metaspace.rs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .._support.validate import check_name
from ..unicode.byte_alphabet import BYTE_OF_CHAR
from .base import PreTokenizer, check_character
from .boundary import Boundary
from .pattern_steps import string_step

if TYPE_CHECKING:
    from .base import Preparation
    from .pattern_steps import PatternStep

PrependScheme = Literal["first", "never", "always"]
PREPEND_SCHEMES: tuple[PrependScheme, ...] = ("first", "never", "always")


@dataclass(frozen=True)
class Metaspace(PreTokenizer):
    """Replace spaces by `replacement`, prepend one, and, with `splits`, start a new piece at each.

    Unless the text already starts with it, it is prepended to every text ("always"), only at the beginning of the input
    ("first"), or not at all ("never"). `splits` is the JSON key `split`.

    >>> Metaspace().split("two  words")
    ['▁two', '▁', '▁words']
    >>> Metaspace(prepend_scheme="first").split("two words", first=False)
    ['two', '▁words']

    Raises ValueError for a replacement that is not one character and for a scheme that doesn't exist.
    """

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    splits: bool = True

    def __post_init__(self) -> None:
        check_character(self.replacement, "Metaspace: replacement")
        check_name(self.prepend_scheme, "Metaspace: prepend_scheme", PREPEND_SCHEMES)

    def split(self, text: str, first: bool = True) -> list[str]:
        text = self._escaped(text, first)
        if not self.splits:
            return [text] if text else []
        before, *words = text.split(self.replacement)
        pieces = [self.replacement + word for word in words]
        return [before, *pieces] if before else pieces

    def _escaped(self, text: str, first: bool) -> str:
        text = text.replace(" ", self.replacement)
        prepends = self.prepend_scheme == "always" or (self.prepend_scheme == "first" and first)
        return self.replacement + text if text and prepends and not text.startswith(self.replacement) else text

    @property
    def prepends(self) -> bool:
        return self.prepend_scheme == "always"

    def without_prefix(self) -> Metaspace:
        return Metaspace(self.replacement, "never", self.splits)

    @property
    def depends_on_position(self) -> bool:
        return self.prepend_scheme == "first"

    @property
    def keeps_byte_alphabet(self) -> bool:
        return self.replacement in BYTE_OF_CHAR

    def for_next_step(self, pieces: list[str]) -> list[str]:
        return [piece.replace(" ", self.replacement) for piece in pieces]

    def boundary(self, a: str, b: str) -> Boundary:
        return Boundary.CUT if self.splits and b in (" ", self.replacement) else Boundary.BROKEN

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        if not first:
            return None
        step = string_step(self.replacement, "MergedWithNext") if self.splits else None
        return [] if step is None else [step]

    def preparation(self) -> Preparation | None:
        return self._escaped

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Metaspace:
        """Return the Metaspace in a file, which may have the older keys `add_prefix_space` and `str_rep`.

        They are read as Hugging Face reads them: `str_rep` is ignored, and `add_prefix_space` may be false only if the
        scheme is "never".

        >>> Metaspace.from_json({"replacement": "_", "add_prefix_space": True}).prepend_scheme
        'always'

        Raises ValueError for values that Hugging Face refuses.
        """
        scheme, splits, old = data.get("prepend_scheme", "always"), data.get("split"), data.get("add_prefix_space")
        for key, value in (("split", splits), ("add_prefix_space", old)):
            if value is not None and not isinstance(value, bool):
                raise ValueError(f"Metaspace: {key} is true or false, not {str(value)[:40]!r}")
        if not isinstance(data.get("str_rep") or "", str):
            raise ValueError(f"Metaspace: str_rep is a string, not {str(data['str_rep'])[:40]!r}")
        if old is False and scheme != "never":
            raise ValueError(
                f"Metaspace: add_prefix_space is false, but prepend_scheme is {scheme!r}; write one of them"
            )
        if "replacement" not in data:
            raise ValueError("Metaspace: replacement is missing; it is the character that spaces become, such as ▁")
        return cls(data["replacement"], scheme, splits is not False)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object without `type`."""
        return {"replacement": self.replacement, "prepend_scheme": self.prepend_scheme, "split": self.splits}
