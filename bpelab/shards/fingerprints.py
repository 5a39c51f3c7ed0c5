"""Fingerprint of a tokenizer: equal fingerprints mean equal ids.

It is the SHA-256 of everything that determines ids: tokens, merges, initial symbols, added tokens with their flags,
normalizer and pre-tokenizer. It leaves out what changes no id, such as the encoder, the decoder or a chat template. Two
files of one tokenizer in different formats may have different fingerprints: one may list merges that the other implies.

Chapter: File formats. Cost: linear in the vocabulary.
"""

import hashlib
import re
from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..model.rank_merges import RankMerges

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer

VERSION = b"bpelab tokenizer 1"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def fingerprint(tokenizer: "Tokenizer") -> str:
    """Return the fingerprint of a tokenizer, 64 hexadecimal digits.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("abab", 257)
    >>> fingerprint(t) == fingerprint(t.with_options(encoder="heap"))
    True
    >>> fingerprint(t) == fingerprint(t.with_options(normalizer="NFC"))
    False
    """
    model, digest = tokenizer.model, hashlib.sha256(VERSION)

    def add(part: bytes) -> None:
        digest.update(len(part).to_bytes(8, "little") + part)

    ids = sorted(model.tokens)
    add(_numbers(ids))
    add(_numbers(len(model.tokens[token_id]) for token_id in ids))
    add(b"".join(model.tokens[token_id] for token_id in ids))
    merges = model.merges
    if isinstance(merges, RankMerges):  # the tokens imply them
        add(b"ranks")
        add(_numbers([] if merges.plain else (number for item in sorted(_ranks(merges)) for number in item)))
    else:
        add(b"merges")
        add(_numbers(number for row in sorted((*merge, *pair) for pair, merge in merges.items()) for number in row))
    initial_symbols = None if model.initial_symbols is None else sorted(vars(model.initial_symbols).items())
    plain = [
        (name, sorted(value.items()) if hasattr(value, "items") else value) for name, value in initial_symbols or ()
    ]
    add(repr((model.ignore_merges, sorted(model.alphabet.items()), plain)).encode())
    add(repr(sorted(tokenizer.added_tokens, key=lambda token: token.content)).encode("utf-8", "surrogatepass"))
    split, cut = tokenizer.pipeline.split, tokenizer.spec.pre_tokenizer
    for component in (
        tokenizer.spec.normalizer,
        cut if split is None else split,
    ):  # a file may write one split as several steps
        add(_canonical(component))
    add(repr(initial_symbols is not None and cut is not None and (cut.emits_byte_alphabet, cut.byte_level)).encode())
    return digest.hexdigest()


def _numbers(numbers: Iterable[int]) -> bytes:
    column = array("Q", numbers)
    return b"".join([column.itemsize.to_bytes(1, "little"), column.tobytes()])


def _ranks(merges: RankMerges) -> Iterable[tuple[int, int]]:
    return (merges.rank_of or {}).items()


def _canonical(component: Any) -> bytes:
    """Return the `repr` of a component, without the memory address that a user's own class may show."""
    return _ADDRESS.sub("", f"{type(component).__module__}.{component!r}").encode("utf-8", "surrogatepass")
