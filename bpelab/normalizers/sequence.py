"""Sequence: several normalizers in a row."""

from dataclasses import dataclass

from ..texts.aligned_string import AlignedString
from ..texts.stages import Stage
from .base import BoundedNormalizer, Normalizer, check_depth, normalize_aligned, stages_of


@dataclass(frozen=True)
class NormalizerSequence(BoundedNormalizer):
    """Apply the `normalizers` in order, each to the output of the one before.

    >>> from bpelab.normalizers import NFD, StripAccents
    >>> NormalizerSequence((NFD(), StripAccents()))("é")
    'e'

    Raises TextTooLongError if a result becomes too long for the input of the whole sequence, and ValueError
    for more than 128 steps and for sequences nested more than 50 deep.
    """

    normalizers: tuple[Normalizer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "normalizers", tuple(self.normalizers))
        object.__setattr__(self, "depth", check_depth([getattr(step, "depth", 0) for step in self.normalizers]))

    def apply_bounded(self, text: str, limit: int) -> str:
        for normalizer in self.normalizers:
            text = (
                normalizer.apply_bounded(text, limit) if isinstance(normalizer, BoundedNormalizer) else normalizer(text)
            )
        return text

    def stages(self) -> list[Stage]:
        return [stage for normalizer in self.normalizers for stage in stages_of(normalizer)]

    def align(self, string: AlignedString) -> AlignedString:
        for normalizer in self.normalizers:
            string = normalize_aligned(normalizer, string)
        return string
