"""A tokenizer of transformers read as its tokenizer.json would be, of which most stays as it is when a part is changed.

A vocabulary of 150,000 tokens takes a second to read, and who adds tokens, or sets a post-processor, doesn't change it:
the model is then the one that was read before.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BackendError
from ..formats.huggingface import read
from ..formats.json_file import JSONFile
from ..formats.tokenizer_json import read_tokenizer
from ..tokenizer import BPETokenizer

AS_FILE = Path("tokenizer.json")
"""What errors call a tokenizer that is read as such a file would be."""
OPTIONS = {"encoder": "native"}


class Written(NamedTuple):
    """A tokenizer.json in two parts: `head` is all but the vocabulary and the merges, `vocabulary` these two."""

    head: str
    vocabulary: str

    @property
    def whole(self) -> str:
        return self.head + self.vocabulary

    @property
    def parts(self) -> dict[str, Any]:
        """All but the vocabulary and the merges, as objects."""
        parts: dict[str, Any] = json.loads(self.head.removesuffix(",") + "}}")
        return parts


def written(backend: Any) -> Written:
    """A `tokenizers.Tokenizer` as a tokenizer.json, without "truncation" and "padding", which each call asks for.

    Raises BackendError for one with a part that can't be written.
    """
    try:
        content: str = backend.to_str()
    except Exception as error:  # raised like that for parts that are objects of Python
        raise BackendError(f"this tokenizer can't be accelerated: no file can hold it: {error}") from error
    # Inside a string the quotation marks would be escaped: these are keys.
    start = content.index('"added_tokens":')
    vocabulary = content.index('"vocab":', content.index('"model":', start))
    return Written('{"version":"1.0",' + content[start:vocabulary], content[vocabulary:])


def read_again(content: Written, last: tuple[Written, BPETokenizer] | None) -> BPETokenizer:
    """The tokenizer that is written so, with the model of the last one that was read if it is the same.

    Raises BPELabError for one that can't be read.
    """
    if last is None or content.vocabulary != last[0].vocabulary or not _same_model(content.parts, *last):
        return read(AS_FILE, content.whole.encode(), OPTIONS)
    return read_tokenizer(JSONFile(AS_FILE, json.dumps(content.parts).encode()), OPTIONS, last[1].model)


def _same_model(parts: dict[str, Any], last: Written, tokenizer: BPETokenizer) -> bool:
    """Whether two files with the same vocabulary and merges have the same model.

    A token of the vocabulary that is added may leave the model, and one that stands for unknown text is part of it.
    """
    before, added = last.parts, parts["added_tokens"]
    if any(parts[name] != before[name] for name in ("model", "pre_tokenizer")):
        return False
    known = [token for token in added if token["id"] < tokenizer.n_vocab]
    unknown = parts["model"]["unk_token"]
    return known == before["added_tokens"] and all(token["content"] != unknown for token in added if token not in known)


def unlike_text(content: Written, tokenizer: BPETokenizer) -> str | None:
    """A special token that text may come out as to Hugging Face's model, and never does here; None where none is.

    One of the vocabulary that no merge makes is left out of the model here. Where it is written in a text it is found
    before the model sees it, but for words that are part of longer ones, text that is changed first, and units.
    """
    model = content.parts["model"]
    ends = model["continuing_subword_prefix"] or "", model["end_of_word_suffix"] or ""
    for token in tokenizer.added_tokens:
        if not token.special or token.id in tokenizer.model.tokens:
            continue
        unit = token.content.removeprefix(ends[0]).removesuffix(ends[1])
        hidden = token.single_word or token.normalized or "▁" in token.content
        if len(unit) > 1 and not (model["ignore_merges"] and hidden):
            continue
        if json.dumps(token.content, ensure_ascii=False) + ":" in content.vocabulary:
            return token.content
    return None
