"""Parse a tokenizer.json into a TokenizerSpec.

The file's ids are honoured, while Hugging Face renumbers: it gives an added token outside the vocabulary the next id
after the vocabulary's size or after the last added token, whatever its "id" is (7 becomes 5 if the vocabulary has 5
entries and a gap). A special token that no merge makes isn't part of the model, so no text can encode to it, not even
with `ignore_merges`. But a byte-level model keeps all its bytes, even those that are special tokens.

Chapter: File formats. Source: tokenizers `tokenizer/serialization.rs` and `models/bpe/serialization.rs`, confirmed by
experiment.
"""

from itertools import accumulate
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from .._support.json_document import JSONFile, short_repr
from ..core.length_settings import Padding, Truncation
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, SpecialTokenError, TokenizerFileError
from ..model.bpe import BPEModel, Merge, Pair
from ..model.initial_symbols import InitialSymbols
from ..unicode.byte_alphabet import BYTE_OF_CHAR, from_alphabet
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import HIGHEST_ID, LONGEST_NAME, SpecialTokens
from .json_components import read_component, read_section

MAX_AFFIX = 1_000
"""Limit on the length of the prefix and the suffix, which are added to the units of texts and added tokens."""
EXPECTED_MERGE = "expected two tokens, as a list or with one space between them"
SECTIONS = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
    "model",
}  # fmt: skip
MODEL_KEYS = {
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "vocab", "merges",
}  # fmt: skip
ADDED_KEYS = {"id", "content", "special", "single_word", "lstrip", "rstrip", "normalized"}
BYTE_OF_CODE_POINT = {ord(char): byte for char, byte in BYTE_OF_CHAR.items()}


def read_tokenizer(file: JSONFile, options: dict[str, Any], model: BPEModel | None = None) -> TokenizerSpec:
    """Return the specification in a tokenizer.json. Raises TokenizerFileError naming the wrong entry.

    `options` are further arguments of BPETokenizer; roles (`bos_token` ...) that aren't special tokens are dropped.
    Pass a `model` already read from this file to avoid reading it again.
    """
    version = file.data.get("version", "1.0")
    if version != "1.0":
        raise file.wrong("version", f"is {short_repr(version)}; only 1.0 is supported")
    if unknown := sorted(file.data.keys() - SECTIONS):
        raise file.wrong(unknown[0][:60], "a tokenizer.json has no such section")
    added = read_added_tokens(file)
    pre_tokenizer = read_component(file, "pre_tokenizer")
    if model is None:
        model = read_model(file, added, pre_tokenizer is not None and pre_tokenizer.byte_level)
    roles = {key: value for key, value in options.items() if key.endswith("_token")}
    special = {token.content for token in added if token.special}
    try:
        return TokenizerSpec(
            model,
            pattern=None,
            pre_tokenizer=pre_tokenizer,
            special_tokens=SpecialTokens(added),
            normalizer=read_component(file, "normalizer"),
            decoder=read_component(file, "decoder"),
            post_processor=read_component(file, "post_processor"),
            truncation=read_section(file, "truncation", Truncation),
            padding=read_section(file, "padding", Padding),
            dropout=file.data["model"].get("dropout"),
            **{key: value for key, value in options.items() if key not in roles},
            **{key: name for key, name in roles.items() if name in special},
        )
    except BPELabError as error:
        if isinstance(error, TokenizerFileError):
            raise
        where = "added_tokens" if isinstance(error, SpecialTokenError) else ""
        raise file.wrong(where, str(error)) from error


def read_added_tokens(file: JSONFile) -> list[AddedToken]:
    """Return the added tokens with their flags, in the order of the file."""
    listed = file.data.get("added_tokens")
    entries = [] if listed is None else file.expect(listed, list, "added_tokens")
    if (all_well := _read_uniform(entries)) is not None:
        return all_well
    tokens: dict[str, AddedToken] = {}
    taken: dict[int, str] = {}
    for index, entry in enumerate(entries):
        _check_added_token(file, f"added_tokens[{index}]", entry)
        name, token_id, special = entry["content"], entry["id"], entry.get("special", False)
        if not name:
            continue  # Whisper's files have an empty one, which never occurs in text
        token = AddedToken(**{"special": special, "normalized": not special, **entry})
        if taken.setdefault(token_id, name) != name or tokens.setdefault(name, token) != token:
            problem = f"{name!r} with the id {token_id} repeats the name or the id of an earlier one"
            raise file.wrong(f"added_tokens[{index}]", problem)
    return list(tokens.values())


def _read_uniform(entries: list[Any]) -> list[AddedToken] | None:
    """Return the tokens if all entries have every key and are valid and unique, else None.

    This is a fast path: there may be a million entries.
    """
    if set(map(type, entries)) != {dict} or any(set(keys) != ADDED_KEYS for keys in set(map(tuple, entries))):
        return None
    rows = list(map(itemgetter(*AddedToken._fields), entries))
    names, ids, *flags = zip(*rows)
    if set(map(type, names)) != {str} or set(map(type, ids)) != {int}:
        return None
    if any(set(map(type, column)) != {bool} for column in flags):
        return None
    unique = len(set(names)) == len(set(ids)) == len(rows)
    if not (unique and all(names) and max(map(len, names)) <= LONGEST_NAME and 0 <= min(ids) <= max(ids) <= HIGHEST_ID):
        return None
    return list(map(AddedToken._make, rows))


