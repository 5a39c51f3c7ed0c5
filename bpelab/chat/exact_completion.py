"""Exact completions: a text that goes on from a prompt which may end anywhere, inside a word or a character.

The usual way encodes the prompt as if it were a whole text, and lets the model choose tokens after its last one. If the
prompt ends inside a token, the model then goes on from ids that it has hardly ever seen. Here the first choice is among
the prompt's covers, by their probabilities (`prefix/byte_model.py`); from there on tokens are chosen as usual. So the
texts are those that the model would have written itself, of which only those that begin with the prompt are kept.

Cost: a call of the model for each token, and those for the covers. Sources: those of `prefix/covers.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import exp, inf, log
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..prefix.byte_model import ByteModel
from ..prefix.covers import spelled_size
from .answerer import Answerer
from .backends.base import Cancelled
from .generation import Generated
from .response import ActiveResponse, ExactPrompt
from .sampling import Sampling, most_likely

if TYPE_CHECKING:
    from .backends.base import Logits


def complete_exactly(answerer: Answerer, turn: ActiveResponse, before: list[int], prompt: bytes) -> Iterator[Generated]:
    """Yield what a model writes after `before` and a prompt whose last tokens are chosen among its covers.

    The first token is the cover's last, if that goes beyond the prompt.
    """
    began, backend, tokenizer = perf_counter(), answerer.backend, answerer.tokenizer

    def logits(ids: list[int]) -> "Logits":
        return backend.next_logits(ids, lambda: turn.cancelled)

    model = ByteModel(logits, tokenizer, before=before, stop=answerer.stop)
    try:
        covers = model.covers(prompt)
    except Cancelled:
        return
    if turn.cancelled:
        return
    cover = choose_cover(covers.shares, answerer.sampling)
    made = int(spelled_size(tokenizer, cover) > len(prompt)) if cover else 0
    inside = cover[: len(cover) - made]
    turn.prompt_tokens = len(before) + len(inside)
    turn.begin_inside(ExactPrompt(inside, covers.shares[cover], covers.evaluations, covers.missing), prompt)
    if made:
        row = model.calls.row(inside)
        top = most_likely(row, answerer.top_tokens)
        yield Generated(cover[-1], exp(float(row[cover[-1]])), perf_counter() - began, top)
    yield from answerer.answer(turn, [*before, *cover], made=made)


def choose_cover(shares: Mapping[tuple[int, ...], float], sampling: Sampling) -> tuple[int, ...]:
    """Return a cover, chosen as a token is: the settings apply to the covers' probabilities."""
    seed = None if sampling.seed is None else sampling.seed + 1  # tokens are chosen by numbers of their own
    logits: Any = np.array([log(share) if share else -inf for share in shares.values()])
    number, _ = replace(sampling, seed=seed).chooser()(logits, [])
    return list(shares)[number]
