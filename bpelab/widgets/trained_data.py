"""A trained tokenizer as a page holds it, for the library in JavaScript to open: 14 kB for 2,048 tokens."""

from collections.abc import Iterable
from typing import Any

from ..errors import BPELabError
from ..tokenizer import BPETokenizer
from .library import published_patterns

MOST_IDS = 40_000
"""How many ids of merges a page holds for one figure: 200 kB, two for each merge."""


def trained_data(title: str, tokenizer: BPETokenizer) -> dict[str, Any]:
    """Return a trained tokenizer as the page opens it: [pattern, dialect], the ids of each merge's two tokens, merge
    after merge, and the special tokens. Raises BPELabError, with the title, for what that can't hold."""
    step = tokenizer.spec.pre_tokenizer
    split = None if step is None else step.as_single_split
    if split is None or tokenizer.spec.normalizer is not None:
        raise BPELabError(f"{title}: the box needs tokenizers with a split pattern and no normalizer")
    if not all(token.special for token in tokenizer.added_tokens):
        raise BPELabError(f"{title}: the box needs tokenizers whose added tokens are all special")
    pattern = [split.pattern, split.dialect]
    if tuple(pattern) not in published_patterns():
        raise BPELabError(f"{title}: the box has the published split patterns, and not {split.pattern:.80}")
    return {
        "pattern": pattern,
        "merges": flat_merges(title, tokenizer),
        "specials": [[name, token] for name, token in tokenizer.special_tokens.items()],
    }


def flat_merges(title: str, tokenizer: BPETokenizer) -> list[int]:
    """Return the ids of each merge's left and right token, in order. Raises BPELabError if ids are in another order."""
    model = tokenizer.model
    if model.ignore_merges:
        raise BPELabError(f"{title}: the box needs tokenizers that merge every piece, and this one takes some whole")
    merges = sorted((merge, pair) for pair, merge in model.merges.items())
    made = [(rank, token) for (rank, token), _ in merges]
    if model.byte_ids != tuple(range(256)) or made != [(rank, 256 + rank) for rank in range(len(made))]:
        raise BPELabError(
            f"{title}: the box needs bytes as ids 0 to 255 and then merges in order, as `train` numbers them"
        )
    return [token for _, pair in merges for token in pair]


def own_tokenizers(tokenizers: Iterable[BPETokenizer]) -> dict[str, Any] | None:
    """Return tokenizers for a reader's own text (`Figure.for_own_text`); None if that can't hold one, or not all."""
    try:
        found = [trained_data("", tokenizer) for tokenizer in tokenizers]
    except BPELabError:
        return None
    return {"tokenizers": found} if sum(len(each["merges"]) for each in found) <= MOST_IDS else None
