"""Detection of the training text: if a tokenizer was trained on a text, training on it again learns the same merges.

No record is needed, and none is kept. The merges of two texts soon differ, so for a held-out text a few merges give the
answer. A tokenizer with few merges, or one that was trained on more than this text, isn't recognised.

Chapter: Publish your own tokenizer. Cost: counting the text's words; learning all merges only if the answer is yes.
"""

from itertools import zip_longest

from ..errors import ConversionError
from ..model.merge_recovery import merge_pairs
from ..pretokenizers.split import Split
from ..tokenizer import BPETokenizer
from ..trainers.counting.corpus import count_pre_tokens
from ..trainers.ties import TIES, train_with_ties
from ..vocab.special_tokens import SpecialTokens

MIN_MERGES = 32
"""With fewer merges, two texts may have the same ones by chance."""


def trained_on(tokenizer: BPETokenizer, text: str) -> bool:
    """Return whether training on `text` learns this tokenizer's merges.

    >>> from bpelab.notebook import book_text
    >>> tokenizer = BPETokenizer.train(book_text()[:20_000], 400)
    >>> trained_on(tokenizer, book_text()[:20_000]), trained_on(tokenizer, book_text()[20_000:40_000])
    (True, False)
    """
    model, pattern = tokenizer.model, tokenizer.pattern
    if not model.is_byte_level or (pattern is None and tokenizer.spec.pre_tokenizer is not None):
        return False
    try:
        merges = [(model.tokens[left], model.tokens[right]) for left, right in merge_pairs(model)]
    except ConversionError:
        return False
    if len(merges) < MIN_MERGES:
        return False
    split = None if pattern is None else Split(pattern)
    words = count_pre_tokens(text, split, SpecialTokens(tokenizer.added_tokens), tokenizer.spec.normalizer)
    return any(_learns_same_merges(words, merges, ties) for ties in TIES)


def _learns_same_merges(words: dict[bytes, int], merges: list[tuple[bytes, bytes]], ties: str) -> bool:
    tokens = [bytes([byte]) for byte in range(256)]
    for step, merge in zip_longest(train_with_ties(words, len(merges), 1, ties=ties), merges):
        if step is None or (tokens[step.left], tokens[step.right]) != merge:
            return False
        tokens.append(step.token)
    return True
