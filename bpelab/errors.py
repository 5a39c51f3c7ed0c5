"""The exceptions of bpelab: one family, so that `except BPELabError` catches them all."""


class BPELabError(Exception):
    """Base of every error that bpelab raises on purpose."""


class TokenizerFileError(BPELabError, ValueError):
    """A tokenizer file can't be read. The message names the file, the key or line in it, and what to do."""

    def __init__(self, path: object, where: str, problem: str) -> None:
        super().__init__(f"{path}: {where}: {problem}" if where else f"{path}: {problem}")
        self.path, self.where, self.problem = str(path), where, problem

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.path, self.where, self.problem)


class ModelError(BPELabError, ValueError):
    """Tokens and merges that don't fit together."""


class PatternError(BPELabError, ValueError):
    """A pre-tokenization pattern that can't be used."""


class TrainingError(BPELabError, ValueError):
    """A corpus or a vocabulary size that training can't use."""


class VocabularyError(BPELabError, ValueError):
    """A token that can't be removed from a vocabulary, or vocabularies that can't be combined."""


class CorpusError(BPELabError, ValueError):
    """A file of texts that can't be read. The message names the file, the line or row, the field, and what to do."""


class ShardsError(BPELabError, ValueError):
    """A folder of shards that can't be written, resumed or trusted. The message says what to do."""


class SpecialTokenError(BPELabError, ValueError):
    """A special token that collides with another token, or that occurs in a text although it isn't allowed there."""


class UnknownTokenError(BPELabError, KeyError):
    """An id or a token that isn't in the vocabulary."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0])


class ConversionError(BPELabError, ValueError):
    """A tokenizer that the target format can't hold."""


class PublishingError(BPELabError, RuntimeError):
    """A tokenizer's folder that can't be written or uploaded. The message says what to do."""


class ConversationError(BPELabError, ValueError):
    """An invalid conversation. The error names the message in it, by number, and the key."""


class TemplateError(BPELabError, ValueError):
    """A chat template that can't be used, that exceeds a limit, or that rejects the conversation.

    Attributes:
        problem: what is wrong.
        line: the line of the template, or None if unknown.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(f"the chat template, line {line}: {problem}" if line else f"the chat template: {problem}")
        self.problem, self.line = problem, line

    def __reduce__(self) -> tuple[type, tuple[str, int | None]]:
        return type(self), (self.problem, self.line)


class ModelFileError(BPELabError, ValueError):
    """A language model's files that can't be loaded. The message names the file, the problem and what to do."""


class BackendError(BPELabError, RuntimeError):
    """A backend that can't run here, or that failed while running. The message says what to do."""


class ClusterError(BPELabError, RuntimeError):
    """A Dask cluster that can't be reached, or that failed while working. The message says what to do."""


class MissingDependencyError(BPELabError, ImportError):
    """A required package isn't installed. The message says how to install it."""
