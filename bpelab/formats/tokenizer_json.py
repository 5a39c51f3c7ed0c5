"""Parse a tokenizer.json into a TokenizerSpec.

The file's ids are honoured, while Hugging Face renumbers: it gives an added token outside the vocabulary the next id
after the vocabulary's size or after the last added token, whatever its "id" is (7 becomes 5 if the vocabulary has 5
entries and a gap). `tokenizer_json_model` parses the section "model".

Chapter: File formats. Source: tokenizers `tokenizer/serialization.rs`, confirmed by experiment.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from .._support.json_document import JSONFile, short_repr
from ..core.length_settings import Padding, Truncation
from ..core.spec import TokenizerSpec
from ..errors import BPELabError, SpecialTokenError, TokenizerFileError
from ..pretokenizers.split import Split
from ..vocab.added_tokens import AddedToken
from ..vocab.special_tokens import HIGHEST_ID, LONGEST_NAME, SpecialTokens
from .json_components import read_component, read_id, read_section
from .tokenizer_json_model import read_model

if TYPE_CHECKING:
    from ..model.bpe import BPEModel
    from ..model.lazy_model import MergeColumns

OWN_PATTERN = "split_pattern"
"""The entry of tokenizer_config.json with the name of a pattern that tokenizer.json has as a published one: cl100k."""
SECTIONS = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
    "model",
}  # fmt: skip
ADDED_KEYS = {"id", "content", "special", "single_word", "lstrip", "rstrip", "normalized"}


def read_tokenizer(
    file: JSONFile, options: dict[str, Any], model: BPEModel | None = None, merges: MergeColumns | None = None
) -> TokenizerSpec:
    """Return the specification in a tokenizer.json. Raises TokenizerFileError naming the wrong entry.

    `options` are further arguments of BPETokenizer, or OWN_PATTERN; roles (`bos_token` ...) that aren't special tokens
    are dropped. Pass a `model` or the `merges` already read from this file to avoid reading them again.
    """
    version = file.data.get("version", "1.0")
    if version != "1.0":
        raise file.wrong("version", f"is {short_repr(version)}; only 1.0 is supported")
    if unknown := sorted(file.data.keys() - SECTIONS):
        raise file.wrong(unknown[0][:60], "a tokenizer.json has no such section")
    added = read_added_tokens(file)
    pre_tokenizer = read_component(file, "pre_tokenizer")
    if model is None:
        model = read_model(file, added, pre_tokenizer is not None and pre_tokenizer.byte_level, merges)
    if pre_tokenizer is not None and options.get(OWN_PATTERN) == "cl100k":
        split = pre_tokenizer.as_single_split
        if split is not None and split.name == "llama3":
            pre_tokenizer = Split("cl100k")
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
            **{key: value for key, value in options.items() if key not in roles and key != OWN_PATTERN},
            **{key: name for key, name in roles.items() if name in special},
        )
    except TokenizerFileError:
        raise
    except BPELabError as error:
        raise file.wrong("added_tokens" if isinstance(error, SpecialTokenError) else "", str(error)) from error


def read_added_tokens(file: JSONFile) -> list[AddedToken]:
    """Return the added tokens with their flags, in the order of the file."""
    listed = file.data.get("added_tokens")
    entries = [] if listed is None else file.expect(listed, list, "added_tokens")
    if (all_well := _read_uniform(entries)) is not None:
        return all_well
    tokens: dict[str, AddedToken] = {}
    taken: dict[int, str] = {}
    for index, entry in enumerate(entries):
        check_added_token(file, f"added_tokens[{index}]", entry)
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


def check_added_token(file: JSONFile, where: str, item: Any) -> None:
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
