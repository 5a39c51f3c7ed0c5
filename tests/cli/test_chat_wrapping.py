"""Words at the edge of a terminal: what is written is played on a small screen, and read off it."""

import random
import re

import pytest

from bpelab.cli.chat.wrapping import Wrap, columns

from ..conftest import amount


def screen_after(written: str, width: int) -> list[str]:
    """The lines of a terminal that is `width` wide, after this was written to it."""
    lines, column = [[]], 0
    for code, char in re.findall(r"\x1b\[(\d*[DK])|(.)", written, re.DOTALL):
        if code.endswith("D"):
            column -= int(code[:-1])
            assert column >= 0
        elif code == "K":
            del lines[-1][column:]
        elif char == "\n":
            lines.append([])
            column = 0
        else:
            assert column + columns(char) < width, "the last column is written to"
            lines[-1][column:] = [char, *[""] * (columns(char) - 1)] if columns(char) else [*lines[-1][column:], char]
            column += columns(char)
    return ["".join(line) for line in lines]


@pytest.mark.parametrize("width", [20, 33, 80])
def test_no_word_is_broken_and_nothing_is_lost(width):
    rng = random.Random(width)
    for _ in range(amount(200, 10_000)):
        words = ["".join(rng.choices("abé日ö", k=rng.randint(1, 9))) for _ in range(rng.randint(1, 40))]
        text = "".join(word + rng.choice([" ", " ", " ", "\n", "  "]) for word in words)
        wrap, written = Wrap(width), ""
        while text:  # in pieces, as tokens come
            cut = rng.randint(1, 5)
            written, text = written + wrap.text(text[:cut]), text[cut:]
        shown = screen_after(written, width)
        assert " ".join(shown).split() == words


def test_a_word_wider_than_the_line_is_broken_where_it_must_be():
    shown = screen_after(Wrap(20).text("a " + "b" * 50 + " c"), 20)
    assert "".join(shown).replace(" ", "") == "a" + "b" * 50 + "c"
    assert max(map(len, shown)) == 19


def test_a_narrow_terminal_is_left_alone():
    assert Wrap(19).text("word " * 20) == "word " * 20
