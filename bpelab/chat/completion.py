"""Completions: a model continues a text, which is encoded as if it ended there, or exactly (`exact_completion.py`).

Chapter: Chat on your hardware. Cost: one call of the model per token.
"""

from collections.abc import Iterator

from .answerer import Answerer
from .generation import Generated
from .response import ActiveResponse


def complete_as_encoded(
    answerer: Answerer, turn: ActiveResponse, before: list[int] | None, text: str
) -> Iterator[Generated]:
    """Yield what a model generates after `before` and the ids of a text.

    Without `before`, the tokenizer adds the special tokens that it adds.
    """
    ids = [*(before or ()), *answerer.tokenizer.encode(text, add_special_tokens=before is None)]
    turn.prompt_tokens = len(ids)
    yield from answerer.answer(turn, ids)
