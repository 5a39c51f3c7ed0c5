"""Decoders of byte tokens, in GPT-2's byte alphabet or spelled out as `<0xE4>`.

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `pre_tokenizers/byte_level.rs` and
`decoders/byte_fallback.rs`.
"""

import re
from dataclasses import dataclass

from .._support.textio import utf8
from ..unicode.byte_alphabet import from_alphabet
from .base import Decoder

_SPELLED = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")  # Rust reads +A as a number
_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def _bytes_of(token: str, errors: str) -> bytes:
    """Return the bytes of a token that is text, including any that were escaped as surrogates."""
    return utf8(token) if errors == "replace" else _NO_BYTES.sub("\ufffd", token).encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class ByteLevel(Decoder):
    """Decode tokens in GPT-2's byte alphabet into one text. A token with any other character is kept as it is.

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


class Bytes(ByteLevel):
    """ByteLevel for tokenizers that were not read from a file: added tokens are decoded as plain text.

    Hugging Face reads an added token whose characters are all in GPT-2's alphabet as bytes too, so that `<é>` comes out
    as `<`, the byte 0xE9 and `>`. Tokenizers that were read from its files decode as it does.
    """


@dataclass(frozen=True)
class ByteFallback(Decoder):
    """Byte fallback: turn tokens such as `<0xE4>` into the text of their bytes.

    If the bytes of a run of such tokens are not valid UTF-8, each of them becomes U+FFFD, even where a part is valid.

    >>> ByteFallback().decode_chain(["a", "<0xC3>", "<0xA9>", "b", "<0x61>", "<0xFF>"])
    ['a', 'é', 'b', '\ufffd', '\ufffd']
    """

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts: list[str] = []
        data = bytearray()
        for token in tokens:
            if spelled := _SPELLED.fullmatch(token):
                data.append(int(spelled[1], 16))
            else:
                texts += [*_texts_of(data, errors), token]
                data.clear()
        return texts + _texts_of(data, errors)


def _texts_of(data: bytearray, errors: str) -> list[str]:
    if not data:
        return []
    try:
        return [data.decode()]
    except UnicodeDecodeError:
        return ["\ufffd"] * len(data) if errors == "replace" else [data.decode("utf-8", errors)]
