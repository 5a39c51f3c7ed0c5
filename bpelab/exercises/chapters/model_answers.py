"""The exercises of *A model answers*."""

from collections.abc import Iterator
from itertools import product

from ..exercise import Exercise


def kept_by_top_p(probabilities, p):
    """Return the ids that top-p keeps, the most likely first; ties go to the lower id.

    `probabilities` has one for each id, and they add up to 1. Take as few ids as possible
    whose total reaches `p`, and at least one.
    """
    order = sorted(range(len(probabilities)), key=lambda token: -probabilities[token])
    kept, reached = order[:1], probabilities[order[0]]
    for token in order[1:]:
        if reached >= p:
            break
        kept.append(token)
        reached += probabilities[token]
    return kept


def answer_of(said, stop, max_tokens):
    """Return (ids, reason): a model's answer, and why it ended.

    `said` are the ids that the model would generate if nothing stopped it, more than
    `max_tokens` of them. "stop": at an id in `stop`, which is not part of the answer.
    "length": the answer has `max_tokens` ids, and no more are generated.
    """
    for index, token in enumerate(said[:max_tokens]):
        if token in stop:
            return said[:index], "stop"
    return said[:max_tokens], "length"


def to_compute(held, prompt):
    """Return how many ids of `prompt` a model has to compute if its cache holds the ids `held`.

    Their common prefix needn't be computed again, except for the last id of the prompt,
    whose logits are needed.
    """
    shared = 0
    while shared < min(len(held), len(prompt) - 1) and held[shared] == prompt[shared]:
        shared += 1
    return len(prompt) - shared


def _distributions() -> Iterator[tuple[list[float], float]]:
    shares = [[1.0], [0.5, 0.5], [0.25, 0.75], [0.25, 0.25, 0.5], [0.125, 0.5, 0.125, 0.25]]
    shares += [[0.25] * 4, [0.0, 1.0, 0.0], [0.5, 0.125, 0.125, 0.125, 0.125], [0.0625] * 8 + [0.5]]
    yield from product(shares, (0.5, 0.75, 0.0, 0.25, 0.6, 0.9, 1.0))


def _sums_to_one(probabilities: list[float], p: float) -> bool:
    return (
        bool(probabilities) and all(share >= 0 for share in probabilities) and sum(probabilities) == 1 and 0 <= p <= 1
    )


def _answers() -> Iterator[tuple[list[int], set[int], int]]:
    rows = [[9, 5, 5, 5, 5], [5, 9, 5, 5, 5], [5, 6, 7, 8, 4], [5, 5, 9, 9, 6], [8, 9, 8, 9, 8], [7, 7, 7, 7, 9]]
    yield from product(rows, ({9}, {8, 9}, set()), (1, 2, 3, 4))


def _longer(said: list[int], stop: set[int], max_tokens: int) -> bool:
    return len(said) > max_tokens >= 1


def _rows() -> Iterator[tuple[list[int], list[int]]]:
    rows = [[], [5], [5, 6], [5, 6, 7], [6, 5], [5, 7, 6], [5, 6, 7, 8], [5, 6, 8, 8], [5, 5, 5], [9, 6, 7, 8]]
    yield from product(rows, rows[1:])


EXERCISES = [
    Exercise(
        "model_answers.1",
        "Top-p by hand",
        kept_by_top_p,
        _distributions,
        (
            "Sort the ids by probability. `sorted` keeps equal ones in their original order.",
            "Take ids until their total is at least p. The one that reaches it stays.",
        ),
        level="easy",
        next_step="What does a p of 0.1 leave when the model is sure, and when it isn't?",
        is_valid=_sums_to_one,
    ),
    Exercise(
        "model_answers.2",
        "Where an answer ends",
        answer_of,
        _answers,
        (
            "Go through the ids one by one, as `generate` does, and look at each before you keep it.",
            "No id is generated after max_tokens of them, so the next one can't be the reason.",
        ),
        level="medium",
        next_step="Does the stop id belong in the history of the conversation? Look at the template.",
        is_valid=_longer,
    ),
    Exercise(
        "model_answers.3",
        "What is computed again",
        to_compute,
        _rows,
        (
            "Count the equal ids from the start, and stop at the first that differs.",
            "Even if the whole prompt is held, one id has to be computed.",
        ),
        level="easy",
        next_step="This is why prompts that begin alike are cheap: put what never changes first.",
        is_valid=lambda held, prompt: bool(prompt),
    ),
]
