"""Adversarial texts for round trips: each contains something that some pattern, normalizer, alphabet or decoder loses.

Chapter: Publish your own tokenizer. Cost: negligible; the texts are the same every time.
"""

from collections.abc import Iterator
from random import Random

PARTS = (
    "", " ", "  ", "   ", "\t", "\n", "\n\n", "\r", "\r\n", " \n ", "\0", "\x0b", "\x0c", "\x1c", "\x7f", "\x85",
    "\xa0", "\xad", "\u200b", "\u200d", "\u2028", "\u3000", "\ufeff", "\ufffd", "\ue000", "\U0010ffff", "\u0378",
    "the", " the", "The", "HTTPServer", "don't", "DON'T", "'s", "'ſ", "0", "007", "12345", "1,234.5", "٣", "Ⅷ", "²",
    "½", "é", "e\u0301", "ﬁ", "Å", "\u212b", "ß", "İ", "ǅ", "日本語", "한국", "ภาษา", "नमस्ते", "שלום", "مرحبا", "Ġ",
    "▁", "##", "😀", "👩\u200d👩\u200d👧", "🇺🇸", "\ufe0f", "<unk>", "<|endoftext|>", "<|end", "[MASK]", "</s>",
    "<0x0A>", "...", "!?", "//", "\\n", "_", "--", "#!/bin/sh\n\techo \"$1\"\n",
)  # fmt: skip


def hostile_texts(number: int = 300) -> list[str]:
    """Return PARTS, then characters from all over Unicode, then `number` random mixtures of parts.

    >>> len(hostile_texts(10)) > 300, hostile_texts()[1], hostile_texts() == hostile_texts()
    (True, ' ', True)
    """
    return [*PARTS, *_characters(), *_mixtures(number)]


def _characters() -> Iterator[str]:
    """Yield all one-byte characters and some of two, three and four bytes, each between two letters."""
    for code_point in [
        *range(128),
        *range(128, 0x800, 24),
        *range(0x800, 0x10000, 509),
        *range(0x10000, 0x110000, 8191),
    ]:
        if not 0xD800 <= code_point < 0xE000:
            yield f"a{chr(code_point)}b"


def _mixtures(number: int) -> Iterator[str]:
    random = Random(18)
    for _ in range(number):
        yield "".join(part * random.choice((1, 1, 1, 2, 5)) for part in random.choices(PARTS, k=random.randint(2, 6)))
