"""Overlapping added tokens: where two overlap in a text, llama.cpp and this library may choose different ones.

llama.cpp looks for the added tokens one after another, the longest in bytes first, in all that is left of the text.
Hugging Face's tokenizers, SentencePiece and this library go from left to right, and take the longest that begins at
each place. Both find the same unless the end of one token is the beginning of another that is at least as long: in
`abcd`, llama.cpp takes `bcd`, and the others `ab`. Runs of one character, such as two and three spaces, and others that
repeat, such as `aba` and `abab`, aren't affected: where the longer one begins inside the shorter, it also begins where
the shorter does.

Chapter: File formats. Cost: linear for most names; the square of a name's length for names full of beginnings of names.
Source: `tokenizer_st_partition` in llama.cpp `src/llama-vocab.cpp`.
"""

from collections.abc import Collection, Iterator

MAX_WORK = 1 << 28
"""Limit on the characters that are compared, a second's work: ten thousand times what Gemma's 6,400 tokens need."""

TOO_ALIKE = "the added tokens are so long and so alike that it can't be told whether they overlap"


def find_overlap(names: Collection[str]) -> tuple[str, str] | None:
    """Return two added tokens that may overlap, the first one chosen by this library, the second by llama.cpp; or None.

    Raises ValueError if the names are so long and so alike that comparing them would take more than a second.

    >>> find_overlap(["ab", "bcd"]), find_overlap(["abc", "cd"]), find_overlap(["  ", "   "])
    (('ab', 'bcd'), None, None)
    """
    starts = {name[0] for name in names}
    if sum(len(name) * sum(map(starts.__contains__, name)) for name in names) > MAX_WORK:
        raise ValueError(TOO_ALIKE)
    ends = {end for name in names for end in _ends(name, starts)}
    sizes = sorted(set(map(len, ends)))
    continuations: dict[str, list[str]] = {}  # an end -> the names that begin so, the longest first
    for name in sorted(names, key=_bytes, reverse=True):
        for size in sizes:
            if size >= len(name):
                break
            if name[:size] in ends:
                continuations.setdefault(name[:size], []).append(name)
    work = 0
    for name in names:
        for end in _ends(name, starts):
            for other in continuations.get(end, ()):
                if _bytes(other) < _bytes(name):
                    break
                if not (name + other[len(end) :]).startswith(other):
                    return name, other
                if (work := work + len(other)) > MAX_WORK:
                    raise ValueError(TOO_ALIKE)
    return None


def explain_overlap(first: str, second: str) -> str:
    """Explain in an error message which of two such tokens each library chooses."""
    texts = (first + second[size:] for size in range(1, len(first)) if second.startswith(first[-size:]))
    text = next(text for text in texts if not text.startswith(second))
    which = f"{second!r}, which is longer" if _bytes(second) > _bytes(first) else "either, since both are equally long"
    return (
        f"the added tokens {first!r} and {second!r} overlap in a text such as {text!r}, where this library takes "
        f"{first!r}, which begins first, and llama.cpp {which}"
    )


def _ends(name: str, starts: Collection[str]) -> Iterator[str]:
    """Yield the proper suffixes of a name that start with the first character of some name."""
    return (name[at:] for at in range(1, len(name)) if name[at] in starts)


def _bytes(name: str) -> int:
    return len(name.encode("utf-8", "surrogateescape"))