def _check_added_token(file: JSONFile, where: str, item: Any) -> None:
    """Raise TokenizerFileError if the entry is invalid."""
    entry = file.expect(item, dict, where)
    name = file.expect(entry.get("content"), str, f"{where}.content")
    read_id(file, entry.get("id"), f"{where}.id")
    for flag, value in entry.items():
        if flag not in ADDED_KEYS:
            raise file.wrong(f"{where}.{flag}", "an added token has no such key")
        if flag not in ("content", "id"):
            file.expect(value, bool, f"{where}.{flag}")
    if len(name) > LONGEST_NAME:
        raise file.wrong(f"{where}.content", f"has {len(name):,} characters; at most {LONGEST_NAME:,} are read")


def read_id(file: JSONFile, value: Any, where: str) -> int:
    """Return an id from 0 to 2^32 - 1. Raises TokenizerFileError for anything else."""
    if not 0 <= file.expect(value, int, where) <= HIGHEST_ID:
        raise file.wrong(where, f"{str(value)[:40]} is not an id: ids go from 0 to {HIGHEST_ID}")
    return int(value)


def read_model(file: JSONFile, added: list[AddedToken], byte_level: bool) -> BPEModel:
    """Return the model in the section "model". Raises TokenizerFileError naming the wrong entry."""
    data = file.expect(file.data.get("model"), dict, "model")
    if data.get("type", "BPE") != "BPE":
        raise file.wrong("model.type", f"only BPE is supported, not {short_repr(data['type'])}")
    if unknown := sorted(data.keys() - MODEL_KEYS):
        raise file.wrong(f"model.{unknown[0]}", "a BPE model has no such key")
    flags = {key: _optional(file, data, key, bool) or False for key in ("fuse_unk", "byte_fallback", "ignore_merges")}
    texts = {k: _optional(file, data, k, str) or "" for k in ("continuing_subword_prefix", "end_of_word_suffix")}
    for key, text in texts.items():
        if len(text) > MAX_AFFIX:
            raise file.wrong(f"model.{key}", f"has {len(text):,} characters; at most {MAX_AFFIX:,} are read")
    prefix, suffix = texts.values()
    dropout = data.get("dropout")
    if dropout is not None and (
        isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1
    ):
        raise file.wrong("model.dropout", f"expected a number from 0 to 1, found {short_repr(dropout)}")
    vocab = _vocab(file, data, added)
    merges = _merges(file, data, vocab, prefix)
    merged_ids = {part for pair, (_, new) in merges.items() for part in (*pair, new)}
    byte_tokens = _byte_tokens(vocab) if flags["byte_fallback"] else None
    for token in added:
        if token.content not in vocab:
            continue
        foreign = byte_level and not BYTE_OF_CHAR.keys() >= set(token.content)  # not written in the byte alphabet
        is_control = token.special and not (byte_level and _is_byte_level_token(token.content))
        if token.id not in merged_ids and (is_control or foreign):
            del vocab[token.content]
    vocab = vocab or {token.content: token.id for token in added}  # an empty vocabulary gets the added tokens
    as_bytes = _bytes_of_alphabet(vocab) if byte_level and BYTE_OF_CHAR.keys() >= set(prefix + suffix) else None
    complete = as_bytes is not None and sum(len(token) == 1 for token in as_bytes) == 256
    # Byte fallback spells a missing unit in UTF-8, and letters of GPT-2's alphabet may take two bytes, so units are
    # characters.
    in_bytes = as_bytes is not None and (not flags["byte_fallback"] or (complete and not prefix + suffix))
    token_bytes = as_bytes if in_bytes and as_bytes is not None else [text.encode() for text in vocab]
    tokens = dict(zip(vocab.values(), token_bytes))
    ids = dict(zip(token_bytes, vocab.values()))
    units = InitialSymbols(
        characters=not in_bytes,
        byte_tokens=byte_tokens,
        unk_id=_unk_id(file, data, added, complete),
        fuse_unk=flags["fuse_unk"],
        prefix=from_alphabet(prefix) if in_bytes else prefix.encode(),
        suffix=from_alphabet(suffix) if in_bytes else suffix.encode(),
    )
    is_plain = complete and units == InitialSymbols(characters=False)
    try:
        return BPEModel(
            MappingProxyType(tokens),
            MappingProxyType(merges),
            MappingProxyType(units.alphabet(ids)),
            flags["ignore_merges"],
            None if is_plain else units,
        )
    except BPELabError as error:
        raise file.wrong("model", str(error)) from error


def _optional(file: JSONFile, data: dict[str, Any], key: str, kind: type) -> Any:
    value = data.get(key)
    return None if value is None else file.expect(value, kind, f"model.{key}")


