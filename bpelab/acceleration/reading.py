"""Read a tokenizer of transformers through its tokenizer.json, again after each change.

A vocabulary of 150,000 tokens takes a second to read. Adding tokens or setting a post-processor doesn't change it, so
the model from the last reading is then reused.
"""

from json import dumps, loads
from pathlib import Path
from typing import Any, NamedTuple

from .._support.json_document import JSONFile
from ..errors import BackendError
from ..formats.huggingface import from_buffer
from ..formats.tokenizer_json import read_tokenizer
from ..tokenizer import BPETokenizer

FILE_NAME = Path("tokenizer.json")
"""The name in error messages for a tokenizer.json that was never a file."""


class TokenizerJSON(NamedTuple):
    """The text of a tokenizer.json in two parts: the vocabulary and merges (`vocabulary`), and what precedes them."""

    head: str
    vocabulary: str

    @property
    def json(self) -> str:
        """The complete text."""
        return self.head + self.vocabulary

    @property
    def parts(self) -> dict[str, Any]:
        """The sections as objects, without the vocabulary and the merges."""
        parts: dict[str, Any] = loads(self.head.removesuffix(",") + "}}")
        return parts


def serialize(backend: Any) -> TokenizerJSON:
    """Return a `tokenizers.Tokenizer` as a tokenizer.json, without "truncation" and "padding", which each call sets.

    Raises BackendError if a part can't be written.
    """
    try:
        content: str = backend.to_str()
    except Exception as error:  # tokenizers raises a plain Exception for parts that are Python objects
        raise BackendError(f"this tokenizer can't be accelerated: no file can hold it: {error}") from error
    # Quotation marks inside a string would be escaped, so these are keys.
    start = content.index('"added_tokens":')
    vocabulary = content.index('"vocab":', content.index('"model":', start))
    return TokenizerJSON('{"version":"1.0",' + content[start:vocabulary], content[vocabulary:])


def load_tokenizer(content: TokenizerJSON, last: tuple[TokenizerJSON, BPETokenizer] | None) -> BPETokenizer:
    """Read the tokenizer in a tokenizer.json, reusing the last one's model if it is the same.

    Raises BPELabError if it can't be read.
    """
    if last is None or content.vocabulary != last[0].vocabulary or not _same_model(content.parts, *last):
        spec = from_buffer(FILE_NAME, content.json.encode(), {})
    else:
        spec = read_tokenizer(JSONFile(FILE_NAME, dumps(content.parts).encode()), {}, last[1].model)
    return BPETokenizer.from_spec(spec, encoder="native")


def _same_model(parts: dict[str, Any], last: TokenizerJSON, tokenizer: BPETokenizer) -> bool:
    """Return whether two files with the same vocabulary and merges have the same model.

    They may not: a token that becomes an added token may leave the model, and the unknown token is part of it.
    """
    last_parts, added = last.parts, parts["added_tokens"]
    if any(parts[name] != last_parts[name] for name in ("model", "pre_tokenizer")):
        return False
    known = [token for token in added if token["id"] < tokenizer.n_vocab]
    unknown = parts["model"]["unk_token"]
    return known == last_parts["added_tokens"] and all(
        token["content"] != unknown for token in added if token not in known
    )


def conflicting_token(content: TokenizerJSON, tokenizer: BPETokenizer) -> str | None:
    """Return a special token that Hugging Face's model may produce from text and bpelab's can't; None if none exists.

    A special token of the vocabulary that no merge produces isn't in the model here. In a text it is matched before
    the model sees it, except within longer words (`single_word`), in text that is normalized first, and as an initial
    symbol.
    """
    model = content.parts["model"]
    ends = model["continuing_subword_prefix"] or "", model["end_of_word_suffix"] or ""
    for token in tokenizer.added_tokens:
        if not token.special or token.id in tokenizer.model.tokens:
            continue
        symbol = token.content.removeprefix(ends[0]).removesuffix(ends[1])
        hidden = token.single_word or token.normalized or "▁" in token.content
        if len(symbol) > 1 and not (model["ignore_merges"] and hidden):
            continue
        if dumps(token.content, ensure_ascii=False) + ":" in content.vocabulary:
            return token.content
    return None
