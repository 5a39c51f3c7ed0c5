"""Sampling: choose the next token from its logits.

The settings are applied in this order, each to the result of the previous one: repetition penalty, constraint,
temperature, top-k, top-p, min-p. The order and the meaning of each setting are those of Hugging Face's transformers.
One number between 0 and 1 is drawn for each token. The remaining tokens divide this interval in the order of their ids,
each as wide as its probability, and the number falls into one of them. So a seed and the same logits give the same ids
on every backend, and anyone can repeat it: the numbers come from NumPy's `Generator(PCG64(seed)).random()`.

Chapter: A model answers. Cost: O(vocabulary), with top-p O(vocabulary · log(vocabulary)) at most. Sources: Fan et
al. 2018 (top-k), Holtzman et al. 2020 (top-p), Nguyen et al. 2024 (min-p), Keskar et al. 2019 (CTRL, the penalty);
transformers `generation/logits_process.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf, isfinite
from sys import float_info
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import BackendError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .backends.base import Logits

    Scores = NDArray[np.float64]
    Ids = NDArray[np.integer[Any]]


class Choose(Protocol):
    """Chooses the next token."""

    def __call__(self, logits: "Logits", row: Sequence[int], possible: "Ids | None" = None, /) -> tuple[int, float]:
        """Return the token and its probability."""


LIMIT = 1_000.0
"""The largest repetition penalty; the smallest is 1 / LIMIT. Beyond these, a logit could overflow a float."""


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen. The default is greedy: always the most likely one.

    Args:
        temperature: the divisor of the logits: below 1, likely tokens become likelier, above 1 less so. 0 is greedy:
            the most likely token, the lowest id among equals, and no number is drawn.
        top_k: keep only this many of the most likely tokens, and any that tie with the last of them; 0 keeps all.
        top_p: keep only the most likely tokens, as many as it takes for their probabilities to reach this sum.
        min_p: keep only tokens that are at least this fraction as probable as the most likely one.
        repetition_penalty: divide positive logits of ids already in the row by this, and multiply negative ones; 1 for
            none.
        seed: for repeatable choices; None for different ones each time.

    Raises ValueError for a value that a setting can't have.

    >>> choose = Sampling(temperature=0.8, top_k=2, seed=1).chooser()
    >>> import numpy as np
    >>> logits = np.array([1.0, 3.0, 2.5, -1.0], dtype=np.float32)
    >>> [choose(logits, [])[0] for _ in range(8)]
    [1, 2, 1, 2, 1, 1, 2, 1]
    >>> GREEDY.chooser()(logits, [])[0]
    1
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        _check("temperature", self.temperature, 0)
        _check("top_k", self.top_k, 0, whole=True)
        _check("top_p", self.top_p, 0, 1)
        _check("min_p", self.min_p, 0, 1)
        _check("repetition_penalty", self.repetition_penalty, 1 / LIMIT, LIMIT)
        if self.seed is not None:
            _check("seed", self.seed, 0, whole=True)

    def chooser(self) -> "Choose":
        """Return a function from logits, of shape (vocabulary,), and previous ids to the next id and its probability.

        As a third argument it takes the ids that are possible, in order; by default all are. The probability is the
        model's, before any settings. Each chooser starts with its own random state from the seed. It raises
        BackendError if the largest logit isn't a finite number.
        """
        import numpy as np

        random = np.random.Generator(np.random.PCG64(self.seed)) if self.temperature else None

        def choose(logits: "Logits", row: Sequence[int], possible: "Ids | None" = None) -> tuple[int, float]:
            scores = np.asarray(logits, np.float64)
            if scores.ndim != 1 or not scores.size:
                raise BackendError(f"the model returned logits of shape {scores.shape} instead of one row")
            highest = float(scores.max())  # NaN, if there is one
            if not isfinite(highest):
                what = (
                    "rules every token out" if highest == -inf else f"returned the logit {highest} for the next token"
                )
                raise BackendError(f"the model {what}: its weights are damaged, or its numbers overflow on this device")
            settled = self._penalize(scores, row)
            settled = settled if possible is None else _among(settled, possible)
            token = int(settled.argmax()) if random is None else self._draw(settled, float(random.random()))
            token = token if possible is None else int(possible[token])
            return token, float(np.exp(scores[token] - highest) / np.exp(scores - highest).sum())

        return choose

    def _penalize(self, scores: "Scores", row: Sequence[int]) -> "Scores":
        import numpy as np

        if self.repetition_penalty == 1 or not row:
            return scores
        scores, seen = scores.copy(), list(set(row))
        old = scores[seen]
        scores[seen] = np.where(old < 0, old * self.repetition_penalty, old / self.repetition_penalty)
        return scores

    def _draw(self, scores: "Scores", number: float) -> int:
        """Return the token whose share of the probabilities contains `number`, which is between 0 and 1."""
        import numpy as np

        with np.errstate(over="ignore", divide="ignore"):  # a temperature near 0 makes what is far from the best -inf
            scores = (scores - scores.max()) / self.temperature
        if 0 < self.top_k < len(scores):
            scores = np.where(scores < np.partition(scores, -self.top_k)[-self.top_k], -inf, scores)
        weights = np.exp(scores)  # the best token's is 1, whatever the logits
        if self.top_p < 1:
            order = np.argsort(-scores, kind="stable")
            before = np.cumsum(weights[order]) - weights[order]
            out = before >= self.top_p * weights.sum()
            out[0] = False
            weights[order[out]] = 0
        weights[weights < self.min_p] = 0
        kept = np.flatnonzero(weights)
        ends = np.cumsum(weights[kept])
        index = int(np.searchsorted(ends, number * ends[-1], side="right"))
        return int(kept[min(index, len(kept) - 1)])


def _among(scores: "Scores", possible: "Ids") -> "Scores":
    """Return the scores of the possible ids. Raises BackendError if there are none, or all are minus infinity."""
    if possible[-1] >= len(scores):
        raise BackendError(
            f"the model has {len(scores):,} logits, too few for the id {possible[-1]:,} of its tokenizer"
        )
    if (found := scores[possible]).max() == -inf:
        raise BackendError("the model rules out every token that the constraint allows: loosen the constraint")
    return found


def most_likely(logits: "Logits | Scores", count: int) -> tuple[tuple[int, float], ...]:
    """Return the `count` most likely tokens and the model's probabilities for them, the likeliest first.

    Among equals the lower id comes first.

    >>> import numpy as np
    >>> [(token, round(share, 3)) for token, share in most_likely(np.log([0.1, 0.4, 0.1, 0.4]), 3)]
    [(1, 0.4), (3, 0.4), (0, 0.1)]
    """
    import numpy as np

    count = min(count, len(logits))
    if not count:
        return ()
    scores = np.asarray(logits, np.float64)
    among = np.flatnonzero(scores >= np.partition(scores, -count)[-count])
    best = among[np.argsort(-scores[among], kind="stable")][:count]
    weights = np.exp(scores - scores.max())
    shares = weights[best] / weights.sum()
    return tuple(zip(best.tolist(), shares.tolist()))


def _check(name: str, value: Any, least: float, most: float = float_info.max, *, whole: bool = False) -> None:
    """Raise ValueError unless a setting is a number from `least` to `most`; bools, NaN and infinities are refused."""
    kinds = (int,) if whole else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not least <= value <= most:
        kind = "a whole number" if whole else "a number"
        between = f"of at least {least:g}" if most == float_info.max else f"between {least:g} and {most:g}"
        raise ValueError(f"{name} must be {kind} {between}, not {value!r}")


SETTINGS = tuple(field.name for field in fields(Sampling))
"""The names of the settings, which are also keywords of `ChatSession`."""
GREEDY = Sampling()
"""The most likely token, always."""
