"""Rules that initialize the row of a new token, in the input and in the output matrix alike.

`mean`, the default, is the mean of the rows of the token's parts. A logit is the product of a row of the output matrix
and the model's last hidden state. So the logit of a new token is the mean of its parts' logits, never above the largest
of them. The most likely token stays the most likely, and a new token is likely where its parts are. `average` is the
mean of all rows, which has only the first property. `normal` draws rows close to that average, as
`resize_token_embeddings` of transformers does; in 16 bits they are the average.

Other published rules need what a model's folder doesn't have: FOCUS (Dobler and de Melo 2023) weights the rows of
shared tokens by their similarity in auxiliary embeddings, which have to be trained on a corpus first.

Chapter: New words for an old model. Cost: reads the rows of the parts; `average` and `normal` read the matrix once.
Sources: Gee, Zugarini, Rigutini and Torroni 2022, "Fast Vocabulary Transfer for Language Model Compression" (`mean`);
Hewitt 2021, "Initializing New Word Embeddings for Pretrained Language Models" (`average`); transformers
`modeling_utils.py` (`normal`, and the factor that shrinks its covariance).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .numbers import to_float64

Rows = NDArray[np.float64]
BLOCK = 4096
"""The number of matrix rows in memory at a time."""
NEARNESS = 1e-9
"""The factor by which `normal` multiplies the rows' covariance, to draw close to the average."""


class OldRows:
    """The rows of a matrix in the original model, read from disk when needed.

    Args:
        read: a function from row indices to their numbers as stored, rows x width.
        kind: their type, a key of `numbers.STORED`.
        rows_with_token: the rows that have a token.
    """

    def __init__(
        self, read: Callable[[NDArray[np.int64]], NDArray[Any]], kind: str, rows_with_token: NDArray[np.int64]
    ) -> None:
        self.read, self.kind, self.rows_with_token = read, kind, rows_with_token

    def __getitem__(self, rows: Sequence[int] | NDArray[np.int64]) -> Rows:
        """Return the rows at the given indices as float64."""
        return to_float64(self.read(np.asarray(rows, np.int64)), self.kind)

    @cached_property
    def average(self) -> Rows:
        """The mean of all rows that have a token, shape (width,)."""
        blocks = (self.rows_with_token[start : start + BLOCK] for start in range(0, len(self.rows_with_token), BLOCK))
        total: Rows = np.sum([self[block].sum(axis=0) for block in blocks], axis=0)
        average: Rows = np.divide(total, len(self.rows_with_token))
        return average

    @cached_property
    def spread(self) -> Rows:
        """A matrix A, width x width, such that A @ noise has the covariance of the rows with a token."""
        covariance = np.zeros((len(self.average), len(self.average)))
        for start in range(0, len(self.rows_with_token), BLOCK):
            deviations = self[self.rows_with_token[start : start + BLOCK]] - self.average
            covariance += deviations.T @ deviations
        values, vectors = np.linalg.eigh(covariance / len(self.rows_with_token))
        spread: Rows = vectors * np.sqrt(np.clip(values, 0, None))
        return spread


Rule = Callable[[OldRows, Sequence[Sequence[int]], np.random.Generator], Rows]


def mean_of_parts(old: OldRows, parts: Sequence[Sequence[int]], random: np.random.Generator) -> Rows:
    """Return the mean of its parts' rows for each new token, or the average of all rows if it has no parts.

    >>> old = OldRows(np.array([[0.0, 0], [2, 4], [4, 0]]).__getitem__, "F64", np.arange(3))
    >>> mean_of_parts(old, [[1, 2], [1], []], np.random.default_rng(0)).tolist()
    [[3.0, 2.0], [2.0, 4.0], [2.0, 1.3333333333333333]]
    """
    return np.stack([old[ids].mean(axis=0) if len(ids) else old.average for ids in parts])


def average_of_all(old: OldRows, parts: Sequence[Sequence[int]], random: np.random.Generator) -> Rows:
    """Return the average of all rows for each new token."""
    return np.tile(old.average, (len(parts), 1))


def normal_near_average(old: OldRows, parts: Sequence[Sequence[int]], random: np.random.Generator) -> Rows:
    """Draw rows from a normal distribution around the average, with NEARNESS times the covariance of all rows.

    Needs memory for a width x width matrix.
    """
    noise = random.standard_normal((len(parts), old.spread.shape[1]))
    drawn: Rows = old.average + np.sqrt(NEARNESS) * (noise @ old.spread.T)
    return drawn


ROW_RULES: Mapping[str, Rule] = {
    "mean": mean_of_parts,
    "average": average_of_all,
    "normal": normal_near_average,
}
"""Rules by name, for the argument `rows` of `adapt_model`."""
