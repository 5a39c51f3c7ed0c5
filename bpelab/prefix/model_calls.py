"""Calls of a model: from ids to the log-probabilities of the next token, counted, and kept for a while."""

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence

from .._support.numpy_import import NDArray, np
from ..errors import BackendError
from .weighing import Ids, Row

Logits = Callable[[list[int]], Sequence[float] | NDArray[np.float32] | NDArray[np.float64]]


class ModelCalls:
    """A model that is called once for the same ids, as long as these are among the last `cache_size`.

    Attributes:
        count: how often the model was called.
    """

    def __init__(self, logits: Logits, before: list[int], largest_id: int, cache_size: int) -> None:
        self._logits, self._before, self._largest_id, self._cache_size = logits, before, largest_id, cache_size
        self._rows: OrderedDict[Ids, Row] = OrderedDict()
        self.count = 0

    def row(self, ids: Ids) -> Row:
        """Return the log-probabilities after ids. Raises BackendError for logits that aren't numbers, or too few."""
        row = self._rows.pop(ids, None)
        if row is None:
            self.count += 1
            row = log_probabilities(self._logits([*self._before, *ids]))
            if len(row) <= self._largest_id:
                raise BackendError(f"the model returned {len(row):,} logits, too few for the id {self._largest_id:,}")
            if len(self._rows) >= self._cache_size > 0:
                self._rows.popitem(last=False)
        self._rows[ids] = row
        return row

    def log_probability(self, ids: Ids) -> float:
        """Return the logarithm of the probability of ids, one after the other."""
        return math.fsum([float(self.row(ids[:at])[token]) for at, token in enumerate(ids)])


def log_probabilities(logits: Sequence[float] | NDArray[np.float32] | NDArray[np.float64]) -> Row:
    """Return the logarithms of the probabilities: logits, made to add up to 1.

    >>> [round(math.exp(each), 2) for each in log_probabilities([1.0, 1.0, -math.inf, 2.0])]
    [0.21, 0.21, 0.0, 0.58]
    """
    row = np.asarray(logits, np.float64)
    top = float(row.max())
    if not math.isfinite(top):
        raise BackendError(f"the model's largest logit is {top}, and has to be a number: its weights may be damaged")
    found: Row = row - (top + math.log(np.exp(row - top).sum()))
    return found
