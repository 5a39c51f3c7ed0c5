"""Word wrap while text streams: a word that would break at the edge of the terminal moves to the next line whole.

A word appears letter by letter, as the model generates it. The first letter that doesn't fit moves the whole word: the
cursor goes back to where the word began, the rest of the line is cleared, and the word is written again below.

Chapter: Chat on your hardware. Cost: linear.
"""

import shutil
from unicodedata import combining, east_asian_width

TAB = 8
NARROWEST = 20
"""The minimum width for word wrap, in columns."""


def columns(char: str) -> int:
    """Return how many columns a character takes.

    >>> columns("a"), columns("日"), columns("\\u0301")
    (1, 2, 0)
    """
    return 0 if combining(char) or char in "\u200b\u200d\ufe0f" else 2 if east_asian_width(char) in "WF" else 1


class Wrap:
    """The position of the cursor, and the current word. The last column stays empty: terminals differ about it.

    >>> Wrap(24).text("one two three four five six")
    'one two three four five\\nsix'
    >>> wrap = Wrap(24)
    >>> wrap.text("one two three four fi") + wrap.text("ves")
    'one two three four five\\x1b[4D\\x1b[K\\nfives'
    """

    def __init__(self, width: int | None = None) -> None:
        self._width = width
        self.begin()

    def begin(self) -> None:
        """Assume that the cursor is at the beginning of a line."""
        self._column, self._word, self._word_columns = 0, "", 0

    def text(self, text: str) -> str:
        """Return the characters to write in order to show `text`."""
        width = self._width or shutil.get_terminal_size().columns
        return text if width < NARROWEST else "".join(self._char(char, width - 1) for char in text)

    def _char(self, char: str, room: int) -> str:
        if char == "\n":
            self.begin()
            return char
        if char.isspace():
            taken = TAB - self._column % TAB if char == "\t" else columns(char)
            self._word, self._word_columns = "", 0
            if self._column + taken > room:  # the line breaks at the space
                self._column = 0
                return "\n"
            self._column += taken
            return char
        taken = columns(char)
        self._word += char
        self._word_columns += taken
        self._column += taken
        if self._column <= room or self._word_columns > room or self._column == self._word_columns:
            if self._column > room:  # a word wider than the line: the terminal breaks it
                self._column = taken
                return "\n" + char
            return char
        back, self._column = self._word_columns - taken, self._word_columns
        moved = f"\x1b[{back}D\x1b[K" if back else ""
        return f"{moved}\n{self._word}"
