"""Decoders: turn tokens, as a file writes them, back into text.

The names, fields and results are those of Hugging Face's tokenizers. `DECODERS` maps each "type" of a tokenizer.json
to its class. It may import `normalizers`, `pretokenizers` and `unicode`. Begin with `base.py`. Chapter: File formats.
"""

from .._support.lazy_imports import lazy_attributes
from .base import Decoder as Decoder
from .bytes import ByteFallback as ByteFallback, ByteLevel as ByteLevel, Bytes as Bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .registry import DECODERS as DECODERS
    from .texts import DecoderSequence as DecoderSequence, Fuse as Fuse, Replace as Replace, Strip as Strip
    from .words import CTC as CTC, BPEDecoder as BPEDecoder, Metaspace as Metaspace, WordPiece as WordPiece

_HOMES = {
    "DECODERS": "registry",
    **dict.fromkeys(["DecoderSequence", "Fuse", "Replace", "Strip"], "texts"),
    **dict.fromkeys(["CTC", "BPEDecoder", "Metaspace", "WordPiece"], "words"),
}

__all__ = ["ByteFallback", "ByteLevel", "Bytes", "Decoder", "decode_tokens", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())


def decode_tokens(decoder: Decoder | None, tokens: list[str], errors: str = "replace") -> str:
    """Return the text of `tokens`; without a decoder, join them by spaces, as Hugging Face does.

    With `errors="surrogateescape"` the result's `.encode("utf-8", "surrogateescape")` has every byte of the tokens.

    >>> decode_tokens(ByteLevel(), ["Ġcaf", "Ã"], "surrogateescape")
    ' caf\\udcc3'

    Raises ValueError for other `errors`, and TextTooLongError if a decoder makes a text of more than 1 Mi
    characters from a shorter one.
    """
    if errors not in ("replace", "surrogateescape"):
        raise ValueError(f'errors is "replace" or "surrogateescape", not {errors!r}')
    return " ".join(tokens) if decoder is None else "".join(decoder.decode_chain(tokens, errors))
