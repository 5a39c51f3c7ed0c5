"""What a model of bytes answers (`byte_model.py`)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NextBytes:
    """What comes after a prompt.

    Attributes:
        probabilities: of each byte that can be next; with `end` they add up to 1.
        end: the probability that the text ends.
        evaluations: how often the model was called. What it had been asked before was cached.
        missing: 0, or, if `max_evaluations` was reached, how much the probabilities may be wrong in all.
    """

    probabilities: dict[int, float]
    end: float
    evaluations: int
    missing: float


@dataclass(frozen=True)
class CoverShares:
    """How likely each cover of a prompt is.

    Attributes:
        shares: of each cover in the probability of all, the likeliest first.
        evaluations, missing: as in NextBytes; the shares may be wrong by `missing` in all.
    """

    shares: dict[tuple[int, ...], float]
    evaluations: int
    missing: float


@dataclass(frozen=True)
class TextProbability:
    """How probable a text is, as the beginning of what a model writes. Logarithms are natural.

    Attributes:
        log_covers: the logarithm of the probability of all the text's covers together.
        log_canonical: that of the ids alone to which the text is encoded, if it ends there; None inside a character.
        evaluations, missing: as in NextBytes; `log_covers` may be too small by the share `missing`.
        log_spellings: that of all sequences of tokens that spell the text, or a longer one; None if not asked for.
        missing_spellings: the share by which it may be too small, since `max_evaluations` was reached.
    """

    log_covers: float
    log_canonical: float | None
    evaluations: int
    missing: float
    log_spellings: float | None = None
    missing_spellings: float = 0.0
