"""Post-processors add special tokens around the ids of a text, or of two, when the caller asks for them.

Each is named as its JSON `type` in Hugging Face's files and has its JSON keys as fields.
"""

from .base import Item, PostProcessor
from .processors import BertProcessing, ByteLevel, ProcessorSequence, RobertaProcessing
from .template import TemplateProcessing
from .template_pieces import TemplateToken

POST_PROCESSORS: dict[str, type[PostProcessor]] = {
    "BertProcessing": BertProcessing,
    "ByteLevel": ByteLevel,
    "RobertaProcessing": RobertaProcessing,
    "Sequence": ProcessorSequence,
    "TemplateProcessing": TemplateProcessing,
}
"""Hugging Face's `type` -> class."""

__all__ = [
    "POST_PROCESSORS",
    "BertProcessing",
    "ByteLevel",
    "Item",
    "PostProcessor",
    "ProcessorSequence",
    "RobertaProcessing",
    "TemplateProcessing",
    "TemplateToken",
]
