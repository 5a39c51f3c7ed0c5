"""NOT byte-pair encoding: greedy longest match, which many tutorials confuse with it.

It takes the longest token that fits and moves on. BPE instead applies the merge that was learned first, and the results
differ on thousands of common words. It is here only for comparison; no tokenizer can use it.

Chapter: Encoding. Cost: O(n) for a piece of n bytes. Source: WordPiece encodes this way (Song et al. 2021,
arXiv:2012.15524), with a vocabulary trained for it.
"""

from ..model.bpe import BPEModel
from .trie import build_trie, longest_match


class NotBPELongestMatch:
    """Greedy longest match over the vocabulary.

    >>> model = BPEModel.from_merges([(b"a", b"b"), (b"b", b"c"), (b"bc", b"d")])
    >>> [model.tokens[i] for i in NotBPELongestMatch(model).encode_piece(b"bcd")]
    [b'bcd']
    """

    def __init__(self, model: BPEModel) -> None:
        self.model = model
        self.trie, _ = build_trie(dict(model.ids))

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of the longest tokens from left to right."""
        ids, start = [], 0
        while (token := longest_match(self.trie, piece, start)) is not None:
            ids.append(token)
            start += len(self.model.tokens[token])
        return ids
