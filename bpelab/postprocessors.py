"""Post-processors add special tokens around the ids of a text, when the caller asks for them.

The name and the form are Hugging Face's: a template lists special tokens and `$A`, the text.
"""

from dataclasses import dataclass

from .errors import SpecialTokenError
from .special_tokens import SpecialTokens


@dataclass(frozen=True)
class TemplateProcessing:
    """Special tokens before and after a text.

    >>> special = SpecialTokens({"<s>": 300, "</s>": 301})
    >>> TemplateProcessing(("<s>", "$A", "</s>")).apply([1, 2], special)
    [300, 1, 2, 301]

    Raises SpecialTokenError when `$A` does not stand in the template exactly once.
    """

    single: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "single", tuple(self.single))
        if self.single.count("$A") != 1:
            raise SpecialTokenError(f"a template holds $A exactly once, for the text; this one is {self.single}")

    def check(self, special: SpecialTokens) -> None:
        """Raise SpecialTokenError if the template names a token that is not special."""
        special.select([name for name in self.single if name != "$A"], "the post-processor's template")

    def apply(self, ids: list[int], special: SpecialTokens) -> list[int]:
        """`ids` with the template's special tokens around them."""
        at = self.single.index("$A")
        before = [special.ids[name] for name in self.single[:at]]
        return before + ids + [special.ids[name] for name in self.single[at + 1 :]]

    @property
    def added(self) -> int:
        """How many tokens the template adds."""
        return len(self.single) - 1
