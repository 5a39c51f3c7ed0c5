"""The book's running example: nine words, the merges that they teach, and a text to encode with these.

One picture grows from chapter to chapter. Each row is computed by what its chapter is about, but GPT-4's ids, whose
vocabulary isn't at hand everywhere: a test compares these with tiktoken.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import escape

from ..baselines import WordPieceTokenizer
from ..baselines.common import words_and_marks
from ..encoders import ENCODERS
from ..model.trace import MergeStep, Step, TrieStep, trace_encode
from ..notebook.plotting import COLOURS
from ..pretokenizers import Split
from ..tokenizer import BPETokenizer

TEXT = "a rat, a rat, that rat ate the hat"
NEW_TEXT = "that rat's hat"
PIECE = b" hat"
"""What the heap and the trie encode, each in its way."""
GPT4_IDS = (9210, 11494, 596, 9072)
"""NEW_TEXT in cl100k_base."""
MERGES = 5
"""What TEXT teaches: after so many merges no pair of tokens occurs twice."""
Groups = list[list[str]]
"""The boxes of a row, and which of them stand together."""


@lru_cache(1)
def example_tokenizer() -> BPETokenizer:
    """Return the tokenizer that TEXT teaches: 256 bytes and five merges."""
    return BPETokenizer.train(TEXT, 256 + MERGES, progress=False)


def _shown(token: bytes) -> str:
    return token.decode().replace(" ", "␣")


def _words() -> Groups:
    return [[word] for word in TEXT.split()]


def _merge(rank: int, left: int, right: int) -> list[str]:
    tokens = example_tokenizer().model.tokens
    return [f"{rank}: {_shown(tokens[left])}+{_shown(tokens[right])}"]


def _merges() -> Groups:
    return [_merge(rank, *pair) for pair, (rank, _) in example_tokenizer().model.merges.items()]


def _pieces() -> list[str]:
    return Split("cl100k").split(NEW_TEXT)


def _tokens() -> Groups:
    return [[_shown(token) for token in example_tokenizer().tokenize(piece)] for piece in _pieces()]


def _ids() -> Groups:
    return [[str(token_id) for token_id in example_tokenizer().encode(piece)] for piece in _pieces()]


def _wordpiece() -> Groups:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no pair is left long before that size
        learned = WordPieceTokenizer.train(TEXT, 256)
    return [learned.tokens(word) for word in words_and_marks(NEW_TEXT)]


def _steps(encoder: str) -> Iterator[Step]:
    return trace_encode(ENCODERS[encoder](example_tokenizer().model), PIECE)


def _popped() -> Groups:
    return [_merge(step.rank, step.left, step.right) for step in _steps("heap") if isinstance(step, MergeStep)]


def _accepted() -> Groups:
    tokens, steps = example_tokenizer().model.tokens, _steps("trie")
    return [[_shown(tokens[step.token])] for step in steps if isinstance(step, TrieStep) and step.action == "accept"]


ROWS: tuple[tuple[str, str, Callable[[], Groups]], ...] = (
    ("start", "nine words", _words),
    ("training", "merges that they teach", _merges),
    ("encoding", f'tokens of "{NEW_TEXT}"', _tokens),
    ("encoding", "their ids", _ids),
    ("regex", "its pieces, cut first", lambda: [[piece.replace(" ", "␣")] for piece in _pieces()]),
    ("tiktoken", "GPT-4's ids", lambda: [[str(token_id)] for token_id in GPT4_IDS]),
    ("wordpiece_unigram", "WordPiece's tokens", _wordpiece),
    ("heap", "a heap merges, for ␣hat", _popped),
    ("trie", "a trie takes, for ␣hat", _accepted),
)
CHAPTERS = tuple(dict.fromkeys(chapter for chapter, _, _ in ROWS))


class RunningExample:
    """The picture up to a chapter, whose own rows are marked; displays itself.

    >>> print(RunningExample("training"))
      nine words              a | rat, | a | rat, | that | rat | ate | the | hat
    > merges that they teach  0: a+t | 1: ␣+r | 2: ␣r+at | 3: ␣+t | 4: h+at

    Raises ValueError for a chapter that adds nothing to it. Cost: milliseconds.
    """

    def __init__(self, chapter: str) -> None:
        if chapter not in CHAPTERS:
            raise ValueError(
                f"no row of the running example is of {chapter!r}; chapters with one: {', '.join(CHAPTERS)}"
            )
        known = CHAPTERS[: CHAPTERS.index(chapter) + 1]
        self.rows = [(of == chapter, label, groups()) for of, label, groups in ROWS if of in known]

    def __repr__(self) -> str:
        width = max(len(label) for _, label, _ in self.rows)
        lines = []
        for new, label, groups in self.rows:
            boxes = " | ".join(" ".join(group) for group in groups)
            lines.append(f"{'>' if new else ' '} {label:{width}}  {boxes}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f'<div class="bpelab-example">{"".join(map(_row_html, self.rows))}</div>'


ROW = "padding: .15em 0 .15em .7em; display: flex; flex-wrap: wrap; gap: 0 1em;"
GROUP = "display: inline-block; margin-right: .6em;"
BOX = (
    "display: inline-block; border: 1px solid; border-radius: 3px; padding: 0 .35em; margin: .1em 0; white-space: pre;"
)


def _row_html(row: tuple[bool, str, Groups]) -> str:
    new, label, groups = row
    boxes = "".join(f'<span style="{GROUP}">{"".join(map(_box_html, group))}</span>' for group in groups)
    colour, weight = (COLOURS[0], "bold") if new else ("transparent", "normal")
    return (
        f'<div style="border-left: 3px solid {colour}; {ROW}">'
        f'<span style="flex: 0 0 14em; font-weight: {weight};">{escape(label)}</span>'
        f'<span style="flex: 1 1 16em; font-family: monospace;">{boxes}</span></div>'
    )


def _box_html(text: str) -> str:
    return f'<span style="{BOX}">{escape(text)}</span>'
