"""Streaming: encode text and decode ids that arrive in parts, with the same result as for the whole.

Each component of a tokenizer is a stage that holds text back until nothing that follows can change its result.
Normalizers and decoders define their stages (`texts/stages.py` has the interface). It may import `core` and the
components. Begin with `pipeline.py`; `encoder.py` has `StreamEncoder`, `decoder.py` has `StreamDecoder`. Chapter:
Streaming.
"""

from .decoder import StreamDecoder
from .encoder import StreamEncoder, encode_iterable

__all__ = ["StreamDecoder", "StreamEncoder", "encode_iterable"]
