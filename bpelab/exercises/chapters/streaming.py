"""The exercises of *Streaming*."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ...notebook.messages import code
from ...pretokenizers.split import Split
from ...texts.utf8_parts import utf8_text
from ...tokenizer import BPETokenizer
from ..exercise import Exercise
from ..fixtures import trained_tokenizer


def held_back(data):
    """Return how many bytes at the end of `data` have to wait, 0 to 3: the
    start of a character that may still be completed."""
    firsts = b"\x80", b"\x90", b"\xa0"
    ends = [first + b"\x80" * more for first in firsts for more in range(3)]
    for size in range(min(3, len(data)), 0, -1):
        for end in ends:
            try:
                if len((data[-size:] + end).decode()) == 1:
                    return size
            except UnicodeDecodeError:
                pass
    return 0


def feed(pending, byte):
    """Return (text, pending) after one more byte, 0 to 255. `pending` is the
    start of a character, or b""; `text` is what is certain now."""
    lost = ""
    if pending:
        limits = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
        low, high = limits.get(pending[-1], (0x80, 0xBF))
        if low <= byte <= high:
            pending += bytes([byte])
            size = 2 if pending[0] < 0xE0 else 3 if pending[0] < 0xF0 else 4
            return (pending.decode(), b"") if len(pending) == size else ("", pending)
        lost = "\ufffd"
    if byte < 0x80:
        return lost + chr(byte), b""
    return (lost, bytes([byte])) if 0xC2 <= byte <= 0xF4 else (lost + "\ufffd", b"")


def settled(text):
    """Return how many characters of `text` can be encoded now, whatever comes
    later, when the pattern is o200k's."""
    for position in range(len(text) - 1, 0, -1):
        if text[position] == " " and not text[position - 1].isspace():
            return position
    return 0


def chunks_of(tokenizer, text, size):
    """Return `text` in chunks, a list of str, each of which takes at most `size`
    tokens when it is encoded alone. `size` is at least 4. Two neighbouring
    chunks together take more than `size / 2` tokens."""
    chunks = []
    while text:
        offsets = tokenizer.encode_with_offsets(text)[1]
        end = offsets[size][0] if len(offsets) > size else len(text)
        while tokenizer.count_tokens(text[:end]) > size:
            end -= 1
        chunks.append(text[:end])
        text = text[end:]
    return chunks


def _data() -> Iterator[tuple[bytes]]:
    yield (b"",)
    characters = [char.encode() for char in "aéऄ日\ud7ff\ue000😀\U0010ffff"]
    for before, char in product((b"", b"a", "é".encode(), b"\xff"), characters):
        for size in range(1, len(char) + 1):
            yield (before + char[:size],)
    odd = b"\x80", b"\xc0", b"\xc1\x80", b"\xe0\x80", b"\xed\xa0", b"\xf0\x80", b"\xf4\x90", b"\xf5", b"\xc3a"
    for data, before in product(odd, (b"", b"\xf0\x9f")):
        yield (before + data,)


BEGUN = "C3", "E2", "E2 82", "E0", "E0 A4", "ED", "ED 9F", "F0", "F0 9F", "F0 9F 98", "F1", "F4", "F4 8F"
EDGES = bytes.fromhex("00 61 7F 80 8F 90 9F A0 BF C0 C1 C2 DF E0 ED EF F0 F4 F5 FF")


def _bytes_in_turn() -> Iterator[tuple[bytes, int]]:
    yield from product((b"", *map(bytes.fromhex, BEGUN)), EDGES)


def _begun(pending: bytes, byte: int) -> bool:
    return utf8_text(b"", pending) == (pending, "") and byte < 256


UNFINISHED = (
    "|a|the|the |the h|the  |the  h|the ~|one two|one two |~ |~ ~|don't|don'|we don' |a b~ |a, b! |a b!~|12 345|12 3456"
    "|a b  |a b ~ c|日本|日本 語|x = 1~~    y|  two|e\u0301 e|A. B.~"
)
FOLLOWING = "|a|A| |  | a|~| ~|~~|'s|s|t|ll|1|11|.|/|\u0301|日"


def _lines(strings: str) -> list[str]:
    return strings.replace("~", "\n").split("|")


def _texts() -> Iterator[tuple[str]]:
    for text in _lines(UNFINISHED):
        yield (text,)


