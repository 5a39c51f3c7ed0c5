"""GPT-2's alphabet: one printable character for each byte, so that tokens can be written in JSON.

Bytes that are printable in Latin-1 stand for themselves; the other 68 (the controls, the space, 0x7F to 0xA0, 0xAD)
take the characters from U+0100 on, in order. So a space is `Ġ` and a newline `Ċ`. It is only a notation: no encoder
ever sees it.

Chapter: Matching GPT-2 and GPT-4. Source: `bytes_to_unicode` in gpt-2/src/encoder.py.
"""

PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_others = sorted({*range(256)} - {*PRINTABLE})

CHAR_OF_BYTE: dict[int, str] = {byte: chr(byte) for byte in PRINTABLE} | {
    byte: chr(0x100 + number) for number, byte in enumerate(_others)
}
BYTE_OF_CHAR: dict[str, int] = {char: byte for byte, char in CHAR_OF_BYTE.items()}


def to_alphabet(token: bytes) -> str:
    """Return the token in GPT-2's alphabet.

    >>> to_alphabet(b" the\\n")
    'ĠtheĊ'
    """
    return "".join(map(CHAR_OF_BYTE.__getitem__, token))


def from_alphabet(text: str) -> bytes:
    """Return the bytes that `text` stands for. Raises ValueError for a character that isn't in the alphabet.

    >>> from_alphabet("Ġthe")
    b' the'
    """
    try:
        return bytes(map(BYTE_OF_CHAR.__getitem__, text))
    except KeyError as error:
        raise ValueError(f"{text!r} holds {error.args[0]!r}, which stands for no byte") from None
