"""The libraries with the reference ids: tiktoken, and Hugging Face's tokenizers for files that tiktoken can't load.

Adapters use the calls for plain text (encode_ordinary and the like): no benchmark text contains special tokens.
"""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from .base import Peer, Unsupported, Vocabulary, open_plain, read_chunks

if TYPE_CHECKING:
    from .base import Ids


class Tiktoken(Peer):
    name = package = module = "tiktoken"
    calls: ClassVar = {
        "load": "get_encoding(name), from its own cache of files",
        "fresh": "import tiktoken; encode = tiktoken.get_encoding(NAME).encode_ordinary",
        "list": "encode_ordinary",
        "array": "encode_to_numpy(text, disallowed_special=())",
        "batch list": "encode_ordinary_batch(texts, num_threads=...)",
        "decode list": "decode",
        "decode array": "decode(ids.tolist()), faster than decode(ids)",
    }
    lacks: ClassVar = {"batch array": "lists only", "train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        import tiktoken

        if vocabulary.published:
            tiktoken.registry.ENCODINGS.pop(vocabulary.name, None)  # so that each object is new
            self._encoding = tiktoken.get_encoding(vocabulary.name)
        elif not vocabulary.ranks:
            raise Unsupported("gives other ids: it has no normalizer, and byte-level vocabularies only")
        else:
            from ... import BPETokenizer

            self._encoding = BPETokenizer.from_pretrained(vocabulary.folder).to_tiktoken(vocabulary.name)
        self.encode_list = self._encoding.encode_ordinary
        self.decode_list = self._encoding.decode

    def encode_array(self, text: str) -> "Ids":
        ids: Ids = self._encoding.encode_to_numpy(text, disallowed_special=())
        return ids

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        rows: list[list[int]] = self._encoding.encode_ordinary_batch(list(texts), num_threads=threads)
        return rows


class HuggingFace(Peer):
    name = package = module = "tokenizers"
    calls: ClassVar = {
        "load": "Tokenizer.from_file(tokenizer.json)",
        "fresh": "from tokenizers import Tokenizer\n"
        "tokenizer = Tokenizer.from_file(FOLDER + '/tokenizer.json')\n"
        "encode = lambda text: tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids",
        "list": "encode_batch_fast([text])[0].ids, which is faster than encode: it keeps no offsets",
        "batch list": "encode_batch_fast, in RAYON_NUM_THREADS threads",
        "decode list": "decode(ids, skip_special_tokens=False)",
        "decode array": "decode(ids.tolist(), ...), faster than decode(ids)",
        "train": "train_from_iterator(documents, BpeTrainer), pre-tokenizer ByteLevel: the pattern of GPT-2",
    }
    lacks: ClassVar = {"array": "lists only", "batch array": "lists only"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(Path(vocabulary.folder, "tokenizer.json")))

    def encode_list(self, text: str) -> list[int]:
        return self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        rows = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [row.ids for row in rows]

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False)

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        from tokenizers import Tokenizer, models, pre_tokenizers, trainers

        from ...unicode.byte_alphabet import from_alphabet

        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=size, initial_alphabet=alphabet, show_progress=False, min_frequency=2, special_tokens=[]
        )
        tokenizer.train_from_iterator(read_chunks(path), trainer)
        return set(map(from_alphabet, tokenizer.get_vocab()))


FOLDER_1 = "BPELAB_BENCH_TOKENIZERS_1"
"""The environment variable for a folder with tokenizers 1.0: one environment can't have two versions."""


class HuggingFace1(Peer):
    """The release candidate of tokenizers 1.0, for encoding and decoding only."""

    name, package, module = "tokenizers 1.0", "tokenizers", "tokenizers"
    calls: ClassVar = {
        "load": "Tokenizer.from_file(plain.json), the tokenizer.json with the pattern in its published spelling",
        "fresh": f"import os, sys; sys.path.insert(0, os.environ['{FOLDER_1}'])\n"
        "from tokenizers import Tokenizer\n"
        "tokenizer = Tokenizer.from_file(FOLDER + '/plain.json')\n"
        "encode = lambda text: tokenizer.encode(text, add_special_tokens=False).ids",
        "list": "encode(text).ids",
        "array": "encode(text).ids_array",
        "batch list": "encode_batch, and each row's ids",
        "decode list": "decode(ids, skip_special_tokens=False)",
        "decode array": "decode(ids, skip_special_tokens=False)",
    }
    lacks: ClassVar = {"batch array": "an array for each text only", "train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokenizer = open_plain(_tokenizers_1().Tokenizer, vocabulary)

    def encode_list(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def encode_array(self, text: str) -> "Ids":
        return self._tokenizer.encode(text, add_special_tokens=False).ids_array

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return [row.ids for row in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def decode_list(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False)

    def decode_array(self, ids: "Ids") -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False)

    @classmethod
    def why_unavailable(cls) -> str | None:
        if cls.version() is not None:
            return None
        return f"not installed: pip install --no-deps --target FOLDER tokenizers==1.0.0rc3, and {FOLDER_1}=FOLDER"

    @classmethod
    def version(cls) -> str | None:
        folder = os.environ.get(FOLDER_1)
        installed = metadata.distributions(name="tokenizers", path=[folder]) if folder else ()
        return next((one.version for one in installed if one.version.startswith("1.")), None)

    @classmethod
    def import_all(cls) -> None:
        import_module("numpy")
        _tokenizers_1()


@cache
def _tokenizers_1() -> Any:
    """Import tokenizers 1.0 beside the installed version, which keeps the name `tokenizers`."""
    folder = os.environ[FOLDER_1]
    others = _take_modules()
    sys.path.insert(0, folder)
    try:
        return import_module("tokenizers")
    finally:
        sys.path.remove(folder)
        _take_modules()
        sys.modules.update(others)


def _take_modules() -> dict[str, Any]:
    """Remove tokenizers and its submodules from the imported modules, and return them."""
    names = [name for name in sys.modules if name.partition(".")[0] == "tokenizers"]
    return {name: sys.modules.pop(name) for name in names}
