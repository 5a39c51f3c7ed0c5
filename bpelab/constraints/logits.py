"""A constraint for the engines that call a function with the logits of each next token.

transformers hands over tensors of shape (rows, ids) and (rows, vocabulary); llama-cpp-python arrays of one row. Rows
may change places between two calls, as in a beam search: each is found again by its ids.
"""

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Any

from .._support.numpy_import import np
from ..errors import BackendError

if TYPE_CHECKING:
    from .constraint import Matcher


class LogitsProcessor:
    """Sets the logits of all ids that aren't allowed to minus infinity; made by `Constraint.logits_processor`."""

    def __init__(self, matcher: "Matcher", stop_ids: Iterable[int]) -> None:
        self._start, self._stop = matcher, frozenset(stop_ids)
        self._rows: dict[tuple[int, ...], Matcher | None] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return logits in which only allowed ids are possible. Rows that have ended stay as they are."""
        if len(scores.shape) == 1:
            return self._masked([input_ids.tolist()], scores.reshape(1, -1)).reshape(-1)
        return self._masked(input_ids.tolist(), scores)

    def _masked(self, rows: list[list[int]], scores: Any) -> Any:
        matchers = [self._matcher(row) for row in rows]
        self._rows = {tuple(row): matcher for row, matcher in zip(rows, matchers)}
        possible = np.full_like(scores, -inf) if isinstance(scores, np.ndarray) else scores.new_full(scores.shape, -inf)
        for at, matcher in enumerate(matchers):
            ids = slice(None) if matcher is None else self._possible(matcher, scores.shape[-1])
            possible[at, ids] = scores[at, ids]
        return possible

    def _matcher(self, row: list[int]) -> "Matcher | None":
        """Return how far a row has got; None if it has ended."""
        before = tuple(row[:-1])
        if before not in self._rows:
            return self._start
        matcher = self._rows[before]
        if matcher is None or row[-1] in self._stop:
            return None
        matcher = matcher.copy()
        matcher.advance(row[-1])
        return matcher

    def _possible(self, matcher: "Matcher", size: int) -> Any:
        """Return the ids that can come next. Raises BackendError if there are none, or one has no logit."""
        ids = matcher.allowed(self._stop)
        if not len(ids):
            raise BackendError("the text matches and has to end here, but there are no stop ids: give one")
        if ids[-1] >= size:
            raise BackendError(f"the model has {size:,} logits, too few for the id {ids[-1]:,} of its tokenizer")
        return ids
