"""Characters and their bytes: how many, which, the code point; all computed, none typed in."""

from collections.abc import Iterator

from .items import Item, held_out
from .spelling import plural

CHARACTERS = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?.,:;+-*/=%&@#$"
    "éèêëàâäáåæçñóòôöøœúùûüßÿþ€£¥§©®°±µ¿¡αβγδλπσωжяшд中日本人大小水火山あいかア한글ש€™→∞≠😀😂🎉🚀🐍👍🔥🌍"
)
COUNT = ('How many bytes is "{}"?', 'How many bytes does "{}" take in UTF-8?', 'How many bytes has "{}" in UTF-8?')
WHICH = ('Which bytes is "{}" in UTF-8?', 'What are the UTF-8 bytes of "{}"?', 'Write "{}" in UTF-8 bytes.')
POINT = ('What is the code point of "{}"?', 'Which code point has "{}"?', 'What is "{}" in Unicode?')
VALUE = ('What is the byte value of "{}"?', 'Which number is the byte "{}"?', 'What number is "{}" in ASCII?')
TURNED = ("Which character is byte {}?", "What is byte {} in ASCII?", "Which ASCII character has the number {}?")


def in_hex(character: str) -> str:
    """Return a character's bytes in UTF-8.

    >>> in_hex("é")
    'C3 A9'
    """
    return character.encode().hex(" ").upper()


def characters() -> Iterator[Item]:
    """Yield questions about each character. One wording in twelve is held out."""
    for character in dict.fromkeys(CHARACTERS):
        size, point = len(character.encode()), f"U+{ord(character):04X}"
        count = f'"{character}" takes {plural(size, "byte")} in UTF-8: {in_hex(character)}.'
        for wordings, answer in (
            (COUNT, count),
            (WHICH, count),
            (POINT, f'"{character}" is the code point {point}.'),
            (VALUE if size == 1 else (), f'"{character}" is the byte {ord(character)}, in hex {in_hex(character)}.'),
        ):
            for wording in wordings:
                question = wording.format(character)
                yield Item("bytes of a character", question, answer, held_out(question, 12), times=4)
        if size == 1:
            for wording in TURNED:
                question = wording.format(ord(character))
                answer = f'The byte {ord(character)} is "{character}" in ASCII.'
                yield Item("bytes of a character", question, answer, held_out(question, 12), times=4)
