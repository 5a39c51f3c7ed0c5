"""Mistral's `tekken.json`: a rank table, a pattern, and special tokens with the lowest ids.

`vocab` lists the tokens by rank, in Base64, the 256 bytes first; a token's id is its rank plus the number of special
tokens. Not all of the file is used: only the first `default_vocab_size - default_num_special_tokens` tokens of `vocab`
count, and unnamed special tokens are called `<SPECIAL_20>` and so on. Encoding follows tiktoken's rule, so a
tekken.json can't hold what tiktoken can't. The rest of the file (its version, settings for images and sound, which
special tokens are control tokens) is stored in `metadata["tekken"]` and written back.

Chapter: File formats. Source: mistral-common `tokens/tokenizers/tekken.py`.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._support.gc_paused import gc_paused
from .._support.json_document import JSONFile, read_bytes
from .._support.textio import from_utf8, write_atomically
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, ConversionError, TokenizerFileError
from ..model import disk_cache
from ..model.bpe import BPEModel
from ..regex.patterns import covering_pattern, without_covering
from .base64_tokens import decode_tokens
from .tiktoken_encoding import rank_table

UNNAMED = "<SPECIAL_{}>"
EARLY_SPECIAL_TOKENS = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
"""The special tokens of files that list none, which is allowed up to version v7."""
MAY_LIST_NONE = ("v1", "v2", "v3", "v7")
ROLES = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
"""The names by which mistral-common finds the tokens with these roles."""
VERSION = "v3"
"""The version to write if none was read: the first with a tekken.json. It names a conversation format."""


def may_match(start: bytes) -> bool:
    """Return whether a file that starts with these bytes may be a tekken.json."""
    return any(name in start for name in (b'"default_vocab_size"', b'"default_num_special_tokens"', b'"token_bytes"'))


@gc_paused()  # each collection visits the 150,000 entries
def load(path: Path) -> TokenizerSpec:
    """Return the tokenizer of a tekken.json. Raises TokenizerFileError naming the wrong entry."""
    content = read_bytes(path)
    key = disk_cache.fingerprint(b"tekken", content)
    if (cached := disk_cache.fetch(key)) is not None:
        return _spec(JSONFile(path, cached[1]), cached[0])
    file = JSONFile(path, content)
    try:
        model = _model(file)
        del file.data["vocab"]
        spec = _spec(file, model)
    except BPELabError as error:
        raise error if isinstance(error, TokenizerFileError) else file.wrong("", str(error)) from error
    disk_cache.store(key, model, json.dumps(file.data).encode())
    return spec


def _model(file: JSONFile) -> BPEModel:
    """Return the rank table, cut to the size that the file gives, with its tokens' ids."""
    first, size = _number(file, "default_num_special_tokens"), _number(file, "default_vocab_size")
    vocab = file.expect(file.data.get("vocab"), list, "vocab")
    if not 256 <= size - first <= len(vocab):
        problem = f"is {size:,}, of which {first:,} are special tokens; vocab has {len(vocab):,} others"
        raise file.wrong("config.default_vocab_size", problem)
    ids: dict[bytes, int] = {}
    entries = _entries(file, vocab[: size - first])
    for where, token, rank in decode_tokens(entries, lambda where, _: file.wrong(where, "is not Base64")):
        if rank < 256 and token != bytes([rank]):
            raise file.wrong(where, f"expected the byte {rank}: the 256 bytes come first")
        if ids.setdefault(token, first + rank) != first + rank:
            raise file.wrong(where, f"{token!r} is already token {ids[token] - first}")
    return BPEModel.from_ranks(ids)


def _entries(file: JSONFile, vocab: list[Any]) -> Iterator[tuple[str, str, int]]:
    """Yield (position, token in Base64, rank)."""
    for rank, entry in enumerate(vocab):
        where = f"vocab[{rank}]"
        if file.expect(entry, dict, where).get("rank") != rank:
            raise file.wrong(f"{where}.rank", f"expected {rank}: tokens are listed by rank")
        where += ".token_bytes"
        yield where, file.expect(entry.get("token_bytes"), str, where), rank


