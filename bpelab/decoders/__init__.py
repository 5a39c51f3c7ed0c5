"""Decoders: turn tokens, as a file writes them, back into text.

The names, fields and results are those of Hugging Face's tokenizers. `DECODERS` maps each "type" of a tokenizer.json
to its class. It may import `normalizers`, `pretokenizers`, `texts` and `unicode`. Begin with `base.py`. Chapter: File
formats.
"""

from .._support.lazy_imports import lazy_attributes
from .base import Decoder as Decoder
from .byte_level import ByteLevel as ByteLevel, Bytes as Bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .byte_fallback import ByteFallback as ByteFallback
    from .metaspace import Metaspace as Metaspace
    from .registry import DECODERS as DECODERS
    from .strip import Strip as Strip
    from .texts import DecoderSequence as DecoderSequence, Fuse as Fuse, Replace as Replace
    from .words import CTC as CTC, BPEDecoder as BPEDecoder, WordPiece as WordPiece

_HOMES = {
    "DECODERS": "registry",
    "ByteFallback": "byte_fallback",
    "Metaspace": "metaspace",
    "Strip": "strip",
    **dict.fromkeys(["DecoderSequence", "Fuse", "Replace"], "texts"),
    **dict.fromkeys(["CTC", "BPEDecoder", "WordPiece"], "words"),
}

__all__ = ["ByteLevel", "Bytes", "Decoder", "decode_tokens", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())


def decode_tokens(decoder: Decoder | None, tokens: list[str], errors: str = "replace") -> str:
    """Return the text of `tokens`; without a decoder, join them by spaces, as Hugging Face does.

    With `errors="surrogateescape"` the result's `.encode("utf-8", "surrogateescape")` has every byte of the tokens.

    >>> decode_tokens(ByteLevel(), ["Ġcaf", "Ã"], "surrogateescape")
    ' caf\\udcc3'

    Raises ValueError for other `errors`, and TextTooLongError if a decoder makes a text of more than 1 Mi characters
    from a shorter one.
    """
    if errors not in ("replace", "surrogateescape"):
        raise ValueError(f'errors is "replace" or "surrogateescape", not {errors!r}')
    return " ".join(tokens) if decoder is None else "".join(decoder.decode_chain(tokens, errors))
