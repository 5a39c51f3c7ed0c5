"""Cuts that a vocabulary implies where there is no pre-tokenizer, as in SentencePiece's models.

Two neighbouring characters can only ever share a token if some token has them side by side. In most such vocabularies
no token has `▁`, which stands for a space, behind another character: then every text can be cut before a `▁` that
follows something else, and its words become pieces that a cache can keep. The ids are those of the whole text.

Chapter: File formats. Cost: one look at every token, then linear in the text.
"""

import re

from ..model import BPEModel

SPACE = "▁"


class ImpliedCuts:
    """Cuts before `▁`, except behind those characters that some token has before it."""

    def __init__(self, before: frozenset[str]) -> None:
        inside = "".join(map(re.escape, sorted(before | {SPACE})))
        self._piece = re.compile(f"(?<=[^{inside}])(?={SPACE})")

    @classmethod
    def of(cls, model: BPEModel) -> "ImpliedCuts | None":
        """The cuts of a model; None where nothing can be said: `▁` is no token, or whole pieces are looked up."""
        units = model.units
        if units is None or not units.characters or units.prefix or units.suffix or model.take_whole:
            return None
        if SPACE.encode() not in model.alphabet:
            return None
        text = "\0".join(token.decode("utf-8", "replace") for token in model.tokens.values())
        return cls(frozenset(re.findall(f"(.){SPACE}", text, re.DOTALL)) - {"\0"})

    def split(self, text: str) -> list[str]:
        """The pieces of `text`; joined they are the text.

        >>> ImpliedCuts(frozenset(",")).split("▁one▁▁two,▁three▁4")
        ['▁one', '▁▁two,▁three', '▁4']
        """
        return self._piece.split(text) if text else []