def _vocab(file: JSONFile, data: dict[str, Any], added: list[AddedToken]) -> dict[str, int]:
    vocab = file.expect(data.get("vocab"), dict, "model.vocab")
    ids = vocab.values()
    if not vocab and not added:
        raise file.wrong("model.vocab", "is empty, and there are no added tokens")
    if (
        not set(map(type, ids)) <= {int}
        or min(ids, default=0) < 0
        or max(ids, default=0) > HIGHEST_ID
        or len(set(ids)) < len(vocab)
    ):
        seen: dict[int, str] = {}
        for text, token_id in vocab.items():
            where = f"model.vocab[{text[:60]!r}]"
            read_id(file, token_id, where)
            if token_id in seen:
                raise file.wrong(where, f"has the id {token_id}, which is that of {seen[token_id][:60]!r}")
            seen[token_id] = text
    for index, token in enumerate(added):
        if vocab.get(token.content, token.id) != token.id:
            raise file.wrong(
                f"added_tokens[{index}]",
                f"{token.content!r} has the id {token.id} here and {vocab[token.content]} in model.vocab",
            )
    return dict(vocab)


def _merges(file: JSONFile, data: dict[str, Any], vocab: dict[str, int], prefix: str) -> dict[Pair, Merge]:
    merges: dict[Pair, Merge] = {}
    cut = len(prefix)
    entries = file.expect(data.get("merges"), list, "model.merges")
    if not set(map(type, entries)) <= {str, list}:
        rank = next(n for n, entry in enumerate(entries) if type(entry) not in (str, list))
        raise file.wrong(f"model.merges[{rank}]", f"{EXPECTED_MERGE}, found {short_repr(entries[rank])}")
    for rank, entry in enumerate(entries):
        if isinstance(entry, str) and entry.startswith("#version"):
            continue  # the first line of a merges.txt
        try:
            left, right = entry.split(" ") if isinstance(entry, str) else entry
            if cut and not right.startswith(prefix):
                raise file.wrong(
                    f"model.merges[{rank}]",
                    f"{right[:60]!r} doesn't begin with model.continuing_subword_prefix, {prefix[:60]!r}",
                )
            merges[vocab[left], vocab[right]] = rank, vocab[left + right[cut:]]
        except KeyError:
            missing = next(text for text in (left, right, left + right[cut:]) if text not in vocab)
            problem = f"{_shown_merge(entry)}: {str(missing)[:60]!r} is not in model.vocab"
            raise file.wrong(f"model.merges[{rank}]", problem) from None
        except (ValueError, TypeError, AttributeError) as error:
            if isinstance(error, TokenizerFileError):
                raise
            where = f"model.merges[{rank}]"
            raise file.wrong(where, f"{EXPECTED_MERGE}, found {_shown_merge(entry)}") from None
    return merges


def _shown_merge(entry: Any) -> str:
    """Return a merge entry as error messages show it."""
    if isinstance(entry, str):
        return ascii(entry[:60]) if not entry.isprintable() else repr(entry[:60])
    return str(entry)[:60] if len(entry) < 5 and set(map(type, entry)) <= {str, int} else short_repr(entry)


def _bytes_of_alphabet(vocab: dict[str, int]) -> list[bytes] | None:
    """Return the bytes of tokens in GPT-2's alphabet, or None if one has another character.

    All are translated at once; each character becomes a byte, so the tokens' offsets stay the same.
    """
    try:
        joined = "".join(vocab)
        data = joined.translate(_ALPHABET_TO_LATIN1).encode("latin-1")
    except UnicodeEncodeError:
        return None
    ends = list(accumulate(map(len, vocab)))
    return [data[start:end] for start, end in zip([0, *ends], ends)]


class _StrictTable(dict[int, int]):
    def __missing__(self, code_point: int) -> int:
        return 0xFFFF  # not in Latin-1, so encoding it raises UnicodeEncodeError


_ALPHABET_TO_LATIN1 = _StrictTable(BYTE_OF_CODE_POINT)


def _is_byte_level_token(content: str) -> bool:
    """Return whether `content` in a byte-level vocabulary is an ordinary token: a single byte, or letters for bytes.

    >>> (
    ...     _is_byte_level_token("Ġthe"),
    ...     _is_byte_level_token("~"),
    ...     _is_byte_level_token("<s>"),
    ...     _is_byte_level_token("日本"),
    ... )
    (True, True, False, False)
    """
    return BYTE_OF_CHAR.keys() >= set(content) and (len(content) == 1 or not content.isascii())


def _byte_tokens(vocab: dict[str, int]) -> dict[int, int]:
    byte_ids = ((byte, vocab.get(f"<0x{byte:02X}>")) for byte in range(256))
    return {byte: token_id for byte, token_id in byte_ids if token_id is not None}


def _unk_id(file: JSONFile, data: dict[str, Any], added: list[AddedToken], complete: bool) -> int | None:
    name = _optional(file, data, "unk_token", str)
    if name is None or (complete and not name):
        return None
    unk_id: int | None = file.data["model"]["vocab"].get(name)
    if unk_id is None:
        unk_id = next((token.id for token in added if token.content == name), None)
        if not complete:
            raise file.wrong("model.unk_token", f"{name[:60]!r} is not in model.vocab")
    return unk_id
