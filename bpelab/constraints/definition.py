"""The ids that a constraint allows, by its definition: try every text that matches.

Cost: an encoding for each text; without `canonical`, a comparison of each text with each token.
"""

from collections.abc import Sequence

from ..core.tokenizer import Tokenizer
from .spellings import added_ids


def allowed_by_definition(
    tokenizer: Tokenizer, texts: Sequence[str], ids: Sequence[int], canonical: bool
) -> tuple[set[int], bool]:
    """Return the ids that can come after `ids`, if `texts` are all that match, and whether the text may end there.

    With `canonical`, texts that contain an added token don't count.

    >>> from bpelab import BPETokenizer
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> for canonical in (True, False):
    ...     ids, can_end = allowed_by_definition(tokenizer, ["low", "lower"], [], canonical)
    ...     print(tokenizer.convert_ids_to_tokens(sorted(ids)), can_end)
    [b'low'] False
    [b'l', b'lo', b'low'] False
    """
    begun, size, tokens = list(ids), len(ids), tokenizer.model.tokens
    if canonical:
        added = added_ids(tokenizer)
        encodings = [each for each in tokenizer.pipeline.lists(texts) if added.isdisjoint(each)]
        return {each[size] for each in encodings if each[:size] == begun and len(each) > size}, begun in encodings
    data = b"".join(tokens[token] for token in begun)
    rests = [text.encode()[len(data) :] for text in texts if text.encode().startswith(data)]
    return {token for token, each in tokens.items() if any(rest.startswith(each) for rest in rests)}, b"" in rests
