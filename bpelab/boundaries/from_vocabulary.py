"""Cuts implied by a vocabulary without a pre-tokenizer, as in SentencePiece's models.

Two adjacent characters can share a token only if they are adjacent in some token. In most such vocabularies no token
has `▁`, which stands for a space, after another character. Then every text can be cut before a `▁` that follows
something else, and its words become pieces that a cache can hold. The ids are the same as for the whole text.

Chapter: File formats. Cost: one look at every token, then linear in the text.
"""

import re
from collections.abc import Collection

from ..model.bpe import BPEModel

SPACE = "▁"


class VocabularyBoundaries:
    """Cuts before `▁`, except after characters that precede it in some token.

    If characters can vanish, or merge under another name, it cuts only after characters of the vocabulary, which are
    passed as `known_characters`. `cut_after` is (characters, negated): it cuts after these or, if negated, after all
    others.
    """

    def __init__(self, before: frozenset[str], known_characters: frozenset[str] | None = None) -> None:
        joined_to_space = before | {SPACE}
        if known_characters is None:
            self.cut_after = joined_to_space, True
        else:
            self.cut_after = known_characters - joined_to_space or frozenset("\0"), False
        chars, negated = self.cut_after
        self._piece = re.compile(f"(?<={_one_of(chars, '^' if negated else '')})(?={SPACE})")

    @classmethod
    def of(cls, model: BPEModel) -> "VocabularyBoundaries | None":
        """Return a model's boundaries, or None if unknown, as when `▁` isn't a token or `ignore_merges` is on."""
        initial_symbols = model.initial_symbols
        if (
            initial_symbols is None
            or not initial_symbols.characters
            or initial_symbols.prefix
            or initial_symbols.suffix
            or model.ignore_merges
        ):
            return None
        if SPACE.encode() not in model.alphabet:
            return None
        text = "\0".join(token.decode("utf-8", "replace") for token in model.tokens.values())
        before = frozenset(re.findall(f"(.)(?={SPACE})", text, re.DOTALL)) - {"\0"}
        spelled = initial_symbols.byte_tokens or {}
        stand_in = [token_id for token_id in (initial_symbols.unk_id, *spelled.values()) if token_id is not None]
        names = [model.tokens.get(token_id, b"") for token_id in stand_in]
        renamed = any(name.decode("utf-8", "replace")[-1:] in before for name in names)
        vanishes = initial_symbols.unk_id is None and len(spelled) < 256
        known_characters = frozenset(symbol.decode() for symbol in model.alphabet) if renamed or vanishes else None
        return cls(before, known_characters)

    def split(self, text: str) -> list[str]:
        """Split `text` into pieces, which concatenate to the text.

        >>> VocabularyBoundaries(frozenset(",")).split("▁one▁▁two,▁three▁4")
        ['▁one', '▁▁two,▁three', '▁4']
        """
        return self._piece.split(text) if text else []


def _one_of(chars: Collection[str], sign: str) -> str:
    return f"[{sign}{''.join(map(re.escape, sorted(chars)))}]"
