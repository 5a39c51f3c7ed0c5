"""The generation loop that every backend shares: ids in, ids out.

Ask the model for logits, choose a token, append it, repeat; stop at a stop id, at the limit, or when the context is
full. Chapter: A model answers. Cost: one call of the model per token.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from .backends.base import Backend, Cancelled, not_cancelled
from .sampling import GREEDY, Sampling, most_likely

if TYPE_CHECKING:
    from ..constraints import Matcher

Reason = Literal["stop", "length", "context", "cancelled"]


@dataclass(frozen=True)
class Generated:
    """One token that a model chose.

    Attributes:
        id: the token.
        probability: the model's probability for it, before any sampling settings.
        seconds: since the request.
        top: the most likely tokens, as many as were asked for: ids and probabilities, the likeliest first.
    """

    id: int
    probability: float
    seconds: float
    top: tuple[tuple[int, float], ...] = ()


def generate(
    backend: Backend,
    ids: Sequence[int],
    sampling: Sampling = GREEDY,
    *,
    max_new_tokens: int,
    stop: frozenset[int] = frozenset(),
    top_tokens: int = 0,
    cancelled: Callable[[], bool] = not_cancelled,
    matcher: "Matcher | None" = None,
) -> Generator[Generated, None, Reason]:
    """Yield the tokens that a model generates after `ids`; the generator's return value is the reason why it ended.

    Args:
        stop: ids at which the answer ends. The one that ends it isn't yielded.
        top_tokens: how many of the most likely tokens to return with each token.
        cancelled: called before each token, and between the parts of a long prompt.
        matcher: of a constraint on the text (`bpelab.constraints`). It goes on with each id. Where the text has to end,
            that is a stop.

    "stop": at a stop id; "length": after max_new_tokens; "context": the context is full; "cancelled".
    Raises ConversationError for a prompt that is longer than the context.
    """
    began = perf_counter()
    row, choose = list(ids), sampling.chooser()
    for _ in range(max_new_tokens):
        if cancelled():
            return "cancelled"
        if len(row) > max(backend.context, len(ids)):
            return "context"
        possible = None if matcher is None else matcher.allowed(stop)
        if possible is not None and not len(possible):
            return "stop"
        try:
            logits = backend.next_logits(row, cancelled)
        except Cancelled:
            return "cancelled"
        token, probability = choose(logits, row, possible)
        if token in stop:
            return "stop"
        if matcher is not None:
            matcher.advance(token)
        yield Generated(token, probability, perf_counter() - began, most_likely(logits, top_tokens))
        row.append(token)
    return "length"
