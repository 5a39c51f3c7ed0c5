"""Shrinking: derive smaller inputs from a larger one, to search for the smallest that still shows a fault.

Each step removes something, or replaces a letter or number with a simpler one, so shrinking always ends. The exercise
says what a smaller input must still satisfy.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ..encoders import HeapEncoder, NaiveEncoder, TrieEncoder
from ..errors import BPELabError
from ..model.bpe import BPEModel
from ..notebook.messages import merges_of, ranks_of


def smaller_inputs(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the inputs that are one step smaller, largest steps first.

    >>> list(smaller_inputs((b"b", 1)))
    [(b'', 1), (b'a', 1), (b'b', 0)]
    """
    for position, value in enumerate(arguments):
        for less in smaller(value):
            yield (*arguments[:position], less, *arguments[position + 1 :])


def smaller(value: Any) -> Iterator[Any]:
    """Yield values of the same type, one step smaller."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from (less for less in dict.fromkeys((0, value // 2, value - 1)) if 0 <= less < value)
    elif isinstance(value, (str, bytes)):
        yield from _smaller_text(value)
    elif isinstance(value, list):
        yield from _without_chunks(value)
        for position, item in enumerate(value):
            for less in smaller(item):
                yield [*value[:position], less, *value[position + 1 :]]
    elif isinstance(value, tuple):
        yield from smaller_inputs(value)
    elif isinstance(value, dict):
        yield from _smaller_dict(value)
    elif isinstance(value, BPEModel):
        yield from _smaller_models(value)
    elif isinstance(value, (NaiveEncoder, HeapEncoder, TrieEncoder)):
        for model in _smaller_models(value.model):
            if type(value).supports(model):
                yield type(value)(model)


def _without_chunks(value: Any) -> Iterator[Any]:
    size = len(value) or 1
    while size := size // 2 if size > 1 else 0:
        for start in range(0, len(value), size):
            yield value[:start] + value[start + size :]
    if len(value) == 1:
        yield value[:0]


def _smaller_text(value: Any) -> Iterator[Any]:
    yield from _without_chunks(value)
    plain: Any = "a" if isinstance(value, str) else b"a"
    for position in range(len(value)):
        letter = value[position : position + 1]
        if letter != plain and letter.isalpha():
            yield value[:position] + plain + value[position + 1 :]


def _smaller_dict(value: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    if len(value) <= 64:
        for key in value:
            yield {other: item for other, item in value.items() if other != key}
        for key, item in value.items():
            for less in smaller(item):
                yield {**value, key: less}
        for key in value:
            for less in smaller(key):
                if less not in value:
                    yield {less if other == key else other: item for other, item in value.items()}
    elif (ranks := ranks_of(value)) is not None:  # a rank table: the 256 bytes stay
        for token in ranks:
            yield {other: rank for other, rank in value.items() if other != token}


def _smaller_models(model: BPEModel) -> Iterator[BPEModel]:
    merges = merges_of(model)
    if merges is not None:
        for position in range(len(merges) - 1, -1, -1):
            try:
                yield BPEModel.from_merges(
                    merges[:position] + merges[position + 1 :], ignore_merges=model.ignore_merges
                )
            except BPELabError:
                continue  # a later merge needs it
        return
    table: Mapping[bytes, int] = {token: token_id for token_id, token in model.tokens.items()}
    for less in _smaller_dict(dict(table)):
        try:
            yield BPEModel.from_ranks(less, ignore_merges=model.ignore_merges)
        except BPELabError:
            continue
