"""The covers of a text: the ways in which an encoding that begins with the text can spell it.

A text that goes on may be cut into tokens differently from one that ends: `lowe` alone may be `lo|we`, and with an
`r` after it `lo|w|er`. A cover is the beginning of an encoding, up to the first token that reaches the end of the text
or goes beyond it. So every text that begins with the given one has an encoding that begins with exactly one cover.

Everything before the last place where the pattern cuts, whatever follows (`boundaries/dfa_pairs.py`), is encoded as
usual. From there on all valid tokens are tried (`valid_tokens.py`); few sequences of them fit, at most one for each
offset of a piece and each guess about its borders.

Cost: a walk through the trie for each of these; a second for a text that ends with a space, since half of a large
vocabulary begins with one.

Sources, and where they and their authors' code differ: Vieira et al. 2024, "From Language Models over Tokens to
Language Models over Characters" (the covering), count all sequences of tokens that spell the text, and `genlm-bytes`
keeps the likeliest of them in a beam. Here only encodings count, since a model is trained on them; Vieira et al. 2025,
"Language Models over Canonical Byte-Pair Encodings", call the others erroneous, too. Phan et al. 2024, "Exact
Byte-Level Probabilities from Tokenized Language Models for FIM-Tasks and Model Ensembles" (cover encodings), take
SentencePiece's tokenizers to cut at spaces. Hayase et al. 2025, "Sampling from Your Language Model One Byte at a Time",
check neighbours as here, though `byte-sampler` doesn't check the last two by default. They have rules for contractions,
white space and groups of digits; here the pattern's automaton takes their place.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from .._support.textio import utf8, valid_text
from ..boundaries.from_vocabulary import VocabularyBoundaries
from ..core.tokenizer import Tokenizer
from ..errors import BPELabError
from ..pretokenizers.boundary import boundary_predicate
from ..texts.stages import SafePair
from .valid_tokens import Places, valid_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SEQUENCES = 100_000
"""The most sequences of tokens inside a text that are followed."""


class Branch(NamedTuple):
    """Covers that differ only in their last token.

    Attributes:
        ids: the tokens before it, all inside the text.
        end: the offset at which these end, in bytes.
        ending: the last tokens that end with the text.
        beyond: those that go beyond it.
    """

    ids: tuple[int, ...]
    end: int
    ending: list[int]
    beyond: "Sequence[int] | NDArray[np.int64]"


class Chain(NamedTuple):
    """Tokens inside a text: the last one, those before it, where it ends, and by which guesses that is possible."""

    token: int
    before: "Chain | None"
    end: int
    places: Places

    def ids(self) -> tuple[int, ...]:
        """Return the tokens."""
        backwards, at = list[int](), self
        while at.before is not None:
            backwards.append(at.token)
            at = at.before
        return tuple(reversed(backwards))


def covers(tokenizer: Tokenizer, text: str | bytes) -> list[list[int]]:
    """Return the covers of a text, in the order of their ids; see `BPETokenizer.covers`."""
    data = as_bytes(text)
    if not data:
        return [[]]
    return sorted(
        [*branch.ids, token] for branch in branches(tokenizer, data) for token in (*branch.ending, *branch.beyond)
    )


def as_bytes(text: str | bytes) -> bytes:
    """Return a text as bytes. Raises ValueError if they aren't the beginning of UTF-8, TypeError for other types."""
    if isinstance(text, str):
        return utf8(valid_text(text))
    if not isinstance(text, bytes):
        raise TypeError(f"text is a str or bytes, not {type(text).__name__}")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            raise ValueError(f"no text begins with these bytes: at {error.start}, {error.reason}") from error
    return text


def branches(tokenizer: Tokenizer, data: bytes, *, beyond: bool = False, arrays: bool = False) -> Iterator[Branch]:
    """Yield the covers of `data`, which isn't empty; with `beyond`, only those whose last token goes beyond its end.

    Covers that end with the text go on to the next token then. `data` may then be empty. With
    `arrays`, the tokens that go beyond it are kept for the next time, which needs NumPy.
    Raises ModelError, PatternError for tokenizers that aren't served, BPELabError for more than MAX_SEQUENCES.
    """
    valid = valid_tokens(tokenizer)
    prefix, never = valid.served.prefix, valid.served.never
    if never and never.encode() in data:
        raise ValueError(f"a text with {never} has the ids of another one, with a space there: ask about that")
    settled = last_settled(tokenizer, data)
    before = tuple(tokenizer.pipeline.ids(data[:settled].decode()))
    whole, beyond_of = prefix + data, valid.arrays.beyond if arrays else valid.beyond
    waiting = [Chain(-1, None, settled + len(prefix) if settled else 0, valid.start)]
    for followed, sequence in enumerate(waiting):
        if followed == MAX_SEQUENCES:
            raise BPELabError(f"more than {MAX_SEQUENCES:,} sequences of tokens fit into the end of this text")
        rest = whole[sequence.end :]
        found, further = list[int](), beyond_of(sequence.places, rest)
        for token, places in valid.after(sequence.places, rest, within=True).items():
            end = sequence.end + len(valid.tokens[token])
            if end < len(whole) or (beyond and end == len(whole)):
                waiting.append(Chain(token, sequence, end, places))
            elif valid.can_end(places):
                found.append(token)
        if found or len(further):
            yield Branch(before + sequence.ids(), sequence.end - len(prefix), found, further)


def spelled_size(tokenizer: Tokenizer, ids: Iterable[int]) -> int:
    """Return how many bytes of a text, from its start, these ids spell."""
    served = valid_tokens(tokenizer).served
    return sum(len(served.texts[token]) for token in ids) - len(served.prefix)


def last_settled(tokenizer: Tokenizer, data: bytes) -> int:
    """Return the last offset in `data` before which the ids don't depend on what follows it, 0 if none is certain."""
    safe = _boundary_predicate(tokenizer)
    if safe is None:
        return 0
    text = data.decode(errors="ignore")  # an incomplete character at the end is left out
    for at in range(len(text) - 1, 0, -1):
        if safe(text[at - 1], text[at]):
            return len(text[:at].encode())
    return 0


@lru_cache(4)
def _boundary_predicate(tokenizer: Tokenizer) -> SafePair | None:
    """Return a function that says of two characters whether they are cut apart whatever is around them."""
    split, model = tokenizer.pipeline.split, tokenizer.model
    if split is not None:
        safe = boundary_predicate(split)
    elif (known := VocabularyBoundaries.of(model)) is not None:
        before, negated = known.cut_after

        def safe(left: str, right: str) -> bool:
            return right == " " != left and (left in before) != negated

    else:
        return None
    joined = {pair for text in valid_tokens(tokenizer).served.added for pair in pairwise(text)}
    return safe if safe is None or not joined else lambda left, right: (left, right) not in joined and safe(left, right)
