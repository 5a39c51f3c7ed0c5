"""Ids in a model's config.json and generation_config.json: brought from the old tokenizer's to the new one's.

Where every old id is what it was nothing is changed. Else each entry that holds ids is known by its name, and an entry
whose ids can't be found is an error: a stop id that is left as it was would end answers at any word.

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
"""Entries in which ids are among other numbers; refused where ids change."""
ROLES = ("bos", "eos", "pad", "unk")


def with_new_ids(file: str, settings: Mapping[str, Any], rows: RowMap, new: "BPETokenizer") -> dict[str, Any]:
    """Return the object of a JSON file with all ids brought to the new tokenizer's.

    Where the token of bos, eos, pad or unk is gone, the new tokenizer's own takes its place. Raises ModelFileError
    naming the entry for any other token that is gone, and for entries that can't be brought over.
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
    """Return an id, or ids in a list of any depth, as the new tokenizer has them; `own` for one that is gone."""
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
