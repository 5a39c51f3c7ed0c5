"""JSON files of tutorials' tokenizer classes: merges as pairs of ids, tokens as byte values or in Base64.

There is no standard. The supported keys are `merges`, a list of pairs of ids, whose new ids are 256, 257 and so on, or
an object from "left,right" to the new id; `vocab`, from ids to bytes (a list of numbers, `{"type": "bytes", "value":
[...]}`, Base64, `data:...`), which must agree with the merges; `special_tokens`, name to id; and `pattern`. A file like
tokenizer.json, but with `special_tokens` at the top level and no pre-tokenizer, is also supported; the caller must name
its pattern.

Special tokens in a text are plain text, unless the caller allows them.

Chapter: File formats.
"""

import base64
import binascii
import re
from types import MappingProxyType
from typing import Any

from .._support.json_document import JSONFile, short_repr
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, PatternError, TokenizerFileError
from ..model.bpe import BPEModel
from ..model.rank_merges import Merge, Pair
from ..regex.patterns import find_pattern
from .json_components import read_id
from .tokenizer_json import read_tokenizer

MAX_BYTES = 1 << 25
"""Limit on the total bytes of a file's tokens: a merge can double the longest."""
SNIFFED_BYTES = 1 << 12
KEYS = {"merges", "vocab", "special_tokens", "pattern", "version", "vocab_size", "type", "name"}
_PAIR = re.compile(r"\(?\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)?")


def may_match(start: bytes) -> bool:
    """Return whether a file that starts with these bytes may have this format; `added_tokens` means tokenizer.json."""
    return b'"added_tokens"' not in start and any(b'"%s"' % key in start for key in (b"merges", b"model", b"vocab"))


def matches(data: Any) -> bool:
    """Return whether the object in a JSON file has this format, rather than tokenizer.json's."""
    if not isinstance(data, dict):
        return False
    return ("merges" in data and "model" not in data) or ("special_tokens" in data and "model" in data)


def load(file: JSONFile, pattern: str | None = None) -> TokenizerSpec:
    """Return the tokenizer of such a file. Raises TokenizerFileError naming the wrong entry."""
    file_pattern = file.data.get("pattern")
    if file_pattern is not None and not isinstance(file_pattern, str):
        raise file.wrong("pattern", f"expected a regular expression, found {short_repr(file_pattern)}")
    if file_pattern and pattern is not None:
        raise file.wrong("pattern", "already says how text is split; pattern= is for files that don't")
    special = _special(file)
    try:
        if "model" in file.data:
            return _like_tokenizer_json(file, file_pattern or pattern, special)
        if unknown := sorted(file.data.keys() - KEYS):
            raise file.wrong(unknown[0][:60], f"is not a key of such a file; the keys are {', '.join(sorted(KEYS))}")
        return TokenizerSpec(_model(file, special), pattern=file_pattern or pattern, special_tokens=special)
    except BPELabError as error:
        if isinstance(error, TokenizerFileError):
            raise
        raise file.wrong("pattern" if isinstance(error, PatternError) else "", str(error)) from error


def _special(file: JSONFile) -> dict[str, int]:
    special = file.data.get("special_tokens") or {}
    for name, token_id in file.expect(special, dict, "special_tokens").items():
        read_id(file, token_id, f"special_tokens[{name[:60]!r}]")
    return dict(special)


