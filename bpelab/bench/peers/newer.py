"""Libraries first published in 2025 and 2026 that load files of a vocabulary; and gigabpe, which only trains."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from .base import Peer, Unsupported, Vocabulary

if TYPE_CHECKING:
    from .base import Ids


class Iree(Peer):
    name = "iree"
    package, module = "iree-tokenizer", "iree.tokenizer"
    calls: ClassVar = {
        "load": "Tokenizer.from_tiktoken(ranks, encoding=name)",
        "fresh": "from iree.tokenizer import Tokenizer; encode = Tokenizer.from_tiktoken(RANKS, encoding=NAME).encode",
        "list": "encode",
        "array": "encode_to_array",
        "batch list": "encode_batch, in one thread",
        "decode list": "decode",
        "decode array": "decode(ids.tolist())",
    }
    lacks: ClassVar = {"batch array": "lists only", "train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        if not vocabulary.published:
            raise Unsupported("knows the patterns of OpenAI's encodings by name; its own engine lacks their lookahead")
        from iree.tokenizer import Tokenizer

        self._tokenizer = Tokenizer.from_tiktoken(vocabulary.ranks, encoding=vocabulary.name)
        self.encode_list = self._tokenizer.encode
        self.decode_list = self._tokenizer.decode

    def encode_array(self, text: str) -> "Ids":
        ids: Ids = self._tokenizer.encode_to_array(text).view("uint32")
        return ids

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return self._tokenizer.encode_batch(list(texts))


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


class Gigabpe(Peer):
    name = package = module = "gigabpe"
    requires = ()
    calls: ClassVar = {
        "train": "train_bpe([path], size, pretokenizer='bytelevel', min_frequency=2): GPT-2's pattern. It begins with "
        "the bytes of the text, not with all 256; tokens beyond `size` with all of them are left out"
    }
    lacks: ClassVar = {"list": "trains, and encodes nothing"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        raise Unsupported("trains, and encodes nothing")

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        import gigabpe

        from ...unicode.byte_alphabet import from_alphabet

        ids, _ = gigabpe.train_bpe([path], size, special_tokens=[], min_frequency=2, pretokenizer="bytelevel")
        tokens = dict.fromkeys(bytes([byte]) for byte in range(256))
        tokens.update(dict.fromkeys(map(from_alphabet, sorted(ids, key=ids.__getitem__))))
        return set(list(tokens)[:size])
