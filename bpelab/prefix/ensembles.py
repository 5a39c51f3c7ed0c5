"""An ensemble: several models, each with a tokenizer of its own, that write one text together, byte by byte.

Their tokens are different texts, so their probabilities can't be averaged; those of the next byte can. An ensemble has
the weighted mean of the models' probabilities of the next byte, each after the text so far. A product, which is a mean
of logarithms, would let one model forbid what others want. A mean needs at most `-log2(weight)` bits more for a byte
than each of its models.

Cost: that of each model's `next_bytes`, for each byte. Sources: Phan et al. 2024, "Exact Byte-Level Probabilities from
Tokenized Language Models for FIM-Tasks and Model Ensembles", and Hayase et al. 2025, "Sampling from Your Language Model
One Byte at a Time", have ensembles of models of bytes.
"""

import math
import random
from collections.abc import Iterable, Iterator

from .._support.validate import check_size
from .answers import NextBytes
from .byte_model import END, ByteModel
from .covers import as_bytes


class Ensemble:
    """Models that write one text together; made by `ensemble`."""

    def __init__(self, models: list[ByteModel], weights: list[float]) -> None:
        self.models, self.weights = models, weights

    def next_bytes(self, prompt: str | bytes) -> NextBytes:
        """Return the mean probability of each next byte. Bytes may end inside a character.

        >>> from bpelab import BPETokenizer
        >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
        >>> def always(letter):
        ...     logits = [0.0 if token == ord(letter) else -50.0 for token in range(262)]
        ...     return ByteModel(lambda ids: logits, tokenizer)
        >>> after = ensemble([always("a"), always("b")], [3, 1]).next_bytes("x").probabilities
        >>> round(after[ord("a")], 2), round(after[ord("b")], 2)
        (0.75, 0.25)
        """
        answers = [model.next_bytes(prompt) for model in self.models]
        weighted = list(zip(answers, self.weights))
        every = sorted({byte for answer in answers for byte in answer.probabilities})
        return NextBytes(
            {byte: math.fsum(each.probabilities.get(byte, 0) * share for each, share in weighted) for byte in every},
            math.fsum(answer.end * share for answer, share in weighted),
            sum(answer.evaluations for answer in answers),
            math.fsum(answer.missing * share for answer, share in weighted),
        )

    def sample(self, prompt: str | bytes, max_bytes: int, *, seed: int | None = None) -> Iterator[int]:
        """Yield the bytes that follow a prompt, drawn one by one, until the text ends, or there are `max_bytes`."""
        check_size(max_bytes, "max_bytes")
        rng, text = random.Random(seed), as_bytes(prompt)
        for _ in range(max_bytes):
            after = self.next_bytes(text)
            [byte] = rng.choices([*after.probabilities, END], [*after.probabilities.values(), after.end])
            if byte == END:
                return
            text += bytes([byte])
            yield byte


def ensemble(models: Iterable[ByteModel], weights: Iterable[float] | None = None) -> Ensemble:
    """Return models of bytes as one, which may have different tokenizers.

    Args:
        models: at least one.
        weights: a positive number for each, whose sum doesn't matter; the same for all by default.
    """
    made = list(models)
    if not made or not all(isinstance(model, ByteModel) for model in made):
        raise TypeError("models are one or more ByteModels, such as those of ChatSession.byte_model")
    given = [1.0] * len(made) if weights is None else list(map(float, weights))
    if len(given) != len(made) or not all(0 < weight < math.inf for weight in given):
        raise ValueError(f"weights are a positive number for each of the {len(made)} models, not {given}")
    return Ensemble(made, [weight / math.fsum(given) for weight in given])
