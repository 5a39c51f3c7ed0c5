"""Libraries that load the .tiktoken file of a vocabulary; some also load a tokenizer.json."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...regex.patterns import PATTERNS
from .base import Peer, Unsupported, Vocabulary

if TYPE_CHECKING:
    from .base import Batch, Ids


class Gigatoken(Peer):
    name = package = module = "gigatoken"
    calls: ClassVar = {
        "load": "Tokenizer.from_tiktoken(ranks, pretokenizer, special tokens), or Tokenizer(tokenizer.json)",
        "fresh": "import gigatoken; encode = gigatoken.Tokenizer.from_tiktoken(RANKS, PATTERN, SPECIAL).encode",
        "list": "encode(text).tolist(), which is faster than encode_batch_list([text])[0]",
        "array": "encode",
        "batch list": "encode_batch_list(texts, parallel=threads > 1), in RAYON_NUM_THREADS threads",
        "batch array": "encode_batch(texts, parallel=threads > 1), the ids and offsets of its awkward array",
        "decode list": "decode(ids).decode()",
        "decode array": "decode(ids).decode()",
        "train": "train_bpe(text, size, []), which has the pattern of GPT-2",
    }

    def __init__(self, vocabulary: Vocabulary) -> None:
        from gigatoken import Tokenizer

        if not vocabulary.ranks:
            self._tokenizer = Tokenizer(Path(vocabulary.folder, "tokenizer.json"))
        elif vocabulary.pattern not in PATTERNS:
            raise Unsupported("has the patterns of known tokenizers built in, and takes no other")
        else:
            self._tokenizer = Tokenizer.from_tiktoken(vocabulary.ranks, vocabulary.pattern, vocabulary.special)
        self.encode_array = self._tokenizer.encode

    def encode_list(self, text: str) -> list[int]:
        return self._tokenizer.encode(text).tolist()

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return self._tokenizer.encode_batch_list(list(texts), parallel=threads > 1)

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        layout = self._tokenizer.encode_batch(list(texts), parallel=threads > 1).layout
        return layout.content.data, layout.offsets.data

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids).decode()

    def decode_array(self, ids: "Ids") -> str:
        return self._tokenizer.decode(ids).decode()

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        import gigatoken

        vocabulary, _ = gigatoken.train_bpe(Path(path).read_bytes(), size, [])
        return set(vocabulary.values())


class Splintr(Peer):
    name, package, module = "splintr", "splintr-rs", "splintr"
    calls: ClassVar = {
        "load": "Tokenizer.from_pretrained(name); its constructor for vocabularies that it doesn't bring along",
        "fresh": "import splintr; encode = splintr.Tokenizer.from_pretrained(NAME).encode_ordinary",
        "list": "encode_ordinary",
        "array": "encode_flat, as an array without a copy",
        "batch list": "encode_batch, in RAYON_NUM_THREADS threads",
        "batch array": "encode_batch_flat, as arrays without a copy, in RAYON_NUM_THREADS threads",
        "decode list": "decode",
        "decode array": "decode(ids.tolist()), faster than decode(ids)",
    }
    lacks: ClassVar = {"train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        import splintr

        if not vocabulary.ranks:
            raise Unsupported("reads .tiktoken files only")
        if vocabulary.pattern not in PATTERNS:
            raise Unsupported("drops what a pattern doesn't match")
        if vocabulary.name in ("cl100k_base", "o200k_base"):
            self._tokenizer: Any = splintr.Tokenizer.from_pretrained(vocabulary.name)
        else:  # tiktoken's spelling of the patterns has syntax that its regular expressions lack
            patterns = {"cl100k": splintr.CL100K_BASE_PATTERN, "gpt2": splintr.GPT2_PATTERN}
            if vocabulary.pattern not in patterns:
                raise Unsupported("has other patterns built in")
            self._tokenizer = splintr.Tokenizer(vocabulary.ranks, patterns[vocabulary.pattern], vocabulary.special)
        self.encode_list = self._tokenizer.encode_ordinary
        self.decode_list = self._tokenizer.decode

    def encode_array(self, text: str) -> "Ids":
        import numpy as np

        return np.frombuffer(self._tokenizer.encode_flat(text), np.uint32)

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return self._tokenizer.encode_batch(texts)

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        import numpy as np

        ids, offsets = self._tokenizer.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64).view(np.int64)


PRESETS = ("cl100k_base", "o200k_base")
"""Encodings that fastokens knows by name; it splits these with tables, and other patterns with a regex engine."""


class Fastokens(Peer):
    name = package = module = "fastokens"
    calls: ClassVar = {
        "load": "Tokenizer.from_tiktoken(ranks, pattern, special tokens), or Tokenizer.from_file(tokenizer.json)",
        "fresh": "import fastokens\n"
        "tokenizer = fastokens.Tokenizer.from_tiktoken(RANKS, special_tokens=SPECIAL, encoding=NAME)\n"
        "encode = lambda text: tokenizer.encode_ordinary(text).ids",
        "list": "encode_ordinary(text).ids",
        "array": "encode_batch_flat([text]), as an array without a copy",
        "batch list": "encode_batch, in RAYON_NUM_THREADS threads, and each row's ids",
        "batch array": "encode_batch_flat, as arrays without a copy, in RAYON_NUM_THREADS threads",
        "decode list": "decode",
        "decode array": "decode(ids.tolist()), faster than decode(ids)",
    }
    lacks: ClassVar = {"train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        from fastokens import Tokenizer

        if not vocabulary.ranks:
            self._tokenizer = Tokenizer.from_file(str(Path(vocabulary.folder, "tokenizer.json")))
            return
        named = PATTERNS.get(vocabulary.pattern)
        pattern = named.oniguruma if named else vocabulary.pattern  # any spelling will do; this one has no possessives
        known = {"encoding": vocabulary.name} if vocabulary.name in PRESETS else {"pattern": pattern}
        self._tokenizer = Tokenizer.from_tiktoken(vocabulary.ranks, special_tokens=vocabulary.special, **known)

    def encode_list(self, text: str) -> list[int]:
        return self._tokenizer.encode_ordinary(text).ids

    def encode_array(self, text: str) -> "Ids":
        import numpy as np

        return np.frombuffer(self._tokenizer.encode_batch_flat([text], split_special_tokens=True)[0], np.uint32)

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return [row.ids for row in self._tokenizer.encode_batch(texts, split_special_tokens=True)]

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        import numpy as np

        ids, offsets = self._tokenizer.encode_batch_flat(texts, split_special_tokens=True)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64).view(np.int64)

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids)


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
