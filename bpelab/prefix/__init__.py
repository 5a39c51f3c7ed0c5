"""Texts that go on: which ids the encoding can begin with if only the beginning of the text is known, and what follows.

`BPETokenizer.covers` is here: `served.py` says for which tokenizers, `piece_borders.py` guesses where the pattern will
cut, `byte_states.py` reads a text with these guesses, `valid_tokens.py` says which tokens can come next, and
`definition.py` is what all are compared with.
`ByteModel` makes a model of bytes from a model of tokens, and `ensemble` one of several. It may import `core` and the
layers below it. Begin with `covers.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .answers import (
        CoverShares as CoverShares,
        NextBytes as NextBytes,
        TextProbability as TextProbability,
    )
    from .byte_model import ByteModel as ByteModel
    from .ensembles import Ensemble as Ensemble, ensemble as ensemble

_HOMES = {
    "ByteModel": "byte_model",
    "CoverShares": "answers",
    "Ensemble": "ensembles",
    "NextBytes": "answers",
    "TextProbability": "answers",
    "ensemble": "ensembles",
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
