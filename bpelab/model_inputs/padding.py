"""Padding: fill up the rows of a batch to one length.

Chapter: Streaming. Cost: linear. Source: tokenizers `utils/padding.rs`.
"""

from .._support.validate import check_name, check_size
from ..core.length_settings import Padding
from ..errors import SpecialTokenError
from .encoding import ModelInput
from .truncation import SIDES


def resolve_padding(
    padding: bool | str,
    max_length: int | None,
    multiple: int | None,
    side: str | None,
    pad_id: int | None,
    from_file: Padding | None,
    limit: int | None,
) -> Padding | None:
    """Return how to pad. Defaults come from `from_file`, and the length, if missing there too, from `limit`.

    Raises ValueError for an unknown strategy or side, for "max_length" without a length, for a multiple below 1, and
    without a pad token.
    """
    if multiple is not None:
        check_size(multiple, "pad_to_multiple_of", 1)
    direction = SIDES[check_name(side, "padding_side", SIDES)] if side is not None else None
    if padding is False or padding == "do_not_pad" or padding is None:
        return None
    strategy: str | dict[str, int] = "BatchLongest"
    if padding is not True:
        check_name(padding, "padding", ("longest", "max_length", "do_not_pad"))
    if padding == "max_length":
        if max_length is None and from_file is not None and isinstance(from_file.strategy, dict):
            max_length = from_file.strategy["Fixed"]
        max_length = limit if max_length is None else max_length
        if max_length is None:
            raise ValueError('padding="max_length" needs a length: pass max_length=512, or padding=True')
        strategy = {"Fixed": max_length}
    elif padding is True and from_file is not None and max_length is None:
        strategy = from_file.strategy
    if pad_id is None and from_file is not None:
        pad_id = from_file.pad_id
    if pad_id is None:
        raise SpecialTokenError(
            "padding needs a token to fill up with, and this tokenizer has no pad_token: name one of its special "
            'tokens, tokenizer.with_options(pad_token="<|endoftext|>"), or add one, '
            'tokenizer.with_special_tokens(["<|pad|>"], pad_token="<|pad|>")'
        )
    if from_file is None:
        return Padding(strategy, direction or "Right", multiple, pad_id)
    return Padding(
        strategy,
        direction or from_file.direction,
        multiple or from_file.pad_to_multiple_of,
        pad_id,
        from_file.pad_type_id,
    )


def pad_rows(rows: list[ModelInput], padding: Padding, longest: int) -> list[ModelInput]:
    """Return the rows, padded to a fixed length or to `longest`, rounded up to the multiple."""
    length = padding.length(longest)
    return [_padded(row, length - len(row.ids), padding) for row in rows]


def _padded(row: ModelInput, count: int, padding: Padding) -> ModelInput:
    if count <= 0:
        return row
    return ModelInput(
        padding.filled(row.ids, count, padding.pad_id),
        padding.filled(row.mask, count, 0),
        padding.filled(row.types, count, padding.pad_type_id),
        padding.filled(row.special, count, 1),
        padding.filled(row.offsets, count, (0, 0)),
    )
