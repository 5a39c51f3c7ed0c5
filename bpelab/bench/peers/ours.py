"""This library: compiled, as it comes, and by the definition in pure Python."""

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, ClassVar

from .base import Peer, Vocabulary, documents

if TYPE_CHECKING:
    from .base import Batch, Ids


class _Ours(Peer):
    package, module = "bpelab", "bpelab"
    encoder: ClassVar[str]

    def __init__(self, vocabulary: Vocabulary) -> None:
        from ... import BPETokenizer

        if vocabulary.published:
            self._tokenizer = BPETokenizer.from_tiktoken(vocabulary.name, encoder=self.encoder)
        else:
            self._tokenizer = BPETokenizer.from_pretrained(vocabulary.folder, encoder=self.encoder)
        self.encode_list = self._tokenizer.encode  # bound once: nothing of the adapter is in the time of a short call

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)


class Bpelab(_Ours):
    name = "bpelab"
    needs = ("numpy", "numba")
    encoder = "compiled"
    imports = ("bpelab.tokenizer", "bpelab.formats.tiktoken", "bpelab.compiled.engine")
    calls: ClassVar = {
        "load": "BPETokenizer.from_tiktoken(name, encoder='compiled')",
        "list": "encode",
        "array": "encode_array",
        "batch list": "encode_batch",
        "batch array": "encode_batch_array; without it, encode_array for each",
        "decode list": "decode",
        "decode array": "decode",
        "train": "BPETokenizer.train(documents, size, pattern='gpt2', trainer='compiled' if there is one, else 'auto')",
    }

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self.encode_array = self._tokenizer.encode_array
        self._threads = "threads" in signature(self._tokenizer.encode_batch).parameters
        self._flat = getattr(self._tokenizer, "encode_batch_array", None)

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        options = {"threads": threads} if self._threads else {}
        return self._tokenizer.encode_batch(texts, **options)

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        import numpy as np

        if self._flat is not None:
            ids, offsets = self._flat(texts, threads=threads)
            return ids, offsets
        rows = [self.encode_array(text) for text in texts]
        return np.concatenate(rows), np.cumsum([0, *map(len, rows)])

    def decode_array(self, ids: "Ids") -> str:
        return self._tokenizer.decode(ids)

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        from ... import TRAINERS, BPETokenizer

        trainer = "compiled" if "compiled" in TRAINERS else "auto"
        learned = BPETokenizer.train(documents(path), size, pattern="gpt2", trainer=trainer, progress=False)
        return set(learned.get_vocab())


class BpelabAuto(_Ours):
    """As it comes: in Python, and compiled for long texts only."""

    name, encoder = "bpelab (auto)", "auto"
    imports = ("bpelab.tokenizer", "bpelab.formats.tiktoken")
    calls: ClassVar = {"load": "BPETokenizer.from_tiktoken(name)", "list": "encode", "decode list": "decode"}
    lacks: ClassVar = dict.fromkeys(("array", "batch list", "batch array", "decode array", "train"), "as bpelab")


class Naive(_Ours):
    """As in minbpe: the pieces, one after the other, each by scanning for the best pair; nothing is remembered."""

    name, encoder = "naive Python", "naive"
    part = 16
    calls: ClassVar = {"load": "BPETokenizer(model, pattern=..., encoder='naive', cache_size=0)", "list": "encode"}
    lacks: ClassVar = dict.fromkeys(("array", "batch list", "batch array", "decode array", "train"), "lists only")

    def __init__(self, vocabulary: Vocabulary) -> None:
        from ... import BPETokenizer

        super().__init__(vocabulary)
        model = self._tokenizer.model
        self._tokenizer = BPETokenizer(model, pattern=vocabulary.pattern, encoder="naive", cache_size=0)
        self.encode_list = self._tokenizer.encode
