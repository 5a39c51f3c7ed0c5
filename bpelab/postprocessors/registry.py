"""Registry of post-processors, keyed by the "type" in tokenizer.json; their dataclass fields are its other keys."""

from .base import PostProcessor
from .processors import BertProcessing, ByteLevel, ProcessorSequence, RobertaProcessing
from .template import TemplateProcessing

POST_PROCESSORS: dict[str, type[PostProcessor]] = {
    "BertProcessing": BertProcessing,
    "ByteLevel": ByteLevel,
    "RobertaProcessing": RobertaProcessing,
    "Sequence": ProcessorSequence,
    "TemplateProcessing": TemplateProcessing,
}
