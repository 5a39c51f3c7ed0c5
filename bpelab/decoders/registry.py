"""Registry of decoders, keyed by the "type" in tokenizer.json; their dataclass fields are its other keys."""

from .base import Decoder
from .byte_fallback import ByteFallback
from .byte_level import ByteLevel
from .metaspace import Metaspace
from .strip import Strip
from .texts import DecoderSequence, Fuse, Replace
from .words import CTC, BPEDecoder, WordPiece

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
