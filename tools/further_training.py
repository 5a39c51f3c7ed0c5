"""What the records of models that are trained further share: passages of a text as rows, and bits per byte, in torch.

Used by `book/new_words_record.py` and `book/gemma_record.py`.
"""

import math
from array import array
from collections.abc import Iterable
from typing import Any

from bpelab import BPETokenizer
from bpelab.chat.text_bits import passages, start_ids

from .make_tiny_chat.train import Row, tensors

AT_ONCE = 256
"""So many tokens' logits are in memory at once: a row of them is a megabyte for 262,144 tokens."""


def encoded(tokenizer: BPETokenizer, parts: Iterable[str]) -> list[Row]:
    """Return passages as ids, after the ids that begin a text; each id is to be learned."""
    found = []
    for part in parts:
        ids = [*start_ids(tokenizer), *tokenizer.encode(part, add_special_tokens=False)]
        found.append(Row(array("I", ids), array("b", [1] * len(ids))))
    return found


def bits(model: Any, tokenizer: BPETokenizer, text: str, size: int, at_once: int = 1) -> float:
    """Return the bits per byte of a text in passages of at most `size` bytes, computed `at_once` of them at a time.

    With the same passages, `bpelab.chat.text_bits.bits_per_byte` returns the same number, more slowly.
    """
    import torch

    found, total = encoded(tokenizer, passages(text, size)), 0.0
    for start in range(0, len(found), at_once):
        ids, labels = tensors(found[start : start + at_once])
        learned = labels >= 0
        with torch.inference_mode():
            hidden = model.model(input_ids=ids).last_hidden_state[learned]
            for part, wanted in zip(hidden.split(AT_ONCE), labels[learned].split(AT_ONCE)):
                total += torch.nn.functional.cross_entropy(model.lm_head(part), wanted, reduction="sum").item()
    return total / math.log(2) / len(text.encode())
