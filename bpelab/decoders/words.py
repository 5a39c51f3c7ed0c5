"""Decoders that restore the spaces between words.

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `decoders/bpe.rs`, `wordpiece.rs`, `ctc.rs` and
`pre_tokenizers/metaspace.rs`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ..normalizers.base import check_length
from ..pretokenizers.base import check_character
from ..pretokenizers.metaspace import PREPEND_SCHEMES, Metaspace as MetaspacePreTokenizer, PrependScheme
from .base import Decoder, longest_allowed

_CLEANUP = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
    (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def cleanup(text: str) -> str:
    """Return the `text` of one token without spaces before punctuation and English endings.

    >>> cleanup(" do not")
    " don't"
    """
    for old, new in _CLEANUP:
        text = text.replace(old, new)
    return text


def _check_empty_divider(component: object, tokens: list[str], divider: str) -> None:
    """Raise TextTooLongError if `divider` is empty, so that a space at every character boundary is too much."""
    if not divider:
        check_length(component, sum(2 * len(token) + 1 for token in tokens), longest_allowed(tokens))


@dataclass(frozen=True)
class BPEDecoder(Decoder):
    """Replace the end-of-word suffix by a space, and remove it from the last token.

    >>> BPEDecoder().decode_chain(["low", "er</w>", "tide</w>"])
    ['low', 'er ', 'tide']

    Raises TextTooLongError if an empty suffix, which doubles its input, makes the result too long.
    """

    suffix: str = "</w>"

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        _check_empty_divider(self, tokens, self.suffix)
        spaced = [token.replace(self.suffix, " ") for token in tokens[:-1]]
        return spaced + [token.replace(self.suffix, "") for token in tokens[-1:]]


@dataclass(frozen=True)
class WordPiece(Decoder):
    """Put a space before every token except the first and those that begin with `prefix`, which is removed.

    `cleanup` then removes the spaces before punctuation and English endings.

    >>> WordPiece().decode_chain(["he", "##llo", "world", "!"])
    ['he', 'llo', ' world', '!']
    """

    prefix: str = "##"
    cleanup: bool = True

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts = tokens[:1] + [
            token.removeprefix(self.prefix) if token.startswith(self.prefix) else " " + token for token in tokens[1:]
        ]
        return list(map(cleanup, texts)) if self.cleanup else texts


@dataclass(frozen=True)
class CTC(Decoder):
    """Drop tokens that repeat the one before, then `pad_token` inside tokens, then empty tokens.

    With `cleanup`, also remove what WordPiece cleans up and replace `word_delimiter_token` by a space; else it stays.

    >>> CTC().decode_chain(["h", "h", "<pad>", "i", "|", "|"])
    ['h', 'i', ' ']

    Raises TextTooLongError if an empty delimiter, which doubles its input, makes the result too long.
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts = [token.replace(self.pad_token, "") for token, _ in groupby(tokens)]
        if self.cleanup:
            _check_empty_divider(self, texts, self.word_delimiter_token)
            texts = [cleanup(text).replace(self.word_delimiter_token, " ") for text in texts]
        return [text for text in texts if text]


@dataclass(frozen=True)
class Metaspace(Decoder):
    """Replace `replacement` by a space; in the first token, remove every one unless the scheme is "never".

    >>> Metaspace().decode_chain(["▁two", "▁words"])
    ['two', ' words']

    Raises ValueError for a replacement that is not one character, and for a scheme that doesn't exist.
    """

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True

    def __post_init__(self) -> None:
        check_character(self.replacement, "Metaspace: replacement")
        if self.prepend_scheme not in PREPEND_SCHEMES:
            schemes = ", ".join(PREPEND_SCHEMES)
            raise ValueError(f"Metaspace: prepend_scheme is one of {schemes}, not {self.prepend_scheme!r}")

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Metaspace":
        """Return the Metaspace of a file, read as the pre-tokenizer of this name is. Raises ValueError."""
        read = MetaspacePreTokenizer.from_json(data)
        return cls(read.replacement, read.prepend_scheme, read.splits)

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        first = " " if self.prepend_scheme == "never" else ""
        texts = [token.replace(self.replacement, first) for token in tokens[:1]]
        return texts + [token.replace(self.replacement, " ") for token in tokens[1:]]
