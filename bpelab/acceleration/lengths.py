"""Truncation and padding: the lengths of a batch's rows, from the options that transformers passes to its backend.

Chapter: Streaming. Source: transformers `set_truncation_and_padding`.
"""

from typing import Any, NamedTuple


class LengthOptions(NamedTuple):
    """The arguments of `enable_truncation` and `enable_padding` of a `tokenizers.Tokenizer`; None if disabled."""

    truncation: dict[str, Any] | None
    padding: dict[str, Any] | None

    @property
    def pads_left(self) -> bool:
        """Whether padding goes before the text."""
        return self.padding is not None and self.padding["direction"] == "left"

    def truncate(self, ids: Any, added_count: int) -> Any:
        """Truncate the ids of a text if they and `added_count` special tokens exceed the maximum length."""
        if self.truncation is None or len(ids) <= (limit := self.truncation["max_length"] - added_count):
            return ids
        return ids[len(ids) - limit :] if self.truncation["direction"] == "left" else ids[:limit]

    def padded_width(self, longest: int) -> int:
        """Return the length to pad rows to, given the longest row's length; 0 without padding.

        >>> LengthOptions(None, {"length": None, "pad_to_multiple_of": 8}).padded_width(13)
        16
        """
        if self.padding is None:
            return 0
        width = longest if self.padding["length"] is None else int(self.padding["length"])
        multiple = int(self.padding["pad_to_multiple_of"] or 1)
        return -(-width // multiple) * multiple


NO_LENGTHS = LengthOptions(None, None)


def length_options(tokenizer: Any, options: dict[str, Any], added_count: int) -> LengthOptions | None:
    """Return the length options of a call of `_encode_plus`; None for options that aren't supported here.

    They are set on the backend too, as by the original: it validates them, and its settings may be read.
    """
    get, max_length = options.get, options.get("max_length")
    strategy, padding = get("truncation_strategy", "do_not_truncate"), get("padding_strategy", "do_not_pad")
    truncates, pads = strategy != "do_not_truncate", padding != "do_not_pad"
    if truncates and (strategy == "only_second" or (max_length or 0) <= added_count):
        return None
    tokenizer.set_truncation_and_padding(
        padding_strategy=padding,
        truncation_strategy=strategy,
        max_length=max_length,
        stride=get("stride", 0),
        pad_to_multiple_of=get("pad_to_multiple_of"),
        padding_side=get("padding_side"),
    )
    if not truncates and not pads:
        return NO_LENGTHS
    return LengthOptions(
        {"max_length": max_length, "strategy": strategy.value, "direction": tokenizer.truncation_side}
        if truncates
        else None,
        {
            "length": max_length if padding == "max_length" else None,
            "direction": get("padding_side") or tokenizer.padding_side,
            "pad_id": tokenizer.pad_token_id,
            "pad_token": tokenizer.pad_token,
            "pad_type_id": tokenizer.pad_token_type_id,
            "pad_to_multiple_of": get("pad_to_multiple_of"),
        }
        if pads
        else None,
    )
