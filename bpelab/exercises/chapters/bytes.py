"""The exercises of *Text is bytes*."""

from collections.abc import Iterator
from typing import Any

from ...notebook.messages import code
from ..exercise import Exercise

SAMPLES = ("a", "é", "€", "😀", "añb", "naïve", "a😀", "日本", "👩‍👧")


def euro() -> bytes:
    """Return the UTF-8 bytes of the euro sign, computed by you and not by Python."""
    return bytes([0b1110_0010, 0b10_000010, 0b10_101100])  # 0010 000010 101100 is 20AC


def utf8_by_hand(code_point: int) -> bytes:
    r"""Return the UTF-8 bytes of a code point.

    Raise ValueError for a surrogate and for a number that is not a code point.

    utf8_by_hand(0xE9) is b"\xc3\xa9".
    """
    if not 0 <= code_point < 0x110000 or 0xD800 <= code_point < 0xE000:
        raise ValueError(f"{code_point:#x} has no UTF-8")
    if code_point < 0x80:
        return bytes([code_point])
    if code_point < 0x800:
        return bytes([0xC0 | code_point >> 6, 0x80 | code_point & 0x3F])
    low = [0x80 | code_point >> 6 & 0x3F, 0x80 | code_point & 0x3F]
    if code_point < 0x10000:
        return bytes([0xE0 | code_point >> 12, *low])
    return bytes([0xF0 | code_point >> 18, 0x80 | code_point >> 12 & 0x3F, *low])


def character_start(data: bytes, position: int) -> int:
    """Return the index of the first byte of the character that data[position] is part of.

    `data` is valid UTF-8.

    character_start("a😀".encode(), 3) is 1.
    """
    while 0x80 <= data[position] < 0xC0:  # 10xxxxxx: somewhere inside a character
        position -= 1
    return position


def shorten(text: str, limit: int) -> str:
    """Return the longest prefix of `text` that takes at most `limit` bytes of UTF-8.

    shorten("añb", 2) is "a".
    """
    return text.encode()[:limit].decode(errors="ignore")


def repair(text: str) -> str:
    """Return `text` with mojibake undone: UTF-8 that was read as Latin-1. Other texts stay unchanged.

    repair("cafÃ©") is "café", repair("café") is "café".
    """
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _bytes_of_the_euro(got: Any) -> str | None:
    if not isinstance(got, bytes):
        return "Give the bytes as bytes, for example bytes([1, 2, 3])."
    if len(got) != 3:
        return f"U+20AC lies between U+0800 and U+FFFF, so it takes three bytes, not {len(got)}."
    masks = ((0, 0xF0, 0xE0), (1, 0xC0, 0x80), (2, 0xC0, 0x80))
    for index, mask, form in masks:
        if got[index] & mask != form:
            return f"Byte {index} does not begin as in the form 1110xxxx 10xxxxxx 10xxxxxx."
    return None if got == b"\xe2\x82\xac" else "The form is right. The bits in it are not those of 0x20AC."


def _bytes_or_error(answer: Any, code_point: int) -> Any:
    try:
        return answer(code_point)
    except ValueError:
        return "ValueError"


def _hexadecimal(name: str, code_point: int) -> str:
    return f"{name}({code_point:#x})"


def _code_points() -> Iterator[tuple[int]]:
    edges = (0, 0x80, 0x800, 0xD800, 0xE000, 0x10000, 0x110000)
    for code_point in sorted({0x41, 0xE9, 0x20AC, 0x1F600, *(edge + step for edge in edges for step in (-1, 0, 1))}):
        yield (code_point,)


def _positions() -> Iterator[tuple[bytes, int]]:
    for text in SAMPLES:
        data = text.encode()
        for position in range(len(data)):
            yield data, position


def _inside(data: bytes, position: int) -> bool:
    data.decode()  # raises for invalid UTF-8
    return position < len(data)


def _limits() -> Iterator[tuple[str, int]]:
    for text in ("", *SAMPLES):
        for limit in range(len(text.encode()) + 2):
            yield text, limit


def _mojibake() -> Iterator[tuple[str]]:
    for text in ("", "a", "é", "café", "€", "naïve café", "日本", "Ã", "Ã©"):
        yield (text,)
        yield (text.encode().decode("latin-1"),)


