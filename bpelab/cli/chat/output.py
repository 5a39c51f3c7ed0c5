"""Output of a chat: control characters escaped, tokens marked, colours if wanted.

A model may produce anything, including escape sequences that rename or clear a window. None reaches the terminal:
control characters are shown as visible escapes.

Chapter: Chat on your hardware. Cost: linear.
"""

import os
from typing import TextIO

from ...chat.response import StreamedToken
from .wrapping import Wrap

CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
DIM, PLAIN = "\x1b[2m", "\x1b[0m"
TOKENS = ("\x1b[30;46m", "\x1b[30;43m")
"""Black on cyan, black on yellow: distinct even with red-green colour blindness, on dark and light backgrounds."""


def escape_controls(text: str) -> str:
    """Return `text` with its control characters (C0, DEL, C1) visible, except line feeds and tabs.

    >>> escape_controls("a\\x1b[2Jb\\n\\x9b")
    'a\\\\x1b[2Jb\\n\\\\x9b'
    """
    return text.translate(CONTROLS)


def one_line_error(error: object) -> str:
    """Format an error as one line without control characters."""
    return escape_controls(" ".join(str(error).split()))


def show_token(token: bytes) -> str:
    """Return a token as text: escaped as by `escape_controls`, with bytes of incomplete characters as \\xNN.

    >>> show_token(b" a\\xe2\\x82")
    ' a\\\\xe2\\\\x82'
    """
    return escape_controls(token.decode("utf-8", "backslashreplace"))


def probability_line(piece: StreamedToken) -> str:
    """Return a line with a token, its probability, and the likeliest tokens at this place with theirs.

    >>> from bpelab.chat import TopToken
    >>> top = TopToken(2, b" a", 0.75), TopToken(1, b"\\n", 0.125)
    >>> probability_line(StreamedToken(1, b"\\n", "\\n", 0.125, top))
    "'\\\\n'           0.125   ' a' 0.750  '\\\\n' 0.125"
    """
    others = "  ".join(f"{_quoted(each.token)} {each.probability:.3f}" for each in piece.top)
    return f"{_quoted(piece.token):14} {piece.probability:.3f}   {others}"


def _quoted(token: bytes) -> str:
    return "'" + show_token(token).replace("\n", "\\n").replace("\t", "\\t") + "'"


def wants_colours(out: TextIO) -> bool:
    """Return whether `out` is a terminal that shows colours, and NO_COLOR (https://no-color.org) isn't set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    old_windows = os.name == "nt" and not os.environ.get("WT_SESSION")
    return out.isatty() and not plain and not old_windows


class Screen:
    """Writes a chat to `out`. With `tokens`, token boundaries are shown by two alternating colours, or by `|`."""

    def __init__(self, out: TextIO, *, tokens: bool = False) -> None:
        self.out, self.tokens, self.colours = out, tokens, wants_colours(out)
        self._wrap = Wrap() if self.colours else None
        self._count = 0
        self._ended, self._shown = True, False

    def piece(self, piece: StreamedToken) -> None:
        """Show the next piece of an answer; on a line of its own, with its probability, if it has `top`."""
        if piece.top:
            self.out.write(probability_line(piece) + "\n")
            self.out.flush()
            self._shown = True
            return
        text = escape_controls(piece.text)
        if self.tokens:
            text = show_token(piece.token)
            if self.colours:
                style = TOKENS[self._count % 2]
                text = "\n".join(f"{style}{part}{PLAIN}" if part else "" for part in text.split("\n"))
            elif self._count:
                text = "|" + text
        elif self._wrap is not None:
            text = self._wrap.text(text)
        self._count += 1
        if text:
            self._ended, self._shown = text.endswith("\n"), True
        self.out.write(text)
        self.out.flush()

    def end(self, *, empty_line: bool = False) -> None:
        """End the line after an answer, if it hasn't ended; with `empty_line`, also if nothing was shown."""
        if not self._ended or (empty_line and not self._shown):
            self.out.write("\n")
            self.out.flush()
        self._count, self._ended, self._shown = 0, True, False
        if self._wrap is not None:
            self._wrap.begin()

    def note(self, text: str) -> None:
        """Show one or more lines that aren't from the model."""
        self.end()
        for line in escape_controls(text).split("\n"):
            self.out.write(f"{DIM}{line}{PLAIN}\n" if self.colours else f"{line}\n")
        self.out.flush()
