"""Measure what an adaptation gained, and whether it broke anything: tokens per byte, and the model's bits per byte.

Both are measured on one text, which neither tokenizer should have been trained on. Bits per byte don't depend on the
tokenizer, so the old and the new model can be compared (`chat/text_bits.py`).

Chapter: New words for an old model. Cost: two model calls per token of `BITS_BYTES` bytes.
"""

from typing import TYPE_CHECKING, NamedTuple

from .._support.textio import utf8
from ..chat.text_bits import bits_per_byte
from ..errors import BPELabError

if TYPE_CHECKING:
    from pathlib import Path

    from .plan import AdaptationPlan

BITS_BYTES = 4_000
"""The model is measured on this many bytes of the text; all of it is encoded."""


class Measured(NamedTuple):
    """The measurements on a text, for the old tokenizer and model and for the new ones.

    `bits_before` and `bits_after` are bits per byte on the first `bits_bytes` bytes. They are None if they weren't
    measured; `problem` says why.
    """

    bytes: int
    tokens_before: int
    tokens_after: int
    bits_bytes: int = 0
    bits_before: float | None = None
    bits_after: float | None = None
    problem: str = ""

    def __str__(self) -> str:
        lines = {
            "tokens per byte": f"{self.tokens_before / self.bytes:.4f} -> {self.tokens_after / self.bytes:.4f}, "
            f"on {self.bytes:,} bytes",
            "bits per byte": f"not measured: {self.problem}",
        }
        if self.bits_before is not None and self.bits_after is not None:
            lines["bits per byte"] = f"{self.bits_before:.3f} -> {self.bits_after:.3f}, on {self.bits_bytes:,} bytes"
        return "\n".join(f"{name:17} {value}" for name, value in lines.items())


def measure(
    plan: "AdaptationPlan",
    out: "str | Path",
    text: str,
    *,
    bits: bool = True,
    backend: str = "auto",
    progress: bool | None = False,
) -> Measured:
    """Measure a model, and the adapted one that `adapt_model` wrote to `out`, on a text.

    Args:
        plan: the plan of the adaptation.
        out: the adapted model.
        bits: whether to run the model, if an engine for it is installed.
        backend: one of BACKENDS, or "auto".

    Raises ValueError for an empty text.
    """
    data = utf8(text)
    if not data:
        raise ValueError("nothing can be measured on an empty text")
    before, after = (each.count_tokens(text, add_special_tokens=False) for each in (plan.old, plan.new))
    found = Measured(len(data), before, after)
    if not bits:
        return found._replace(problem="it wasn't asked for")
    part = data[:BITS_BYTES].decode("utf-8", "ignore")
    try:
        bits_before, bits_after = (
            bits_per_byte(model, part, tokenizer=tokenizer, backend=backend, progress=progress)
            for model, tokenizer in ((plan.files, plan.old), (out, plan.new))
        )
    except BPELabError as error:
        return found._replace(problem=" ".join(str(error).split()))
    return found._replace(bits_bytes=len(utf8(part)), bits_before=bits_before, bits_after=bits_after)
