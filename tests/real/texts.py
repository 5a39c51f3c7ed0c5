"""The texts on which real tokenizers are compared: languages, code, oddities, and strings drawn at random.

All come from the project itself or from a seed, so that every run compares the same ones. Where the reference material
lies beside the checkout, its lines in 67 languages are compared too, and not counted.
"""

import random
from functools import lru_cache
from importlib.resources import files

from ..conftest import SHARED

RANDOM_STRINGS = 3_000
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz ETAOIN",
    "0123456789.,-+ eE",
    " \t\n\r\u00a0\u2003\u3000\u200b",
    "'\"’sStTdDmMlLvVeErR re",
    "áéíöüñçßøåœæ ÀÉÎÕÜ e\u0301a\u0308",
    "中文字日本語の試験한국어문장 ，。「」",
    "अआइकखगमानि्ีुू தமிழ் ไทยเขา مرحبا שלום",
    "😀👍🏽👩‍👩‍👧‍👦🇩🇪❤️ a",
    "{}[]()<>;:=!&|#$%^*/\\_~`@?\n    ",
    "▁ĠĊ<|>s[]INST_",
)


@lru_cache(None)
def texts() -> tuple[str, ...]:
    """Lines and passages, whole and in parts; the empty text among them."""
    passages = [path.read_text("utf-8") for path in sorted(files("bpelab.data.passages").iterdir(), key=str)
                if path.name.endswith(".txt")]  # fmt: skip
    lines = {line: None for passage in passages for line in passage.splitlines(keepends=True)}
    return ("", *passages, *lines)


@lru_cache(None)
def shared_lines() -> tuple[str, ...]:
    udhr = SHARED / "texts" / "udhr_multilingual.txt"
    return tuple(dict.fromkeys(udhr.read_text("utf-8").splitlines())) if udhr.exists() else ()


def random_strings(special: list[str], seed: int = 20_261_126, number: int = RANDOM_STRINGS) -> list[str]:
    """Strings of one or two alphabets each, with names of special tokens, whole and cut, thrown in."""
    rng = random.Random(seed)
    strings = []
    for _ in range(number):
        letters = "".join(rng.sample(ALPHABETS, rng.choice((1, 1, 2))))
        text = "".join(rng.choices(letters, k=rng.choice((1, 3, 10, 40, 200))))
        if special and rng.random() < 0.3:
            name = rng.choice(special)
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice((name, name, name[:-1], name + name)) + text[at:]
        if rng.random() < 0.05:
            text += chr(rng.choice((0, 0x7F, 0xFFFD, 0x10FFFF, rng.randrange(0xE000, 0x11_0000))))
        strings.append(text)
    return strings
