"""Search for the shortest text on which two tokenizers differ: try candidates by length, then shrink the result.

The shortest differing candidate is shrunk as long as some part of it can be removed. The result is a text from which no
part can be removed; that no shorter text exists is certain only for lengths at which all texts were candidates.

Cost: encoding the candidates twice, and for each shrinking step the square of the text's length.
"""

from __future__ import annotations

from itertools import islice, product

from ..errors import BPELabError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..core.tokenizer import Tokenizer
    from ..vocab.special_tokens import Special

    Look = Callable[[Sequence[str]], Sequence[object]]

BATCH = 2_048
LONGEST_SHRUNK = 200
"""Up to this many characters, the removal of every part is tried; in longer texts, of parts of half the length, ..."""
SIZES = ((8, 5), (30, 3), (180, 2))
"""(n, length): all texts of up to that length over the first n characters are candidates."""


def observe_ids(tokenizer: Tokenizer, texts: Sequence[str], allowed: Special = "all") -> list[list[int] | str]:
    """Return each text's ids, special tokens allowed, or the name of an error."""
    try:
        return list(tokenizer.encode_batch(texts, allowed_special=allowed))
    except BPELabError as error:
        if len(texts) == 1:
            return [type(error).__name__]
        return [observe_ids(tokenizer, [text], allowed)[0] for text in texts]


def observe_text(tokenizer: Tokenizer, texts: Sequence[str]) -> list[str]:
    """Return each text after encoding and decoding."""
    return [tokenizer.decode(ids) if isinstance(ids, list) else ids for ids in observe_ids(tokenizer, texts)]


def differing(first: Look, second: Look, texts: Iterable[str]) -> tuple[str | None, int]:
    """Return the first of `texts` on which two observers differ, or None, and the number tried."""
    rest, tried = iter(texts), 0
    while batch := list(islice(rest, BATCH)):
        tried += len(batch)
        for text, one, two in zip(batch, first(batch), second(batch)):
            if one != two:
                return text, tried
    return None, tried


def shortest(
    first: Look, second: Look, likely: Iterable[str], chars: Sequence[str], more: Iterable[str] = ()
) -> tuple[str | None, int]:
    """Return the shortest text found on which two observers differ, or None, and the number of texts tried.

    Args:
        likely: texts that may differ.
        chars: characters, the most telling first; all short texts of these are tried too.
        more: further texts, tried only if shorter than the text found so far.
    """
    text, tried = differing(first, second, _in_order(likely, chars))
    if text is None or len(text) > 1:
        rest = sorted((other for other in more if text is None or len(other) < len(text)), key=_simplicity)
        shorter, number = differing(first, second, rest)
        text, tried = text if shorter is None else shorter, tried + number
    return (None if text is None else shrink(text, lambda texts: differing(first, second, texts)[0])), tried


def _simplicity(text: str) -> tuple[int, bool, bool]:
    return len(text), not text.isascii(), not text.isprintable()


def _in_order(texts: Iterable[str], chars: Sequence[str]) -> Iterator[str]:
    """Yield texts by length, with all short texts of some characters among them."""
    by_length: dict[int, list[str]] = {}
    for text in sorted(dict.fromkeys(texts), key=_simplicity):
        by_length.setdefault(len(text), []).append(text)
    for length in sorted({*by_length, *range(SIZES[0][1] + 1)}):
        yield from _of_length(length, by_length, chars)


def _of_length(length: int, candidates: dict[int, list[str]], chars: Sequence[str]) -> Iterator[str]:
    yield from candidates.get(length, ())
    most = max((count for count, up_to in SIZES if length <= up_to), default=0)
    yield from map("".join, product(chars[:most], repeat=length)) if most else ()


def shrink(text: str, find: Callable[[Iterable[str]], str | None]) -> str:
    """Remove parts of a text as long as it still differs; `find` returns the first differing text, or None.

    >>> shrink("an aardvark", lambda texts: next((text for text in texts if "aa" in text), None))
    'aa'
    """
    shorter: str | None = text
    while shorter is not None:
        text, shorter = shorter, find(_without_a_part(shorter))
    return text


def _without_a_part(text: str) -> Iterator[str]:
    """Yield the text without each of its parts, the longest parts first."""
    size = len(text)
    lengths = range(size, 0, -1) if size <= LONGEST_SHRUNK else [size >> shift for shift in range(1, size.bit_length())]
    for length in lengths:
        step = 1 if size <= LONGEST_SHRUNK else max(1, length // 2)
        for start in range(0, size - length + 1, step):
            yield text[:start] + text[start + length :]
