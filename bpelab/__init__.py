"""bpelab: byte-pair encoding, exact and explained. README.md has a quick start.

Public names are loaded on first use, so `import bpelab` costs next to nothing.
"""

from ._support.lazy_imports import lazy_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .acceleration import accelerate as accelerate
    from .chat_templates.conversation import Conversation as Conversation
    from .encoders import ENCODERS as ENCODERS, NotBPELongestMatch as NotBPELongestMatch
    from .errors import (
        BackendError as BackendError,
        BPELabError as BPELabError,
        ClusterError as ClusterError,
        ConversationError as ConversationError,
        ConversionError as ConversionError,
        CorpusError as CorpusError,
        MissingDependencyError as MissingDependencyError,
        ModelError as ModelError,
        ModelFileError as ModelFileError,
        PatternError as PatternError,
        PublishingError as PublishingError,
        ShardsError as ShardsError,
        SpecialTokenError as SpecialTokenError,
        TemplateError as TemplateError,
        TokenizerFileError as TokenizerFileError,
        TrainingError as TrainingError,
        UnknownTokenError as UnknownTokenError,
        VocabularyError as VocabularyError,
    )
    from .model.bpe import BPEModel as BPEModel
    from .model.merge_recovery import recover_merges as recover_merges
    from .model.trace import trace_encode as trace_encode, trace_train as trace_train
    from .postprocessors import TemplateProcessing as TemplateProcessing
    from .pretokenizers import PATTERNS as PATTERNS, Split as Split
    from .streaming import (
        StreamDecoder as StreamDecoder,
        StreamEncoder as StreamEncoder,
        encode_iterable as encode_iterable,
    )
    from .tokenizer import BPETokenizer as BPETokenizer
    from .trainers import TRAINERS as TRAINERS
    from .trainers.superwords import Superwords as Superwords

__version__ = "0.1.0"

_HOMES = {
    "accelerate": "acceleration",
    "Conversation": "chat_templates.conversation",
    "BPETokenizer": "tokenizer",
    "BPEModel": "model.bpe",
    "ENCODERS": "encoders",
    "NotBPELongestMatch": "encoders",
    "TRAINERS": "trainers",
    "Superwords": "trainers.superwords",
    "PATTERNS": "pretokenizers",
    "Split": "pretokenizers",
    "TemplateProcessing": "postprocessors",
    "recover_merges": "model.merge_recovery",
    "StreamDecoder": "streaming",
    "StreamEncoder": "streaming",
    "encode_iterable": "streaming",
    "trace_encode": "model.trace",
    "trace_train": "model.trace",
    **dict.fromkeys(
        [
            "BPELabError",
            "BackendError",
            "ClusterError",
            "ConversationError",
            "ConversionError",
            "CorpusError",
            "MissingDependencyError",
            "ModelError",
            "ModelFileError",
            "PatternError",
            "PublishingError",
            "ShardsError",
            "SpecialTokenError",
            "TemplateError",
            "TokenizerFileError",
            "TrainingError",
            "UnknownTokenError",
            "VocabularyError",
        ],
        "errors",
    ),
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
