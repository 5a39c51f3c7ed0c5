"""How long the rows of a batch become: truncation and padding, as transformers asks its backend for them.

Chapter: Special tokens, chat templates, injection. Source: transformers `set_truncation_and_padding`.
"""

from typing import Any, NamedTuple


class Lengths(NamedTuple):
    """The arguments of `enable_truncation` and `enable_padding` of a `tokenizers.Tokenizer`; None for none."""

    truncation: dict[str, Any] | None
    padding: dict[str, Any] | None

    @property
    def pads_left(self) -> bool:
        return self.padding is not None and self.padding["direction"] == "left"

    def truncated(self, text: Any, around: int) -> Any:
        """The ids of a text, or fewer where `around` more would make it too long."""
        if self.truncation is None or len(text) <= (room := self.truncation["max_length"] - around):
            return text
        return text[len(text) - room :] if self.truncation["direction"] == "left" else text[:room]

    def width(self, longest: int) -> int:
        """What rows are padded to, if the longest is as long as this; 0 for rows that are not padded.

        >>> Lengths(None, {"length": None, "pad_to_multiple_of": 8}).width(13)
        16
        """
        if self.padding is None:
            return 0
        width = longest if self.padding["length"] is None else int(self.padding["length"])
        multiple = int(self.padding["pad_to_multiple_of"] or 1)
        return -(-width // multiple) * multiple


NEITHER = Lengths(None, None)


def lengths_of(tokenizer: Any, options: dict[str, Any], around: int) -> Lengths | None:
    """The lengths that a call of `_encode_plus` asks for; None for those that are not served here.

    The backend is told of them, too, as by the original: it checks them, and may be asked for them.
    """
    get, max_length = options.get, options.get("max_length")
    strategy, padding = get("truncation_strategy", "do_not_truncate"), get("padding_strategy", "do_not_pad")
    truncates, pads = strategy != "do_not_truncate", padding != "do_not_pad"
    if truncates and (strategy == "only_second" or (max_length or 0) <= around):
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
        return NEITHER
    return Lengths(
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
