"""Minimal segmentation, which is NOT byte-pair encoding: the fewest tokens of a vocabulary that spell a piece.

BPE repeats its merges and doesn't look for few tokens. How many would do? Give every token the score -1, and the cut
with the highest sum is the one with the fewest: the search is `viterbi`, with bytes written as Latin-1 characters.

Chapter: Claims, tested. Cost: O(n * longest token) for a piece of n bytes. Source: dynamic programming; for Unigram,
where scores are log probabilities, Kudo 2018.
"""

import math

from ..errors import ModelError
from ..model.bpe import BPEModel
from .lattice import viterbi


class FewestTokens:
    """The shortest segmentation of a piece into tokens of a model. Ties go to the one with the longer last token.

    >>> model = BPEModel.from_merges([(b"b", b"c"), (b"a", b"b"), (b"c", b"d")])
    >>> [model.tokens[i] for i in FewestTokens(model).encode_piece(b"abcd")]  # BPE: a, bc, d
    [b'ab', b'cd']

    Raises ModelError if the model doesn't start from all 256 bytes.
    """

    def __init__(self, model: BPEModel) -> None:
        if not model.is_byte_level:
            raise ModelError("FewestTokens needs a model that starts from all 256 bytes")
        self.model = model
        self._scores = {token.decode("latin-1"): -1.0 for token in model.ids}

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of the fewest tokens that spell `piece`."""
        parts, _ = viterbi(piece.decode("latin-1"), self._scores, self.model.max_token_bytes, -math.inf)
        return [self.model.ids[part.encode("latin-1")] for part in parts]
