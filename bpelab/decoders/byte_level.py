"""ByteLevel: the decoder of tokens in GPT-2's byte alphabet.

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `pre_tokenizers/byte_level.rs`.
"""

import re
from dataclasses import dataclass

from .._support.textio import utf8
from ..texts.stages import Stage
from ..texts.utf8_parts import utf8_text
from ..unicode.byte_alphabet import from_alphabet
from .base import Decoder

_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def _bytes_of(token: str, errors: str) -> bytes:
    """Return the bytes of a token that is plain text, including bytes escaped as surrogates."""
    return utf8(token) if errors == "replace" else _NO_BYTES.sub("\ufffd", token).encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class ByteLevel(Decoder):
    """Decode tokens in GPT-2's byte alphabet into one text. A token with any other character is kept unchanged.

    The fields belong to the pre-tokenizer of the same name and do nothing here.

    >>> ByteLevel().decode_chain(["Ġcaf", "Ã", "©", "日本"])
    [' café日本']
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        data = bytearray()
        for token in tokens:
            try:
                data += from_alphabet(token)
            except ValueError:
                data += _bytes_of(token, errors)
        return [data.decode("utf-8", errors)]

    def joining_stage(self) -> Stage:
        """Return a stage for joining tokens. A second ByteLevel, which sees text already joined, holds it all back.

        There, one character outside the alphabet turns everything into plain text.
        """
        return ByteLevelStage()


class Bytes(ByteLevel):
    """ByteLevel for tokenizers that weren't read from a file: added tokens are decoded as plain text.

    Hugging Face reads an added token whose characters are all in GPT-2's alphabet as bytes too, so that `<é>` comes out
    as `<`, the byte 0xE9 and `>`. Tokenizers that were read from its files decode as it does.
    """


class ByteLevelStage(Stage):
    """ByteLevel as a stage, one whole token at a time. It holds back an incomplete character."""

    start = b""

    def push(self, state: bytes, text: str) -> tuple[bytes, str]:
        try:
            return utf8_text(state, from_alphabet(text))
        except ValueError:
            return utf8_text(state, utf8(text))

    def finish(self, state: bytes) -> str:
        return state.decode("utf-8", "replace")

    def buffered(self, state: bytes) -> str:
        return state.decode("utf-8", "surrogateescape")
