"""Decoding calls: which ones are served here, and how. All others are left to the original.

Source: transformers `tokenization_utils_base.py`, `decode`, and `tokenization_utils_tokenizers.py`, `_decode`.
"""

from typing import Any

from .engine import Engine

FEW = 16
"""The number of ids that the original decodes as quickly as the check for changes takes."""


def are_few(ids: Any) -> bool:
    """Return whether ids aren't a list, or are too few for decoding here to pay off."""
    return type(ids) is not list or (len(ids) <= FEW and not (ids and type(ids[0]) is list))


def decode(tokenizer: Any, engine: Engine, ids: list[Any], skip_special_tokens: Any, options: dict[str, Any]) -> Any:
    """Decode a list of ids, or a list of such lists, as `decode` does; return None for a call that isn't served."""
    if type(ids[0]) is not list:
        return decode_one(tokenizer, engine, ids, skip_special_tokens, options)
    options = {"clean_up_tokenization_spaces": False, **options}
    texts = [decode_one(tokenizer, engine, row, skip_special_tokens, options) for row in ids]
    return None if None in texts else texts


def decode_one(
    tokenizer: Any, engine: Engine, ids: Any, skip_special_tokens: Any, options: dict[str, Any]
) -> str | None:
    """Decode as `_decode` does; return None for a call that isn't served."""
    if type(ids) is not list or type(skip_special_tokens) is not bool:
        return None
    if options.keys() - {"clean_up_tokenization_spaces"}:
        return None
    text = engine.text(ids, skip_special_tokens)
    clean = options.get("clean_up_tokenization_spaces")
    if text is not None and (tokenizer.clean_up_tokenization_spaces if clean is None else clean):
        text = tokenizer.clean_up_tokenization(text)
    return text
