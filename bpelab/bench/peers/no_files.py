"""Libraries without a vocabulary file: they ship OpenAI's encodings (quicktok could import others), or only train."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .base import Peer, Unsupported, Vocabulary, published_name, read_chunks

if TYPE_CHECKING:
    from .base import Batch, Ids

BOTH = ("cl100k_base", "o200k_base")


def split_rows(flat: "Ids", offsets: Any) -> list[list[int]]:
    """Split a flat array of ids into rows, as lists."""
    ids, ends = flat.tolist(), offsets.tolist()
    return [ids[begin:end] for begin, end in zip(ends, ends[1:])]


class Quicktok(Peer):
    name, package, module = "quicktok", "quicktok-v1", "quicktok"
    calls: ClassVar = {
        "load": "Tokenizer(name, ''), since get_encoding gives the same object each time",
        "fresh": "import quicktok; encode = quicktok.get_encoding(NAME).encode_ordinary",
        "list": "encode_ordinary",
        "array": "encode_batch([text], 1)[0], its only call that gives an array",
        "batch list": "encode_batch, and each row's tolist()",
        "batch array": "encode_batch",
        "decode list": "decode",
        "decode array": "decode(ids.tolist()), four times as fast as decode(ids)",
    }
    lacks: ClassVar = {"train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        import quicktok

        self._tokenizer = quicktok.Tokenizer(published_name(vocabulary, BOTH), "")
        self.encode_list = self._tokenizer.encode_ordinary
        self.decode_list = self._tokenizer.decode

    def encode_array(self, text: str) -> "Ids":
        ids: Ids = self._tokenizer.encode_batch([text], 1)[0]
        return ids

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        ids, offsets = self._tokenizer.encode_batch(texts, threads)
        return ids, offsets

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return split_rows(*self._tokenizer.encode_batch(texts, threads))


class Toktok(Peer):
    name, package, module = "toktok", "toktok-rs", "toktok"
    calls: ClassVar = {
        "load": "toktok._toktok.Tokenizer(name, ''): its public functions only count",
        "fresh": "from toktok._toktok import Tokenizer; encode = Tokenizer(NAME, '').encode_ordinary",
        "list": "encode_ordinary",
        "array": "encode_batch_to_numpy([text], 1)[0]",
        "batch list": "encode_batch_to_numpy, and each row's tolist()",
        "batch array": "encode_batch_to_numpy",
        "decode list": "decode",
        "decode array": "decode(ids.tolist())",
    }
    lacks: ClassVar = {"train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        from toktok._toktok import Tokenizer

        self._tokenizer = Tokenizer(published_name(vocabulary, BOTH), "")
        self.encode_list = self._tokenizer.encode_ordinary
        self.decode_list = self._tokenizer.decode

    def encode_array(self, text: str) -> "Ids":
        return self._tokenizer.encode_batch_to_numpy([text], 1)[0]

    def batch_array(self, texts: Sequence[str], threads: int) -> "Batch":
        ids, offsets = self._tokenizer.encode_batch_to_numpy(texts, threads)
        return ids, offsets

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        return split_rows(*self.batch_array(texts, threads))


class RsBpe(Peer):
    name, package, module = "rs-bpe", "rs-bpe", "rs_bpe"
    imports = ("rs_bpe.bpe",)
    calls: ClassVar = {
        "load": "bpe.openai.cl100k_base(), which loads once a process; it keeps no cache of pieces",
        "list": "encode",
        "batch list": "encode_batch_parallel with ParallelOptions(1, rows per thread, threads)",
        "decode list": "decode",
        "decode array": "decode(ids.tolist()), faster than decode(ids)",
    }
    lacks: ClassVar = {"array": "lists only", "batch array": "lists only", "train": "does not train"}

    def __init__(self, vocabulary: Vocabulary) -> None:
        from rs_bpe.bpe import openai  # `rs_bpe.openai` is a module of the same name that fails to import some names

        name = published_name(vocabulary, BOTH)
        self._openai, self._tokenizer = openai, getattr(openai, name)()
        self.encode_list = self._tokenizer.encode
        self.decode_list = self._tokenizer.decode

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        if threads == 1:  # it starts at least two threads
            return [self.encode_list(text) for text in texts]
        options = self._openai.ParallelOptions(1, max(1, len(texts) // threads), threads)
        rows: list[list[int]] = self._tokenizer.encode_batch_parallel(list(texts), options)[0]
        return rows


class BpeOpenAI(Peer):
    name, package, module = "bpe-openai", "bpe-openai", "bpe_openai"
    calls: ClassVar = {
        "load": "get_encoding(name); it keeps no cache of pieces",
        "list": "encode_ordinary",
        "batch list": "encode_ordinary_batch(texts, num_threads=...)",
        "decode list": "decode",
        "decode array": "decode(ids.tolist()), faster than decode(ids)",
    }
    lacks: ClassVar = {
        "array": "encode_to_numpy makes a list first",
        "batch array": "lists only",
        "train": "does not train",
    }

    def __init__(self, vocabulary: Vocabulary) -> None:
        import bpe_openai

        self._tokenizer = bpe_openai.get_encoding(published_name(vocabulary, BOTH))
        self.encode_list = self._tokenizer.encode_ordinary
        self.decode_list = self._tokenizer.decode

    def batch_list(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        rows: list[list[int]] = self._tokenizer.encode_ordinary_batch(texts, num_threads=threads)
        return rows


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