def _not_settled(got: Any, text: str) -> str | None:
    if type(got) is not int or not 0 <= got <= len(text):
        return f"The answer is a number of characters, from 0 to {len(text)}."
    split = Split("o200k").split
    for more in _lines(FOLLOWING):
        whole, halves = split(text + more), split(text[:got]) + split(text[got:] + more)
        if whole != halves:
            comes = f"When {code(more)} comes next" if more else "When nothing more comes"
            return f"{comes}, the pieces of the whole are {code(whole)}; cut there, {code(halves)}."
    if got < settled(text):
        return "That is safe, but some more of the text can be encoded already."
    return None


TRAINED_ON = "low lower lowest slower, the harbour at the harbour " * 9
DOCUMENTS = (
    *("", "low", "the harbour", "lowest of the low", "日本", "😀😀", "é日😀 low", "the harbour at the harbour, slower"),
    "naïve café, slower and lower; 日本語の港 👩\u200d🔬 the lowest",
    "a harbour " * 12,
    "ourbour haharbour " * 4,
)


def _documents() -> Iterator[tuple[str, int]]:
    yield from product(DOCUMENTS, (4, 5, 9, 30))


def _tokenizer() -> BPETokenizer:
    return trained_tokenizer(TRAINED_ON, 270)


def _bad_chunks(got: Any, text: str, size: int) -> str | None:
    if not isinstance(got, list) or not all(isinstance(chunk, str) for chunk in got):
        return "The answer is a list of texts."
    if "".join(got) != text:
        return f"The chunks joined are {code(''.join(got))}, and not the text."
    if "" in got:
        return "There is an empty chunk."
    counts = [_tokenizer().count_tokens(chunk) for chunk in got]
    for position, count in enumerate(counts):
        if count > size:
            return f"{code(got[position])} takes {count} tokens by itself."
        if position and counts[position - 1] + count <= size // 2:
            return f"{code(got[position - 1])} and {code(got[position])} are two chunks, and together not half of one."
    return None


EXERCISES = [
    Exercise(
        "streaming.1",
        "What has to wait",
        held_back,
        _data,
        (
            "At most 3 bytes wait, so there are only three ends of `data` to look at.",
            "An end has to wait if a character begins with it: if it can be decoded with some bytes after it.",
            "The byte after E0 is at least A0, after F0 at least 90; otherwise 80 will do. Python's incremental "
            "decoder waits after ED A0, in vain.",
        ),
        level="easy",
        next_step="A program that shows an answer while it arrives holds back exactly these bytes.",
    ),
    Exercise(
        "streaming.2",
        "The automaton",
        feed,
        _bytes_in_turn,
        (
            "Begin with no pending bytes: 00 to 7F are a character, C2 to F4 begin one, all others are U+FFFD at once.",
            "With pending bytes, see whether the byte may follow. After E0, ED, F0 and F4 the range is narrower than "
            "80 to BF. The table in the chapter has it.",
            "If it may not, the pending bytes are one U+FFFD, and the byte is looked at as if nothing were pending.",
        ),
        level="medium",
        next_step='Compare it with `codecs.getincrementaldecoder("utf-8")("replace")` on random bytes.',
        is_valid=_begun,
    ),
    Exercise(
        "streaming.3",
        "How much is settled",
        settled,
        _texts,
        (
            "A word may go on, and so may a run of white space. Between which two characters can neither?",
            "Between a character that is not white space and a space, a piece always ends and a new search begins.",
            "Look for the last such place. A newline won't do: o200k's pattern gives it to punctuation before it.",
        ),
        level="medium",
        next_step="Feed it the book one character at a time: how many characters wait, on average?",
        problem=_not_settled,
    ),
    Exercise(
        "streaming.4",
        "Chunks",
        chunks_of,
        _documents,
        (
            "tokenizer.encode_with_offsets(text)[1] says at which character each token begins.",
            "Cut in front of the character of token number `size`. Then count the tokens of what you cut off, alone.",
            "If they are too many, take one character less, until they fit.",
        ),
        level="medium",
        next_step="Search often wants chunks that overlap. What would you change?",
        call=lambda answer, *arguments: answer(_tokenizer(), *arguments),
        problem=_bad_chunks,
        format_call=lambda name, text, size: f"{name}(tokenizer, {code(text)}, {size})",
        is_valid=lambda text, size: size >= 4,
    ),
]
