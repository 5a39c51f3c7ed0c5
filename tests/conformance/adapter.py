"""bpelab as the conformance kit sees a tokenizer: `load(folder)` and an object that encodes and decodes."""

import json
from collections.abc import Iterator
from pathlib import Path

from bpelab import BPEModel, BPETokenizer, StreamDecoder, StreamEncoder
from bpelab.formats.tiktoken_file import read_ranks


def load(path: str) -> "Adapter":
    """The tokenizer in a folder of the kit: a .tiktoken file with encoding.json, or a tokenizer.json."""
    folder = Path(path)
    description = folder / "encoding.json"
    if not description.exists():
        return HuggingFaceAdapter(BPETokenizer.from_pretrained(folder))
    data = json.loads(description.read_text(encoding="utf-8"))
    name = data.get("ranks") or f"{data['public']}.tiktoken"
    model = BPEModel.from_ranks(read_ranks(folder / name))
    return Adapter(BPETokenizer(model, pattern=data["pat_str"], special_tokens=data["special_tokens"]))


class Adapter:
    def __init__(self, tokenizer: BPETokenizer) -> None:
        self.tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, allowed_special="all", add_special_tokens=False)

    def encode_ordinary(self, text: str) -> list[int]:
        return self.tokenizer.encode_ordinary(text)

    def encode_strict(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, disallowed_special="all")

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids)

    def stream_encode(self, chunks: list[str]) -> Iterator[list[int]]:
        return StreamEncoder(self.tokenizer, allowed_special="all", add_special_tokens=False).stream(chunks)

    def stream_decode(self, ids: list[int]) -> Iterator[str]:
        return StreamDecoder(self.tokenizer).stream(ids)


class HuggingFaceAdapter(Adapter):
    """tiktoken neither skips special tokens in decoding nor puts any around a text; Hugging Face does."""

    def decode_skip(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=True)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return self.tokenizer.encode_with_offsets(text, allowed_special="all", add_special_tokens=False)[1]

    def encode_full(self, text: str) -> list[int]:
        """With all that the file asks for: truncation, the post-processor's tokens, padding."""
        tokenizer, ids = self.tokenizer, self.encode(text)
        around = tokenizer.spec.resolved_post_processor
        if tokenizer.spec.truncation is not None:
            ids = tokenizer.spec.truncation.apply(ids, 0 if around is None else around.added)
        if around is not None:
            ids = around.apply(ids)
        return ids if tokenizer.spec.padding is None else tokenizer.spec.padding.apply(ids)
