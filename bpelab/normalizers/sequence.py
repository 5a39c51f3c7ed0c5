"""Several normalizers, one after the other."""

from dataclasses import dataclass

from .base import Growing, Normalizer, check_depth


@dataclass(frozen=True)
class NormalizerSequence(Growing):
    """Each normalizer works on what the one before it made.

    >>> from bpelab.normalizers import NFD, StripAccents
    >>> NormalizerSequence((NFD(), StripAccents()))("é")
    'e'

    Raises TextTooLongError where a result becomes too long for the text that came in at the beginning, and ValueError
    for more than 128 steps and for sequences nested more than 50 deep.
    """

    normalizers: tuple[Normalizer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "normalizers", tuple(self.normalizers))
        object.__setattr__(self, "depth", check_depth([getattr(step, "depth", 0) for step in self.normalizers]))

    def within(self, text: str, limit: int) -> str:
        for normalizer in self.normalizers:
            text = normalizer.within(text, limit) if isinstance(normalizer, Growing) else normalizer(text)
        return text
