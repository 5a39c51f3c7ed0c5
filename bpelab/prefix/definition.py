"""The covers of a text by their definition: encode everything that begins with it.

Only texts over a small alphabet, and not much longer than the given one, can be tried. That finds all covers if the
alphabet has, beside the characters of the tokens, one that is in no token for each kind of character that the pattern
distinguishes and for each first byte, and if the length leaves room for the longest token, the rest of its last
character, and as much as the pattern looks ahead.

Cost: an encoding for each text, of which there are as many as the alphabet has characters to the power of the length.
"""

from collections.abc import Iterable
from itertools import product

from ..core.tokenizer import Tokenizer
from .served import token_texts


def covers_by_definition(tokenizer: Tokenizer, data: bytes, alphabet: Iterable[str], length: int) -> list[list[int]]:
    """Return the covers of `data` that begin the encoding of a text with up to `length` more characters.

    >>> from bpelab import BPETokenizer
    >>> covers_by_definition(BPETokenizer.train("abab", 257), b"a", "abc", 2)
    [[97], [256]]
    """
    begun = data.decode(errors="ignore")
    tails = ("".join(tail) for size in range(length + 1) for tail in product(alphabet, repeat=size))
    texts = [text for tail in tails if (text := begun + tail).encode().startswith(data)]
    return sorted(map(list, {first_cover(tokenizer, ids, data) for ids in tokenizer.pipeline.lists(texts)}))


def first_cover(tokenizer: Tokenizer, ids: list[int], data: bytes) -> tuple[int, ...]:
    """Return the first of these ids whose tokens have at least as many bytes as `data`."""
    served = token_texts(tokenizer)
    size = -len(served.prefix) if data else 0
    for count, token in enumerate(ids):
        if size >= len(data):
            return tuple(ids[:count])
        size += len(served.texts[token])
    return tuple(ids)
