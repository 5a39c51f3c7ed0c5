"""The tokenizer methods that transformers' trainers, data collators and similar programs call, by their names.

`__call__` builds rows for a model. Data collators call `pad`, trainers `save_pretrained` at a checkpoint, evaluations
`batch_decode`. Some duplicate another method here under transformers' name, because those programs can't be
changed. `apply_chat_template`, `decode`, `convert_tokens_to_ids`, `convert_ids_to_tokens`, `vocab_size` and `get_vocab`
have the same name anyway.

Chapter: A tokenizer in production. Source: transformers `tokenization_utils_base.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._support.nearest_name import refuse_unknown
from ..core.tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Never

    from ..vocab.special_tokens import Special
    from .batch_encoding import Batch


class TransformersProtocol(Tokenizer):
    """A tokenizer with the methods of transformers: it can be called, pads the results, and has `save_pretrained`."""

    def __call__(
        self,
        text: str | Iterable[str],
        text_pair: str | Iterable[str] | None = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        stride: int = 0,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        truncation_side: str | None = None,
        return_tensors: str | None = None,
        return_offsets: bool = False,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_token_type_ids: bool = False,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        **wrong: Never,
    ) -> Batch:
        """Encode one text, several, or pairs of texts as a model's inputs: "input_ids" and "attention_mask".

        The result is a dict whose entries are also attributes: `tokenizer(text).input_ids`.

        Args:
            padding: True or "longest" pads to the longest row, "max_length" to `max_length`; with the `pad_token`.
            truncation: True or "longest_first" cuts to `max_length`, the longer text of a pair first; "only_first" and
                "only_second" cut one of them. The length includes the tokens that the post-processor adds.
            stride: the number of tokens that consecutive rows of one text share with `return_overflowing_tokens`.
            padding_side, truncation_side: "left" or "right".
            return_tensors: "np" for numpy, "pt" for torch; None for lists.
            return_offsets: "offset_mapping", as `encode_with_offsets` returns it.
            return_overflowing_tokens: the tokens cut off, as further rows, with "overflow_to_sample_mapping".
            return_special_tokens_mask: "special_tokens_mask", 1 for tokens added around the texts.
            return_token_type_ids: "token_type_ids", by default 0 for the first text and 1 for the second.
            allowed_special, disallowed_special: as for `encode`.

        Nothing is truncated or padded unasked. With `truncation=True` or `padding=True`, defaults come from the
        sections of the tokenizer's file, or else its "model_max_length", "padding_side" and "truncation_side".

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 258, special_tokens=["<pad>"], pad_token="<pad>")
        >>> t(["ab", "cab"], padding=True)
        {'input_ids': [[256, 257], [99, 256]], 'attention_mask': [[1, 0], [1, 1]]}

        Raises ValueError for an empty batch, impossible sizes, a missing length or pad token, and tensors of rows of
        different lengths; TypeError naming an item that isn't a text; MissingDependencyError.
        """
        if wrong:
            refuse_unknown(self.__call__, wrong)
        from .assemble import encode_rows

        return encode_rows(
            self,
            text,
            text_pair,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            truncation_side=truncation_side,
            return_tensors=return_tensors,
            return_offsets=return_offsets,
            return_overflowing_tokens=return_overflowing_tokens,
            return_special_tokens_mask=return_special_tokens_mask,
            return_token_type_ids=return_token_type_ids,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special,
        )

    def pad(
        self,
        encoded: Any,
        padding: bool | str = True,
        *,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
    ) -> Batch:
        """Pad the results of calls to rows of one length, as transformers' data collators need.

        Args:
            encoded: the result of one call, or a list of results, one a row; further columns, such as labels, are
                unchanged.
            padding: True or "longest" pads to the longest row, "max_length" to `max_length`. This and the other
                arguments are as for `__call__`.

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 258, special_tokens=["<pad>"], pad_token="<pad>")
        >>> t.pad([t("ab"), t("cab")])
        {'input_ids': [[256, 257], [99, 256]], 'attention_mask': [[1, 0], [1, 1]]}

        Raises ValueError without "input_ids", and as `__call__` does; TypeError for anything but results of calls.
        """
        from .assemble import pad

        return pad(
            self,
            encoded,
            padding,
            max_length=max_length,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_tensors=return_tensors,
        )

    def batch_decode(self, sequences: Iterable[Iterable[int]], skip_special_tokens: bool = False) -> list[str]:
        """Return the text of each sequence of ids, as in transformers: pad tokens aren't removed."""
        return self.decode_batch(sequences, skip_padding=False, skip_special_tokens=skip_special_tokens)

    if TYPE_CHECKING:

        def save(self, folder: str | Path) -> None: ...

    def save_pretrained(self, folder: str | Path) -> tuple[str, ...]:
        """Save as `save` does, and return the paths of the written files."""
        from pathlib import Path

        self.save(folder)
        return tuple(str(Path(folder) / name) for name in ("tokenizer_config.json", "tokenizer.json"))
