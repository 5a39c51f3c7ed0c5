"""This library: with its C extension, without it, and with the naive encoder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from .base import Peer, Unsupported, Vocabulary, read_chunks, transition_point

if TYPE_CHECKING:
    from .base import Batch, Ids

MOST_BYTES = 100_000_000
"""The size of the largest text from which superwords are learned in Python."""


class _Ours(Peer):
    package, module = "bpelab", "bpelab"
    encoder: ClassVar[str]
    trainer: ClassVar[str] = "auto"

    def __init__(self, vocabulary: Vocabulary) -> None:
        from ... import BPETokenizer

        if vocabulary.published:
            self._tokenizer = BPETokenizer.from_tiktoken(vocabulary.name, encoder=self.encoder)
        else:
            self._tokenizer = BPETokenizer.from_pretrained(vocabulary.folder, encoder=self.encoder)
        self.encode_list = self._tokenizer.encode  # bound once: no time of the adapter is in a short call
        if not vocabulary.ranks:  # its file may put special tokens around each text
            self.encode_list = partial(self._tokenizer.encode, add_special_tokens=False)

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)

    @classmethod
    def version(cls) -> str | None:
        from ... import __version__

        return __version__  # the version of this code, even if it isn't installed

    @classmethod
    def train_superwords(cls, path: str, size: int) -> set[bytes]:
        from ... import BPETokenizer, Superwords

        superwords = Superwords(transition=transition_point(size))
        learned = BPETokenizer.train(Path(path), size, superwords=superwords, trainer=cls.trainer, progress=False)
        return set(learned.get_vocab())


class Bpelab(_Ours):
    name = "bpelab"
    requires = ("numpy", "bpelab.native._core")
    encoder, trainer = "auto", "native"
    imports = ("bpelab.tokenizer", "bpelab.formats.tiktoken_registry", "bpelab.native._core")
    calls: ClassVar = {
        "load": "BPETokenizer.from_tiktoken(name)",
        "fresh": "from bpelab import BPETokenizer; encode = BPETokenizer.from_tiktoken(NAME).encode",
        "list": "encode",
        "array": "encode_array",
        "batch list": "encode_batch",
        "batch array": "encode_batch_array",
        "decode list": "decode",
        "decode array": "decode",
        "train": "BPETokenizer.train(path, size, pattern='gpt2', trainer='native')",
        "superwords": "BPETokenizer.train(path, size, superwords=Superwords(transition=...), trainer='native')",
    }

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self.encode_array = self._tokenizer.encode_array

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return self._tokenizer.encode_batch(texts, threads=threads)

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        return self._tokenizer.encode_batch_array(texts, threads=threads)

    def decode_array(self, ids: "Ids") -> str:
        return self._tokenizer.decode(ids)

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        from ... import BPETokenizer

        learned = BPETokenizer.train(Path(path), size, pattern="gpt2", trainer="native", progress=False)
        return set(learned.get_vocab())


class BpelabPython(_Ours):
    """bpelab without its C extension."""

    name, encoder, trainer = "bpelab (Python)", "heap", "incremental"
    imports = ("bpelab.tokenizer", "bpelab.formats.tiktoken_registry")
    calls: ClassVar = {
        "load": "BPETokenizer.from_tiktoken(name, encoder='heap')",
        "list": "encode",
        "train": "BPETokenizer.train(documents, size, pattern='gpt2', trainer='incremental')",
        "superwords": "BPETokenizer.train(path, size, superwords=Superwords(transition=...), trainer='incremental')",
    }
    lacks: ClassVar = dict.fromkeys(("array", "batch list", "batch array", "decode list", "decode array"), "as bpelab")

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        from ... import BPETokenizer

        learned = BPETokenizer.train(read_chunks(path), size, pattern="gpt2", trainer="incremental", progress=False)
        return set(learned.get_vocab())

    @classmethod
    def train_superwords(cls, path: str, size: int) -> set[bytes]:
        if Path(path).stat().st_size > MOST_BYTES:
            raise Unsupported(f"takes 1.5 s for a megabyte; measured up to {MOST_BYTES / 1e6:g} MB")
        return super().train_superwords(path, size)


class Naive(_Ours):
    """bpelab's naive encoder, like minbpe's: it scans each piece for the best pair, with no cache."""

    name, encoder = "naive Python", "naive"
    part = 16
    calls: ClassVar = {"load": "BPETokenizer(model, pattern=..., encoder='naive', cache_size=0)", "list": "encode"}
    lacks: ClassVar = dict.fromkeys(("array", "batch list", "batch array", "decode array", "train"), "lists only")

    def __init__(self, vocabulary: Vocabulary) -> None:
        from ... import BPETokenizer

        if not vocabulary.ranks:
            raise Unsupported("measured with byte-level vocabularies only")
        super().__init__(vocabulary)
        model = self._tokenizer.model
        self._tokenizer = BPETokenizer(model, pattern=vocabulary.pattern, encoder="naive", cache_size=0)
        self.encode_list = self._tokenizer.encode
