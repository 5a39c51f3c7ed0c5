"""The cost of white space: runs of spaces, tabs and line ends, and the indentation of code.

GPT-2's vocabulary has no tokens for long runs of spaces, so nearly every space is a token; later vocabularies have such
tokens.

Chapter: Measuring. Cost: encoding the text.
"""

from dataclasses import dataclass

from ..tokenizer import BPETokenizer
from .compression import ratio


def run_lengths(tokenizer: BPETokenizer, character: str = " ", longest: int = 64, after: str = "") -> list[int]:
    """Return the number of tokens for 1, 2, ... `longest` times `character`, followed by `after`.

    Patterns give the last space of a run to the next word, so a run alone and a run before a word differ.

    >>> run_lengths(BPETokenizer.train("    " * 9, 258, pattern=None), " ", 5)
    [1, 1, 2, 1, 2]
    """
    encode = tokenizer.encode
    return [len(encode(character * size + after, add_special_tokens=False)) for size in range(1, longest + 1)]


@dataclass(frozen=True)
class Indentation:
    """The token counts of a piece of code.

    Attributes:
        lines: lines that aren't blank.
        tokens: all tokens.
        blank: tokens that are nothing but white space.
    """

    lines: int
    tokens: int
    blank: int

    @property
    def tokens_per_line(self) -> float:
        """Tokens per non-blank line; NaN if there is none."""
        return ratio(self.tokens, self.lines)

    @property
    def blank_share(self) -> float:
        """The fraction of all tokens that is white space alone, 0 to 1; NaN without tokens."""
        return ratio(self.blank, self.tokens)


def indentation(tokenizer: BPETokenizer, code: str) -> Indentation:
    """Measure the white space of `code`.

    >>> indentation(BPETokenizer.train("def f" * 9, 257), "if x:\\n  y")
    Indentation(lines=2, tokens=9, blank=4)
    """
    tokens = tokenizer.tokenize(code, add_special_tokens=False)
    blank = sum(not token.replace("▁".encode(), b" ").strip() for token in tokens)
    return Indentation(sum(bool(line.strip()) for line in code.splitlines()), len(tokens), blank)
