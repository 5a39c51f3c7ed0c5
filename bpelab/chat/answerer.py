"""An answerer: a session's model with the settings of one answer.

Chapter: Chat on your hardware. Cost: one call of the model per token.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .backends.base import Backend
from .generation import Generated, generate
from .response import ActiveResponse
from .sampling import Sampling

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer


@dataclass(frozen=True)
class Answerer:
    """What `generate` needs beside ids.

    Attributes:
        stop: the ids at which an answer ends.
        max_new_tokens, top_tokens: as for ChatSession.
    """

    backend: Backend
    tokenizer: "BPETokenizer"
    sampling: Sampling
    stop: frozenset[int]
    max_new_tokens: int
    top_tokens: int

    def answer(self, turn: ActiveResponse, ids: Sequence[int], *, made: int = 0) -> Generator[Generated, None, None]:
        """Yield what the model generates after ids, the last `made` of which are tokens of the answer already.

        How much of the prompt was cached and why the answer ended is noted in `turn`.
        """
        tokens = generate(
            self.backend,
            ids,
            self.sampling,
            max_new_tokens=self.max_new_tokens - made,
            stop=self.stop,
            top_tokens=self.top_tokens,
            cancelled=lambda: turn.cancelled,
            matcher=turn.matcher,
        )
        try:
            first = next(tokens)
        except StopIteration as end:
            turn.reason, turn.reused = end.value, self.backend.reused
            return
        turn.reused = self.backend.reused
        yield first
        turn.reason = yield from tokens
