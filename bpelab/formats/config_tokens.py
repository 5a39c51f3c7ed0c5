"""Added tokens that only tokenizer_config.json lists, under "added_tokens_decoder", as InternLM 2's does.

transformers adds them to those of the tokenizer.json when it opens the folder: a name of the vocabulary keeps its id,
and another one gets the next free id, whatever id the list has for it. What both files list is as in tokenizer.json.

Chapter: File formats. Source: transformers `tokenization_utils_tokenizers.py`, tokenizers `added_vocabulary.rs`.
"""

from typing import Any

from .._support.json_document import JSONFile, short_repr
from .json_components import read_id
from .tokenizer_json import check_added_token, read_added_tokens

LISTED = "added_tokens_decoder"


def listed_tokens(config: JSONFile) -> list[dict[str, Any]]:
    """Return what a tokenizer_config.json lists, by id, as a tokenizer.json has it.

    Raises TokenizerFileError naming the wrong entry.
    """
    listed = config.data.get(LISTED)
    entries = []
    for key, value in config.expect({} if listed is None else listed, dict, LISTED).items():
        if not (isinstance(value, dict) and key.isascii() and key.isdigit() and len(key) < 11):
            raise config.wrong(LISTED, f"expected objects by their ids, found {key[:40]!r}: {short_repr(value)}")
        entry = {**value, "id": int(key)}
        entry.pop("__type", None)
        check_added_token(config, f"{LISTED}.{key}", entry)
        entries.append(entry)
    return sorted(entries, key=lambda entry: int(entry["id"]))


def add_listed_tokens(file: JSONFile, listed: list[dict[str, Any]]) -> None:
    """Add to a tokenizer.json, in memory, the tokens of `listed` that it lacks."""
    if not listed:
        return
    present = read_added_tokens(file)
    names = {token.content for token in present} | {""}
    missing = [entry for entry in listed if entry["content"] not in names]
    vocab = file.expect(file.expect(file.data.get("model"), dict, "model").get("vocab"), dict, "model.vocab")
    following = max([len(vocab), *(token.id + 1 for token in present)])
    added = []
    for entry in missing:
        token_id = vocab.get(entry["content"], following)
        added.append({**entry, "id": read_id(file, token_id, "model.vocab")})
        following = max(following, token_id + 1)
    file.data["added_tokens"] = [*(file.data.get("added_tokens") or []), *added]
