"""Exact completions: a text that goes on from a prompt which may end anywhere, inside a word or a character.

The usual way encodes the prompt as if it were a whole text, and lets the model choose tokens after its last one. If the
prompt ends inside a token, the model then goes on from ids that it has hardly ever seen. Here the first choice is among
the prompt's covers, by their probabilities (`prefix/byte_model.py`); from there on tokens are chosen as usual. So the
texts are those that the model would have written itself, of which only those that begin with the prompt are kept.

Cost: a call of the model for each token, and those for the covers. Sources: those of `prefix/covers.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Any

import numpy as np

from ..prefix.byte_model import ByteModel
from .backends.base import Backend
from .generation import Reason, generate
from .sampling import Sampling


@dataclass(frozen=True)
class ExactCompletion:
    """A text that a model wrote after a prompt.

    Attributes:
        data: the bytes after the prompt.
        ids: the ids of the prompt and of what follows.
        reason: why it ended: "stop", "length" or "context".
    """

    data: bytes
    ids: tuple[int, ...]
    reason: Reason

    @property
    def text(self) -> str:
        """What follows the prompt, as text; a part of a character becomes U+FFFD."""
        return self.data.decode(errors="replace")


def complete_exactly(
    model: ByteModel, backend: Backend, prompt: bytes, sampling: Sampling, max_new_tokens: int
) -> ExactCompletion:
    """Return what a model writes after a prompt whose last tokens are chosen among its covers."""
    tokenizer = model.tokenizer
    begun = choose_cover(model.covers(prompt), sampling)
    made = generate(backend, [*model.before, *begun], sampling, max_new_tokens=max_new_tokens, stop=model.stop)
    ids, reason = list(begun), None
    while reason is None:
        try:
            ids.append(next(made).id)
        except StopIteration as end:
            reason = end.value
    data = tokenizer.decode_bytes(ids, unknown="replace", skip_special_tokens=True)
    return ExactCompletion(data[len(prompt) :], tuple(ids), reason)


def choose_cover(shares: dict[tuple[int, ...], float], sampling: Sampling) -> Sequence[int]:
    """Return a cover, chosen as a token is: the settings apply to the covers' probabilities."""
    seed = None if sampling.seed is None else sampling.seed + 1  # tokens are chosen by numbers of their own
    logits: Any = np.array([log(share) if share else -inf for share in shares.values()])
    number, _ = replace(sampling, seed=seed).chooser()(logits, [])
    return list(shares)[number]
