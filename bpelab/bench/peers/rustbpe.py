"""rustbpe, which trains. It can encode with what it has trained, but it loads no vocabulary."""

from typing import ClassVar

from .base import Peer, Unsupported, Vocabulary, read_chunks


class Rustbpe(Peer):
    name, package, module = "rustbpe", "rustbpe", "rustbpe"
    requires = ()
    calls: ClassVar = {"train": "Tokenizer().train_from_iterator(documents, size, pattern=that of GPT-2)"}
    lacks: ClassVar = {"list": "loads no vocabulary"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        raise Unsupported("trains, and loads no vocabulary")

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        import rustbpe

        from ...pretokenizers import PATTERNS

        tokenizer = rustbpe.Tokenizer()
        tokenizer.train_from_iterator(read_chunks(path), size, pattern=PATTERNS["gpt2"].regex)
        return {bytes(token) for token, _ in tokenizer.get_mergeable_ranks()}
