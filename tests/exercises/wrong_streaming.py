"""Plausible wrong answers to the exercises of *Streaming*."""

import codecs

from bpelab import Split


def pythons_own(data):
    return len(data) - codecs.utf_8_decode(data, "replace", False)[1]


def by_the_first_byte(data):
    for size in range(1, min(3, len(data)) + 1):
        if data[-size] >= 0xC0:
            return size if size < (2 if data[-size] < 0xE0 else 3 if data[-size] < 0xF0 else 4) else 0
    return 0


def continuing_bytes(data):
    return len(data) - len(data.rstrip(bytes(range(0x80, 0x100))))


def any_continuation(pending, byte):
    if pending and 0x80 <= byte < 0xC0:
        pending += bytes([byte])
        size = 2 if pending[0] < 0xE0 else 3 if pending[0] < 0xF0 else 4
        return (pending.decode("utf-8", "replace"), b"") if len(pending) == size else ("", pending)
    if pending:
        text, pending = any_continuation(b"", byte)
        return "\ufffd" + text, pending
    return (chr(byte), b"") if byte < 0x80 else ("", bytes([byte])) if 0xC2 <= byte <= 0xF4 else ("\ufffd", b"")


def waits_for_good_bytes(pending, byte):
    try:
        return (pending + bytes([byte])).decode(), b""
    except UnicodeDecodeError:
        return "", pending + bytes([byte])


def eats_the_byte(pending, byte):
    data = pending + bytes([byte])
    text, used = codecs.utf_8_decode(data, "replace", False)
    return text[:1], data[used:]


def all_but_one_piece(text):
    pieces = Split("o200k").split(text)
    return len(text) - len(pieces[-1]) if pieces else 0


def at_any_white_space(text):
    for place in range(len(text) - 1, 0, -1):
        if text[place].isspace() and not text[place - 1].isspace():
            return place
    return 0


def at_the_last_space(text):
    return max(text.rfind(" "), 0)


def nothing_yet(text):
    return 0


def cut_ids(tokenizer, text, size):
    ids = tokenizer.encode(text)
    return [tokenizer.decode(ids[start : start + size]) for start in range(0, len(ids), size)]


def not_counted_again(tokenizer, text, size):
    starts = [start for start, _ in tokenizer.encode_with_offsets(text)[1]]
    places = [*dict.fromkeys(starts[::size]), len(text)]
    return [text[start:end] for start, end in zip(places, places[1:])]


def single_characters(tokenizer, text, size):
    return list(text)


WRONG = {
    "streaming.1": [pythons_own, by_the_first_byte, continuing_bytes],
    "streaming.2": [any_continuation, waits_for_good_bytes, eats_the_byte],
    "streaming.3": [all_but_one_piece, at_any_white_space, at_the_last_space, nothing_yet],
    "streaming.4": [cut_ids, not_counted_again, single_characters],
}
