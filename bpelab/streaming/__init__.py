"""Streams: encoding and decoding of text and ids that arrive in parts, with the ids and the text of the whole.

Each component of a tokenizer is a stage that keeps text back until nothing that follows can change it: normalizers and
decoders say which (`texts/stages.py` has the interface). It may import `core` and the components. Begin with
`pipeline.py`; `encoder.py` has `StreamEncoder`, `decoder.py` has `StreamDecoder`. Chapter: Streaming.
"""

from .decoder import StreamDecoder
from .encoder import StreamEncoder, encode_iterable

__all__ = ["StreamDecoder", "StreamEncoder", "encode_iterable"]
