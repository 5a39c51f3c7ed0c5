"""Post-processors: add special tokens around the ids of a text, or of two, when the caller asks for them.

Each has the name of its JSON `type` in Hugging Face's files, and the JSON keys as fields. It may import `_support`.
Begin with `base.py`, which says what a post-processor receives and returns.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes
from .base import PostProcessor as PostProcessor, Segment as Segment

if TYPE_CHECKING:
    from .processors import (
        BertProcessing as BertProcessing,
        ByteLevel as ByteLevel,
        ProcessorSequence as ProcessorSequence,
        RobertaProcessing as RobertaProcessing,
    )
    from .registry import POST_PROCESSORS as POST_PROCESSORS
    from .template import TemplateProcessing as TemplateProcessing
    from .template_pieces import TemplateToken as TemplateToken

_HOMES = {
    "POST_PROCESSORS": "registry",
    **dict.fromkeys(["BertProcessing", "ByteLevel", "ProcessorSequence", "RobertaProcessing"], "processors"),
    "TemplateProcessing": "template",
    "TemplateToken": "template_pieces",
}

__all__ = ["PostProcessor", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