def _model(file: JSONFile, special: dict[str, int]) -> BPEModel:
    listed = _vocab(file)
    tokens = {token_id: listed.get(token_id, bytes([token_id])) for token_id in range(256)}
    table: dict[Pair, Merge] = {}
    size = 0
    for rank, (where, left, right, new) in enumerate(_merges(file)):
        for part in (left, right):
            if part not in tokens:
                raise file.wrong(where, f"joins {part}, which is neither a byte nor made by an earlier merge")
        token = tokens[left] + tokens[right]
        size += len(token)
        if size > MAX_BYTES:
            raise file.wrong(where, f"the tokens have more than {MAX_BYTES:,} bytes together")
        if listed.get(new, token) != token:
            raise file.wrong(where, f"makes {token!r}, but vocab says that {new} is {listed[new]!r}")
        if tokens.setdefault(new, token) != token or (left, right) in table:
            raise file.wrong(where, f"repeats an earlier merge, or its id, {new}")
        table[left, right] = rank, new
    extra = set(special.values())
    for token_id, token in listed.items():
        if token_id not in tokens and token_id not in extra:
            raise file.wrong(f"vocab[{token_id}]", f"{token!r} is neither a byte nor made by a merge")
    if len(set(tokens.values())) < len(tokens):
        raise file.wrong("merges", "two of them make the same token with different ids, and no text can encode to both")
    alphabet = {tokens[token_id]: token_id for token_id in range(256)}
    return BPEModel(MappingProxyType(tokens), MappingProxyType(table), MappingProxyType(alphabet))


def _merges(file: JSONFile) -> list[tuple[str, int, int, int]]:
    """Return (entry of the file, left id, right id, new id) for each merge, in the order of learning."""
    entries, merges = file.data.get("merges"), []
    if isinstance(entries, dict):
        for key, new in entries.items():
            where, pair = f"merges[{key[:40]!r}]", _PAIR.fullmatch(key.strip())
            if pair is None:
                raise file.wrong(where, "expected two ids with a comma between them")
            merges.append((where, int(pair[1]), int(pair[2]), read_id(file, new, where)))
        return sorted(merges, key=lambda merge: merge[3])
    for index, item in enumerate(file.expect(entries, list, "merges")):
        where, new = f"merges[{index}]", 256 + index
        ids = item
        if isinstance(item, list) and len(item) == 2 and isinstance(item[0], list):
            ids, new = item[0], read_id(file, item[1], where)
        if not (isinstance(ids, list) and len(ids) == 2):
            raise file.wrong(where, f"expected two ids, found {short_repr(ids)}")
        merges.append((where, read_id(file, ids[0], where), read_id(file, ids[1], where), new))
    return merges


def _vocab(file: JSONFile) -> dict[int, bytes]:
    vocab = {}
    for key, value in file.expect(file.data.get("vocab") or {}, dict, "vocab").items():
        where = f"vocab[{key[:40]!r}]"
        if not (key.isascii() and key.isdigit() and len(key) < 10):
            raise file.wrong(where, "expected an id")
        vocab[int(key)] = _bytes(file, value, where)
    return vocab


def _bytes(file: JSONFile, value: Any, where: str) -> bytes:
    if isinstance(value, dict) and value.get("type") == "bytes":
        value = value.get("value")
    try:
        if isinstance(value, list) and all(type(byte) is int for byte in value):
            return bytes(value)
        if isinstance(value, str):
            return base64.b64decode(value.removeprefix("data:"), validate=True)
    except (ValueError, binascii.Error):
        pass
    raise file.wrong(where, f"expected the numbers of bytes, or Base64, found {short_repr(value)}")


def _like_tokenizer_json(file: JSONFile, pattern: str | None, special: dict[str, int]) -> TokenizerSpec:
    if file.data.get("pre_tokenizer") is not None or file.data.get("decoder") is not None:
        raise file.wrong("special_tokens", "a tokenizer.json has no such section; its special tokens are added_tokens")
    if pattern is None:
        raise file.wrong("", "doesn't say how text is split; give pattern=, such as 'gpt2'")
    added = [{"content": name, "id": token_id, "special": True} for name, token_id in special.items()]
    file.data = {
        "added_tokens": added,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", **file.expect(file.data["model"], dict, "model")},
    }
    named_pattern = find_pattern(pattern)
    return read_tokenizer(file, {}).replace(pattern=named_pattern.name if named_pattern else pattern)
