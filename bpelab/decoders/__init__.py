"""Decoders turn tokens, as a file writes them, into the text that they stand for.

The names, fields and results are those of Hugging Face's tokenizers, and `DECODERS` has all of them by the name that a
tokenizer.json gives as "type". Chapter: File formats.
"""

from .base import Decoder
from .bytes import ByteFallback, ByteLevel, Bytes
from .texts import DecoderSequence, Fuse, Replace, Strip
from .words import CTC, BPEDecoder, Metaspace, WordPiece

__all__ = [
    "CTC",
    "DECODERS",
    "BPEDecoder",
    "ByteFallback",
    "ByteLevel",
    "Bytes",
    "Decoder",
    "DecoderSequence",
    "Fuse",
    "Metaspace",
    "Replace",
    "Strip",
    "WordPiece",
    "decode_tokens",
]

DECODERS: dict[str, type[Decoder]] = {
    "BPEDecoder": BPEDecoder,
    "ByteFallback": ByteFallback,
    "ByteLevel": ByteLevel,
    "CTC": CTC,
    "Fuse": Fuse,
    "Metaspace": Metaspace,
    "Replace": Replace,
    "Sequence": DecoderSequence,
    "Strip": Strip,
    "WordPiece": WordPiece,
}
"""The "type" in a tokenizer.json -> the class; its dataclass fields are the other keys."""


def decode_tokens(decoder: Decoder | None, tokens: list[str], errors: str = "replace") -> str:
    """The text of `tokens`; without a decoder they are joined by spaces, as Hugging Face does.

    With `errors="surrogateescape"` the result's `.encode("utf-8", "surrogateescape")` has every byte of the tokens.

    >>> decode_tokens(ByteLevel(), ["Ġcaf", "Ã"], "surrogateescape")
    ' caf\\udcc3'

    Raises ValueError for other `errors`, and TextTooLongError for a decoder that makes a text of more than 1 Mi
    characters from a shorter one.
    """
    if errors not in ("replace", "surrogateescape"):
        raise ValueError(f'errors is "replace" or "surrogateescape", not {errors!r}')
    return " ".join(tokens) if decoder is None else "".join(decoder.decode_chain(tokens, errors))
