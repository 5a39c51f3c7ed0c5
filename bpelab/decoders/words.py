"""Decoders that put back the spaces between words.

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
    """`text` without spaces before punctuation and English endings, in one token.

    >>> cleanup(" do not")
    " don't"
    """
    for old, new in _CLEANUP:
        text = text.replace(old, new)
    return text


def _doubled(component: object, tokens: list[str], divider: str) -> None:
    """Raise TextTooLongError where a space in place of an empty `divider`, between all characters, is too much."""
    if not divider:
        check_length(component, sum(2 * len(token) + 1 for token in tokens), longest_allowed(tokens))


@dataclass(frozen=True)
class BPEDecoder(Decoder):
    """The suffix that ends a word becomes a space, in the last token nothing.

    >>> BPEDecoder().decode_chain(["low", "er</w>", "tide</w>"])
    ['low', 'er ', 'tide']

    Raises TextTooLongError for an empty suffix, which doubles what it is given, where that is too long.
    """

    suffix: str = "</w>"

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        _doubled(self, tokens, self.suffix)
        spaced = [token.replace(self.suffix, " ") for token in tokens[:-1]]
        return spaced + [token.replace(self.suffix, "") for token in tokens[-1:]]


@dataclass(frozen=True)
class WordPiece(Decoder):
    """A space before every token but the first and those that begin with `prefix`, which they lose.

    `cleanup` then removes spaces before punctuation and English endings.

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
    """Tokens that repeat the one before are dropped, then `pad_token` inside tokens, then tokens that are empty.

    With `cleanup` also what WordPiece cleans up, and `word_delimiter_token` becomes a space; without it stays.

    >>> CTC().decode_chain(["h", "h", "<pad>", "i", "|", "|"])
    ['h', 'i', ' ']

    Raises TextTooLongError for an empty delimiter, which doubles what it is given, where that is too long.
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts = [token.replace(self.pad_token, "") for token, _ in groupby(tokens)]
        if self.cleanup:
            _doubled(self, texts, self.word_delimiter_token)
            texts = [cleanup(text).replace(self.word_delimiter_token, " ") for text in texts]
        return [text for text in texts if text]


@dataclass(frozen=True)
class Metaspace(Decoder):
    """`replacement` becomes a space; in the first token it is removed wherever it stands, unless the scheme is "never".

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
        """The Metaspace of a file, read as the pre-tokenizer of this name is. Raises ValueError."""
        read = MetaspacePreTokenizer.from_json(data)
        return cls(read.replacement, read.prepend_scheme, read.splits)

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        first = " " if self.prepend_scheme == "never" else ""
        texts = [token.replace(self.replacement, first) for token in tokens[:1]]
        return texts + [token.replace(self.replacement, " ") for token in tokens[1:]]
