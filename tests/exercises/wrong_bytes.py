"""Plausible wrong answers to the exercises of *Text is bytes*."""


def euro_in_utf16():
    return b"\x20\xac"


def euro_shifted_wrongly():
    return bytes([0xE0 | 0x20AC >> 12, 0x80 | 0x20AC >> 8 & 0x3F, 0x80 | 0x20AC & 0x3F])


def surrogates_pass(code_point):
    return chr(code_point).encode("utf-8", "surrogatepass")


def three_bytes_at_most(code_point):
    if 0xD800 <= code_point < 0xE000 or not 0 <= code_point < 0x110000:
        raise ValueError
    if code_point < 0x80:
        return bytes([code_point])
    if code_point < 0x800:
        return bytes([0xC0 | code_point >> 6, 0x80 | code_point & 0x3F])
    return bytes([0xE0 | code_point >> 12 & 0xF, 0x80 | code_point >> 6 & 0x3F, 0x80 | code_point & 0x3F])


def one_step_back(data, position):
    return position - 1 if data[position] >= 0x80 and position and data[position - 1] >= 0xC0 else position


def ascii_only(data, position):
    while data[position] >= 0x80:
        position -= 1
    return position


def characters_not_bytes(text, limit):
    return text[:limit]


def replacing(text, limit):
    return text.encode()[:limit].decode(errors="replace")


def always(text):
    return text.encode("latin-1", "ignore").decode("utf-8", "ignore")


def never(text):
    return text


def decode_one_by_one(vocab, ids):
    tokens = {token_id: token for token, token_id in vocab.items()}
    return "".join(tokens[token_id].decode("utf-8", errors="replace") for token_id in ids)


def decode_strictly(vocab, ids):
    tokens = {token_id: token for token, token_id in vocab.items()}
    return b"".join(tokens[token_id] for token_id in ids).decode()


WRONG = {
    "bytes.1": [euro_in_utf16, euro_shifted_wrongly],
    "bytes.2": [surrogates_pass, three_bytes_at_most],
    "bytes.3": [one_step_back, ascii_only],
    "bytes.4": [characters_not_bytes, replacing],
    "bytes.5": [always, never],
    "bytes.6": [decode_one_by_one, decode_strictly],
}
