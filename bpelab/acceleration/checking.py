"""Verification of an engine: whether a tokenizer does what its own tokenizer.json says.

Some don't. A token that was added twice with different flags is matched with both, and a token that was once special
stays so, but a file can state only one of the two. So the engine is compared with the tokenizer on each added token.

Cost: 50 microseconds for each added token, at every reading.
"""

from itertools import islice
from typing import Any

from ..errors import BackendError
from .engine import Engine

MAX_ADDED_TOKENS = 2_000
"""The maximum number of added tokens to compare."""
SAMPLE = "The naïve harbour's 1234 bells  rang;\n\n\tÅ日本語 e\u0301 😀 __init__(x=3.5)  "


def check(backend: Any, engine: Engine) -> None:
    """Raise BackendError if a `tokenizers.Tokenizer` and the engine read from its file differ."""
    added = dict(islice(sorted(backend.get_added_tokens_decoder().items()), MAX_ADDED_TOKENS))
    names = [token.content for token in added.values()]
    texts = [SAMPLE, *(text for name in names for text in (f"a{name}b", f"x  {name}  ", name.upper()))]
    splits = backend.encode_special_tokens
    if splits:
        backend.encode_special_tokens = False
    try:
        theirs = backend.encode_batch(texts, add_special_tokens=False)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # raised by Rust, and not importable
            raise
        raise BackendError(f"this tokenizer can't be accelerated: it panics: {error}") from None
    finally:
        if splits:
            backend.encode_special_tokens = True
    for text, ours, encoding in zip(texts, engine.lists(texts), theirs):
        ids = [number for number, is_text in zip(encoding.ids, encoding.attention_mask) if is_text]
        whole = not encoding.overflowing  # else truncated, on either side, by the options of the last call
        if ids != ours if whole else ids not in (ours[: len(ids)], ours[len(ours) - len(ids) :]):
            raise BackendError(
                f"this tokenizer can't be accelerated: its file means other ids for {text!r} than it returns"
            )


def decodes_equally(backend: Any, engine: Engine) -> bool:
    """Return whether an engine can decode, and decodes added tokens alike, with and without the special ones."""
    ids = sorted(backend.get_added_tokens_decoder())[:MAX_ADDED_TOKENS]
    return engine.decodes and all(
        engine.text(ids, skip) == backend.decode(ids, skip_special_tokens=skip) for skip in (False, True)
    )
