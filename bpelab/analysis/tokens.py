"""Properties of vocabularies, without a text: longest tokens, shared tokens, unreachable tokens.

Chapter: Measuring. Cost: `unreachable_alone` encodes each token, 100,000 in a second or two; the others are cheap.
Source of its test: Land and Bartolo 2024, who decode each token, encode it again, and call those unreachable that don't
come back.
"""

from dataclasses import dataclass

from ..core.derivations import base_ids, derive_tokens
from ..editing.merging import CONTEXTS
from ..editing.pruning import count_uses
from ..errors import BPELabError
from ..tokenizer import BPETokenizer
from ..trainers.counting.corpus import Corpus
from .validate import require_integer


def longest_tokens(tokenizer: BPETokenizer, number: int = 10) -> list[tuple[int, bytes]]:
    """Return the tokens with the most bytes, as (id, bytes), the longest first, then the lowest id.

    >>> longest_tokens(BPETokenizer.train("aaaa bb " * 4, 259), 2)
    [(258, b'aaaa'), (256, b'aa')]

    Raises BPELabError for a `number` below 0.
    """
    number = require_integer("number", number, 0)
    return sorted(tokenizer.model.tokens.items(), key=lambda entry: (-len(entry[1]), entry[0]))[:number]


def never_merged(tokenizer: BPETokenizer) -> list[int]:
    """Return the ids of tokens that no merge makes and that aren't in the alphabet: merging never produces them.

    With `ignore_merges`, such a token is still produced by a piece that equals it. Added tokens, and the byte tokens of
    byte fallback, don't come from merges and are left out.

    >>> from bpelab import BPEModel
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 300}
    >>> never_merged(BPETokenizer(BPEModel.from_ranks(ranks)))
    [300]
    """
    added_ids = {token.id for token in tokenizer.added_tokens}
    return [token_id for token_id in derive_tokens(tokenizer.model).unreachable if token_id not in added_ids]


def unseen(
    tokenizer: BPETokenizer, corpus: Corpus, *, input_format: str | None = None, field: str = "text"
) -> list[int]:
    """Return the ids of tokens that don't occur in the encoded corpus, leaving out initial symbols and added tokens.

    Some may be parts of tokens that do occur: `bpelab.editing.prune(tokenizer, corpus=corpus, min_frequency=1)` removes
    the others. Arguments and errors are those of `BPETokenizer.train`.

    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    >>> [tokenizer.model.tokens[token_id] for token_id in unseen(tokenizer, "low lowest")]
    [b'lo', b' low', b' lower']
    """
    uses = count_uses(tokenizer.spec, corpus, input_format=input_format, field=field)
    exempt_ids = base_ids(tokenizer.model) | {token.id for token in tokenizer.added_tokens}
    return sorted(token_id for token_id in tokenizer.model.tokens if not uses[token_id] and token_id not in exempt_ids)


def unreachable_alone(tokenizer: BPETokenizer) -> list[int]:
    """Return the ids of tokens that encoding their own text doesn't produce, neither alone nor in one of `CONTEXTS`.

    The pattern splits them, the normalizer changes them, or no merge makes them: a model with this tokenizer has hardly
    seen them. It is no proof, since another context could produce one. Left out are tokens that are parts of
    characters, which have no text, and added tokens. Raises BPELabError if tokens are characters, not bytes.

    >>> across = BPETokenizer.train("a b", 258, pattern=None, min_frequency=1).model
    >>> [across.tokens[token_id] for token_id in unreachable_alone(BPETokenizer(across, pattern="cl100k"))]
    [b'a b']
    """
    if tokenizer.model.is_char_level:
        raise BPELabError("this tokenizer's tokens are characters and not bytes, so their own text is not known")
    added_ids = {token.id for token in tokenizer.added_tokens}
    ids = []
    for token_id, token in tokenizer.model.tokens.items():
        if token_id in added_ids:
            continue
        try:
            text = token.decode()
        except UnicodeDecodeError:
            continue
        texts = (before + text + after for before, after in CONTEXTS)
        if not any(token_id in tokenizer.encode(each, add_special_tokens=False) for each in texts):
            ids.append(token_id)
    return ids


@dataclass(frozen=True)
class Overlap:
    """What two vocabularies share: tokens with equal bytes, with any ids.

    Attributes:
        shared: the number of tokens that both have.
        share_of_first: the fraction of the first's tokens that the second has too, 0 to 1.
        share_of_second: the fraction of the second's tokens that the first has.
        same_id: the number of shared tokens with the same id in both.
    """

    shared: int
    share_of_first: float
    share_of_second: float
    same_id: int


def overlap(first: BPETokenizer, second: BPETokenizer) -> Overlap:
    """Compare two vocabularies. Special and other added tokens don't count.

    >>> a, b = BPETokenizer.train("ababcd", 257), BPETokenizer.train("ababcdcd", 258)
    >>> overlap(a, b)
    Overlap(shared=257, share_of_first=1.0, share_of_second=0.9961240310077519, same_id=257)
    """
    left, right = first.model.ids, second.model.ids
    shared = left.keys() & right.keys()
    same_id = sum(left[token] == right[token] for token in shared)
    return Overlap(len(shared), len(shared) / len(left), len(shared) / len(right), same_id)