def decode(vocab, ids):
    """Return the text of `ids`; `vocab` is a dict of token (bytes) -> id.

    Bytes that are not UTF-8 become U+FFFD. An unknown id raises KeyError.

    decode({b"h": 0, b"\\xc3": 1, b"\\xa9": 2}, [0, 1, 2]) is "hé".
    """
    tokens = {token_id: token for token, token_id in vocab.items()}
    return b"".join(tokens[token_id] for token_id in ids).decode("utf-8", errors="replace")


def _vocabularies_and_ids() -> Iterator[tuple[dict[bytes, int], list[int]]]:
    """Yield vocabularies with ids in and out of order, whose tokens cut characters in two."""
    single = {bytes([byte]): byte for byte in range(256)}
    yield {b"a": 0}, []
    yield {b"a": 0, b"b": 1}, [1, 0, 1]
    yield {b"\xc3": 7, b"\xa9": 3}, [7, 3]
    yield {b"\xc3": 7, b"\xa9": 3}, [3, 7]
    yield {b" caf": 300, "é".encode(): 2, b"\xf0\x9f": 1}, [300, 2, 1]
    for sample in SAMPLES:
        yield single, list(sample.encode())
        yield single, list(sample.encode()[1:])


EXERCISES = [
    Exercise(
        "bytes.1",
        "By hand",
        euro,
        lambda: [()],
        (
            "0x20AC is between 0x800 and 0xFFFF: three bytes, 1110xxxx 10xxxxxx 10xxxxxx.",
            "0x20AC in bits is 0010 0000 1010 1100. Cut it into 4, 6 and 6 bits and put these in place of the x.",
        ),
        level="easy",
        next_step="The next exercise does it for every code point.",
        problem=_bytes_of_the_euro,
    ),
    Exercise(
        "bytes.2",
        "All four forms",
        utf8_by_hand,
        _code_points,
        (
            "First refuse what has no UTF-8: below 0, above 0x10FFFF, and 0xD800 to 0xDFFF.",
            "Each byte after the first holds six bits: 0x80 | (bits & 0x3F). Shift right by 6 for the byte before it.",
            "The first byte is 0xC0, 0xE0 or 0xF0 | the remaining bits. The borders are 0x80, 0x800 and 0x10000.",
        ),
        level="medium",
        next_step='Why is a surrogate refused? Try `"\\ud800".encode()` and read the error.',
        call=_bytes_or_error,
        format_call=_hexadecimal,
        is_valid=lambda code_point: False,
    ),
    Exercise(
        "bytes.3",
        "Where a character begins",
        character_start,
        _positions,
        (
            "What do all bytes that are not the first of a character have in common?",
            "Go left while data[position] is 10xxxxxx.",
        ),
        level="medium",
        next_step="How far back does it look at most? That bound is why a program can start reading UTF-8 anywhere.",
        is_valid=_inside,
    ),
    Exercise(
        "bytes.4",
        "A safe cut",
        shorten,
        _limits,
        (
            "Cut the bytes. At most one character is then broken, the last one.",
            'decode has an argument, errors="ignore", that leaves out what is not UTF-8.',
        ),
        level="medium",
        next_step=(
            "A family emoji is characters joined by U+200D: your cut keeps characters whole, and may split a family."
        ),
    ),
    Exercise(
        "bytes.5",
        "Undo the mojibake",
        repair,
        _mojibake,
        (
            "Undo the two steps in reverse: first turn the characters into the bytes that Latin-1 read.",
            "A text that wasn't damaged in this way fails in one of the two, with a UnicodeError. Leave it alone then.",
        ),
        level="medium",
        next_step="Text can be damaged twice. Damage `café` twice, and see how often you have to repair it.",
        format_call=lambda name, text: f"{name}({code(text)})",
    ),
    Exercise(
        "bytes.6",
        "Your tokenizer: decode",
        decode,
        _vocabularies_and_ids,
        (
            "Turn the vocabulary around: a dict of id -> token finds each token.",
            'Join the bytes of all tokens first, and decode once: `data.decode("utf-8", errors="replace")`.',
        ),
        level="medium",
        next_step='`my_tokenizer("bytes").decode` is yours now. "Training" will learn a vocabulary for it.',
        is_valid=lambda vocab, ids: set(ids) <= set(vocab.values()) and len(set(vocab.values())) == len(vocab),
    ),
]
