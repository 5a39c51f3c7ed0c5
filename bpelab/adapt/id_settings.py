"""Ids in a model's config.json and generation_config.json: mapped from the old tokenizer to the new one.

If every old id keeps its meaning, nothing is changed. Otherwise, entries with ids are recognised by name, and an id
without a counterpart is an error: a stale stop id could end answers at any word.

Chapter: New words for an old model. Source: transformers `configuration_utils.py`, in the folder of its name and in
`generation`.
"""

import copy
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._support.json_document import short_repr
from ..errors import ModelFileError
from .row_map import RowMap

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

HOLDS_IDS = re.compile(
    r"\w*token_ids?|\w*token_index|\w*token_indices|(?:begin_)?suppress_tokens|bad_words_ids|force_words_ids"
)
PAIRED = ("forced_decoder_ids", "sequence_bias", "constraints")
"""Entries that mix ids with other numbers; refused if ids change."""
ROLES = ("bos", "eos", "pad", "unk")


def with_new_ids(file: str, settings: Mapping[str, Any], rows: RowMap, new: "BPETokenizer") -> dict[str, Any]:
    """Return a JSON file's object with all ids mapped to the new tokenizer's.

    If the bos, eos, pad or unk token is gone, the new tokenizer's own replaces it. Raises ModelFileError, with the
    entry's name, for any other token that is gone and for entries that can't be mapped.
    """
    changed = copy.deepcopy(dict(settings))
    if not rows.keeps_ids:
        _convert(file, changed, (), rows, new)
    return changed


def _convert(file: str, entry: dict[str, Any], path: tuple[str, ...], rows: RowMap, new: "BPETokenizer") -> None:
    for key, value in entry.items():
        where = ".".join([*path, key])
        if key in PAIRED and value:
            raise ModelFileError(f"{file}: {where} holds ids among other numbers, and ids change: take it out first")
        if HOLDS_IDS.fullmatch(key) and not isinstance(value, dict):
            role = key.removesuffix("_token_id")
            own = getattr(new, f"{role}_token_id") if role in ROLES else None
            entry[key] = _new_ids(f"{file}: {where}", value, rows, own)
        elif isinstance(value, dict):
            _convert(file, value, (*path, key), rows, new)


def _new_ids(where: str, value: Any, rows: RowMap, own: int | None) -> Any:
    """Map an id, or ids in nested lists, to the new tokenizer's; an id whose token is gone becomes `own`."""
    if isinstance(value, list):
        return [_new_ids(where, item, rows, own) for item in value]
    if value is None or isinstance(value, bool) or (type(value) is int and value < 0):
        return value
    if type(value) is not int:
        raise ModelFileError(f"{where} is {short_repr(value)}, and an id was expected")
    if value in rows.ids:
        return rows.ids[value]
    if value < len(rows.source) and rows.source[value] == value:  # a row without a token, in both
        return value
    if own is not None:
        return own
    raise ModelFileError(
        f"{where} is {value}, and the new tokenizer has no such token: keep that token, or change the entry first"
    )
