"""The decoders by their "type" in a tokenizer.json; their dataclass fields are its other keys."""

from .base import Decoder
from .bytes import ByteFallback, ByteLevel
from .texts import DecoderSequence, Fuse, Replace, Strip
from .words import CTC, BPEDecoder, Metaspace, WordPiece

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
