"""Settings for superwords: tokens that span word boundaries, such as ` of the`, learned in a second stage of training.

Both published methods learn words first and superwords next. SuperBPE has a *transition point*: from there on text is
cut by a pattern that leaves words together, and training continues. In BoundlessBPE, merges of two whole pre-tokens
compete with merges inside words, the more frequent first, so the transition point follows from the text.

Sources: Liu et al. 2025, arXiv 2503.13423, and github.com/PythonNut/superbpe; Schmidt et al. 2025, arXiv 2504.00178;
Schmidt, Tanner and Pinter 2026, arXiv 2604.05192, and github.com/kensho-technologies/fastboundlessbpe.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._support.nearest_name import nearest
from ..._support.validate import whole_number
from ...errors import TrainingError
from ...pretokenizers.split import Split
from ...regex.patterns import refuse_misspelt

METHODS = ("superbpe", "boundless")


@dataclass(frozen=True)
class Superwords:
    """How superwords are learned.

    Attributes:
        method: "superbpe" or "boundless".
        transition: for "superbpe", the transition point: the size of the vocabulary when the second stage starts,
            without special tokens, as a number (int) or as a share of the final size (float). The authors' best model
            has 180,000 of 200,000. "boundless" finds its own.
        pattern: the pattern that cuts text in the second stage and in the tokenizer; by default that of SuperBPE's
            repository. The pattern of the published 8B models instead cuts digits by threes from the right.
        max_words: the most words that a superword may have, or None for no limit. Words are separated by white space,
            as in `bytes.split`. In the authors' published vocabularies no superword has more than 4.
        forbidden: strings that no new token may contain. The authors' tokens don't contain ": ", so that a prompt that
            ends in a colon doesn't end inside a token.

    `Superwords("superbpe")` follows the paper's recommendation. BoundlessBPE has no such limits, and
    `Superwords.of("boundless")` has none.

    >>> Superwords(transition=0.5).merges_before(744)
    244
    >>> Superwords().allows(b" of the"), Superwords().allows(b" by the way, at"), Superwords().allows(b"Answer: a")
    (True, True, False)

    Raises ValueError for an unknown method or invalid limits, TypeError for a wrong type, and PatternError for a
    pattern that can't be compiled or is a misspelt name.
    """

    method: str = "superbpe"
    transition: int | float = 0.9
    pattern: str = "superbpe"
    max_words: int | None = 4
    forbidden: tuple[str, ...] = (": ",)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            meant = nearest(self.method, METHODS) if isinstance(self.method, str) else None
            raise ValueError(
                f"superwords are learned by {' or '.join(METHODS)}, not {self.method!r}"
                + (f": did you mean {meant}?" if meant else "")
            )
        if isinstance(self.transition, bool) or not isinstance(self.transition, (int, float)):
            raise TypeError(f"transition is a number of tokens or a share, not {type(self.transition).__name__}")
        if isinstance(self.transition, float) and not 0 <= self.transition <= 1:
            raise ValueError(
                f"transition is a share from 0.0 to 1.0, or a whole number of tokens, not {self.transition}"
            )
        if isinstance(self.transition, int) and self.transition < 256:
            raise ValueError(f"transition={self.transition}: the 256 bytes are tokens, too; a share is written 0.9")
        if self.max_words is not None and whole_number("max_words", self.max_words) < 2:
            raise ValueError(f"a superword has at least 2 words: max_words={self.max_words}")
        if isinstance(self.forbidden, str) or not all(isinstance(text, str) and text for text in self.forbidden):
            raise TypeError(f"forbidden is a tuple of strings that aren't empty, not {self.forbidden!r}")
        refuse_misspelt(self.pattern)
        object.__setattr__(self, "forbidden", tuple(self.forbidden))
        Split(self.pattern)

    @staticmethod
    def of(settings: str | Superwords) -> Superwords:
        """Return `settings` if it is settings already, or the settings from the paper of the named method.

        >>> Superwords.of("boundless").max_words is None
        True
        """
        if isinstance(settings, Superwords):
            return settings
        if not isinstance(settings, str):
            raise TypeError(f"superwords is the name of a method or a Superwords, not {type(settings).__name__}")
        return Superwords(settings, max_words=None, forbidden=()) if settings == "boundless" else Superwords(settings)

    @property
    def monotone(self) -> bool:
        """True if a token that contains a refused one is refused too: no bytes added to it could make it allowed."""
        return True

    @property
    def split(self) -> Split:
        """The split that cuts text in the second stage."""
        return Split(self.pattern)

    def merges_before(self, num_merges: int) -> int:
        """Return how many of `num_merges` merges are learned before the transition point.

        Raises TrainingError if the vocabulary is smaller than the transition point.
        """
        size = 256 + num_merges
        if isinstance(self.transition, float):
            return max(0, int(self.transition * size) - 256)
        if self.transition > size:
            raise TrainingError(
                f"transition={self.transition:,}, but the vocabulary has {size:,} tokens beside the special ones: the "
                "second stage would never begin"
            )
        return self.transition - 256

    def allows(self, token: bytes) -> bool:
        """Return whether a merge of the second stage may create this token."""
        if self.max_words is not None and len(token.split()) > self.max_words:
            return False
        return not any(text.encode() in token for text in self.forbidden)