def _number(file: JSONFile, name: str) -> int:
    config = file.expect(file.data.get("config"), dict, "config")
    number = file.expect(config.get(name), int, f"config.{name}")
    if not 0 <= number < 1 << 31:
        raise file.wrong(f"config.{name}", f"expected a size, found {number}")
    return number


def _spec(file: JSONFile, model: BPEModel) -> TokenizerSpec:
    pattern = file.expect(file.data["config"].get("pattern"), str, "config.pattern")
    names = _special_tokens(file)
    special = {name: token_id for token_id, name in enumerate(names)}
    roles: dict[str, Any] = {role: name for role, name in ROLES.items() if name in special}
    metadata = {"tekken": file.data}
    return TokenizerSpec(model, pattern=without_covering(pattern), special_tokens=special, metadata=metadata, **roles)


def _special_tokens(file: JSONFile) -> list[str]:
    """Return the names of the special tokens, by id."""
    total, version = _number(file, "default_num_special_tokens"), file.data["config"].get("version")
    listed = file.data.get("special_tokens")
    if listed is None and version not in MAY_LIST_NONE:
        raise file.wrong("special_tokens", f"is missing; only files up to version {MAY_LIST_NONE[-1]} may omit it")
    names: list[str] = list(EARLY_SPECIAL_TOKENS) if listed is None else []
    for index, entry in enumerate(file.expect([] if listed is None else listed, list, "special_tokens")):
        where = f"special_tokens[{index}]"
        if file.expect(entry, dict, where).get("rank") != index:
            raise file.wrong(f"{where}.rank", f"expected {index}: special tokens are listed by id")
        names.append(file.expect(entry.get("token_str"), str, f"{where}.token_str"))
    names += map(UNNAMED.format, range(len(names), total))
    if len(names) > total:
        raise file.wrong("special_tokens", f"there are {len(names):,}, but config has room for {total:,}")
    if len(set(names)) < total:
        again = next(name for index, name in enumerate(names) if name in names[:index])
        raise file.wrong("special_tokens", f"{again!r} occurs twice")
    return names


def other_roles(spec: TokenizerSpec) -> list[str]:
    """Return the roles that a reader of the tokenizer's tekken.json would assign to another token, or to none."""
    roles = {role: spec.roles[role.removesuffix("_token")] for role in ROLES}
    return [role for role, name in ROLES.items() if roles[role] != (name if name in spec.special_tokens.ids else None)]


def save(spec: TokenizerSpec, path: Path) -> None:
    """Write a tekken.json. Raises ConversionError if mistral-common would give other ids."""
    metadata: Any = spec.metadata.get("tekken", {})
    special = spec.special_tokens.ids
    names, first = sorted(special, key=special.__getitem__), len(special)
    if [special[name] for name in names] != list(range(first)):
        name = next(name for index, name in enumerate(names) if special[name] != index)
        raise ConversionError(
            f"a tekken.json numbers special tokens from 0 on, before all others, but {name!r} is {special[name]} here"
        )
    ranks = rank_table(spec)
    tokens = sorted(ranks, key=ranks.__getitem__)
    for rank, token in enumerate(tokens):
        if ranks[token] != first + rank or (rank < 256 and token != bytes([rank])):
            raise ConversionError(
                "a tekken.json numbers the 256 bytes right after its special tokens, in their order, and the other "
                f"tokens after them without a gap; here {token!r} is {ranks[token]}"
            )
    uncontrolled = {
        entry["token_str"] for entry in metadata.get("special_tokens", []) if not entry.get("is_control", True)
    }
    data = {
        "config": {
            "pattern": covering_pattern(spec.pattern),
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": first + len(tokens),
            "default_num_special_tokens": first,
            "version": metadata.get("config", {}).get("version", VERSION),
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": from_utf8(token)}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": index, "token_str": name, "is_control": name not in uncontrolled}
            for index, name in enumerate(names)
        ],
        **{key: value for key, value in metadata.items() if key not in ("config", "vocab", "special_tokens")},
    }
    write_atomically(path, json.dumps(data, ensure_ascii=False, indent=1).encode() + b"\n")
