"""Encoding and decoding as text and ids arrive: see `StreamEncoder` and `StreamDecoder`. Chapter: Streaming."""

from .decoder import StreamDecoder
from .encoder import StreamEncoder, encode_iterable

__all__ = ["StreamDecoder", "StreamEncoder", "encode_iterable"]
