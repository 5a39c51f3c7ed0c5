"""Libraries that load the tokenizer.json of a vocabulary, or of most vocabularies."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from .base import Peer, Vocabulary, open_plain

if TYPE_CHECKING:
    from .base import Batch, Ids


class Snaptokens(Peer):
    name = package = module = "snaptokens"
    calls: ClassVar = {
        "load": "Tokenizer.from_file(plain.json), the tokenizer.json with the pattern in its published spelling",
        "fresh": "from snaptokens import Tokenizer\n"
        "tokenizer = Tokenizer.from_file(FOLDER + '/plain.json')\n"
        "encode = lambda text: tokenizer.encode(text).ids",
        "list": "encode(text).ids",
        "array": "encode_batch_flat([text]), as an array without a copy",
        "batch list": "encode_batch, in RAYON_NUM_THREADS threads, and each row's ids",
        "batch array": "encode_batch_flat, as arrays without a copy, in RAYON_NUM_THREADS threads",
        "decode list": "decode",
        "decode array": "decode(ids.tolist())",
    }
    lacks: ClassVar = {"train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        from snaptokens import Tokenizer

        self._tokenizer = open_plain(Tokenizer, vocabulary)
        self.decode_list = self._tokenizer.decode

    def encode_list(self, text: str) -> list[int]:
        return self._tokenizer.encode(text).ids

    def encode_array(self, text: str) -> "Ids":
        import numpy as np

        return np.frombuffer(self._tokenizer.encode_batch_flat([text])[0], np.uint32)

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return [row.ids for row in self._tokenizer.encode_batch(texts)]

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        import numpy as np

        ids, offsets = self._tokenizer.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64).view(np.int64)


class Kitoken(Peer):
    name = package = module = "kitoken"
    requires = ()
    calls: ClassVar = {
        "load": "Kitoken.from_tokenizers_file(tokenizer.json)",
        "fresh": "from kitoken import Kitoken\n"
        "encode = Kitoken.from_tokenizers_file(FOLDER + '/tokenizer.json').encode",
        "list": "encode",
        "batch list": "encode_all, in one thread",
        "decode list": "decode(ids).decode()",
        "decode array": "decode(ids.tolist()).decode()",
    }
    lacks: ClassVar = {"array": "lists only", "batch array": "lists only", "train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        from kitoken import Kitoken as Tokenizer

        self._tokenizer = Tokenizer.from_tokenizers_file(str(Path(vocabulary.folder, "tokenizer.json")))
        self.encode_list = self._tokenizer.encode

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return self._tokenizer.encode_all(list(texts))

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids).decode()


class Tokie(Peer):
    name = package = module = "tokie"
    calls: ClassVar = {
        "load": "Tokenizer.from_json(tokenizer.json)",
        "fresh": "from tokie import Tokenizer\n"
        "tokenizer = Tokenizer.from_json(FOLDER + '/tokenizer.json')\n"
        "encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids",
        "list": "encode(text, add_special_tokens=False).ids",
        "batch list": "encode_batch, in RAYON_NUM_THREADS threads",
        "decode list": "decode",
        "decode array": "decode(ids.tolist())",
    }
    lacks: ClassVar = {"array": "lists only", "batch array": "lists only", "train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        from tokie import Tokenizer

        self._tokenizer = Tokenizer.from_json(str(Path(vocabulary.folder, "tokenizer.json")))

    def encode_list(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids) or ""  # None for invalid UTF-8

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return [row.ids for row in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
