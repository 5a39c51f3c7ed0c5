"""Parse the section "model" of a tokenizer.json: a vocabulary and merges, in text or in the byte alphabet.

A special token that no merge makes isn't part of the model, so no text can encode to it, not even with `ignore_merges`.
But a byte-level model keeps all its bytes, even those that are special tokens.

Chapter: File formats. Source: tokenizers `models/bpe/serialization.rs`, confirmed by experiment.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from .._support.json_document import JSONFile, short_repr
from ..errors import TokenizerFileError
from ..model.initial_symbols import InitialSymbols
from ..model.lazy_model import LazyModel, ModelColumns, merge_columns
from ..model.rank_merges import Merge, Pair
from ..unicode.byte_alphabet import BYTE_OF_CHAR, from_alphabet
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import HIGHEST_ID
from .json_components import read_id

if TYPE_CHECKING:
    from ..model.bpe import BPEModel
    from ..model.lazy_model import MergeColumns

MAX_AFFIX = 1_000
"""Limit on the length of the prefix and the suffix, which are added to the symbols of texts and added tokens."""
EXPECTED_MERGE = "expected two tokens, as a list or with one space between them"
MODEL_KEYS = {
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "vocab", "merges",
}  # fmt: skip
BYTE_OF_CODE_POINT = {ord(char): byte for char, byte in BYTE_OF_CHAR.items()}


def read_model(
    file: JSONFile, added: list[AddedToken], byte_level: bool, merges: MergeColumns | None = None
) -> BPEModel:
    """Return the model in the section "model", with these `merges` if given. Raises TokenizerFileError."""
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
    if merges is None:
        merges = merge_columns(_merges(file, data, vocab, prefix))
    byte_tokens = _byte_tokens(vocab) if flags["byte_fallback"] else None
    control = {}
    for token in added:
        if token.content not in vocab:
            continue
        foreign = byte_level and not BYTE_OF_CHAR.keys() >= set(token.content)  # not written in the byte alphabet
        if foreign or (token.special and not (byte_level and _is_byte_level_token(token.content))):
            control[token.id] = token.content
    for token_id in control.keys() - set().union(*(control.keys() & column for column in merges[1:])):
        del vocab[control[token_id]]
    vocab = vocab or {token.content: token.id for token in added}  # an empty vocabulary gets the added tokens
    as_bytes = _bytes_of_alphabet(vocab) if byte_level and BYTE_OF_CHAR.keys() >= set(prefix + suffix) else None
    complete = as_bytes is not None and sum(len(token) == 1 for token in as_bytes) == 256
    # Byte fallback spells a missing symbol in UTF-8, and letters of GPT-2's alphabet may take two bytes, so symbols are
    # characters.
    in_bytes = as_bytes is not None and (not flags["byte_fallback"] or (complete and not prefix + suffix))
    token_bytes = as_bytes if in_bytes and as_bytes is not None else [text.encode() for text in vocab]
    initial_symbols = InitialSymbols(
        characters=not in_bytes,
        byte_tokens=byte_tokens,
        unk_id=_unk_id(file, data, added, complete),
        fuse_unk=flags["fuse_unk"],
        prefix=from_alphabet(prefix) if in_bytes else prefix.encode(),
        suffix=from_alphabet(suffix) if in_bytes else suffix.encode(),
    )
    is_plain = complete and initial_symbols == InitialSymbols(characters=False)
    columns = ModelColumns.of_tokens(vocab.values(), token_bytes, merges)
    return LazyModel(columns, flags["ignore_merges"], None if is_plain else initial_symbols)


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
    """Return the merges; of repeated ones the last counts. `native/model_json.h` does the same for large files."""
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
        except TokenizerFileError:
            raise
        except (ValueError, TypeError, AttributeError):
            raise file.wrong(f"model.merges[{rank}]", f"{EXPECTED_MERGE}, found {_shown_merge(entry)}") from None
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
