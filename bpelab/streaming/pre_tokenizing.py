"""The pre-tokenizer of a tokenizer, for a text that arrives in parts."""

from ..pipeline import Pipeline
from ..pretokenizers.components import FixedLength
from ..pretokenizers.implied import ImpliedCuts
from .held import Chain, length
from .safe_pairs import SafePair
from .safe_places import continued, safe_pair, steps_of
from .stages import last_place


class Cutter:
    """Where a text may be cut, and the pieces of its parts."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, pre_tokenizer = pipeline, pipeline.pre_tokenizer
        self._later = None if pre_tokenizer is None else continued(pre_tokenizer)
        steps = () if pre_tokenizer is None else steps_of(pre_tokenizer)
        self._every = steps[0].length if steps and isinstance(steps[0], FixedLength) else 0
        cuts = ImpliedCuts.of(pipeline.model)

        def implied(a: str, b: str) -> bool:
            return cuts is not None and len(cuts.split(a + b)) == 2

        self._safe: SafePair = implied if pre_tokenizer is None else safe_pair(pre_tokenizer, implied)

    def place(self, held: Chain, text: str) -> int | None:
        """The last place in `text`, behind `held`, where it can be cut; None if there is none."""
        if self._every:
            rest = (length(held) + len(text)) % self._every
            return len(text) - rest if rest < len(text) else None
        return last_place(held, text, self._safe)

    def pieces(self, text: str, from_first: int) -> list[str]:
        """The pieces of the beginning of a text, as `Pipeline` cuts it."""
        return self._pipeline._cut(text, from_first)

    def more_pieces(self, text: str) -> list[str]:
        """The pieces of what follows a cut."""
        return self._pipeline._cut(text, 0) if self._later is None else self._later.split(text, False)
