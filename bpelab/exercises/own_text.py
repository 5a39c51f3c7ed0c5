"""The rubric of the exercise in which the reader's own tokenizer learns from a text of the reader's own.

The folder holds the text, a text that was held out, and the vocabulary as the reader's `save` writes it.

Chapter: Publish your own tokenizer.
"""

from functools import cached_property
from typing import Any

from ..formats.tiktoken_file import read_ranks
from ..model.bpe import BPEModel
from ..notebook.live_source import book_text
from ..regex.patterns import PATTERNS
from ..tokenizer import BPETokenizer
from .own_file import run_text, text_until
from .rubric import NotEarned, Point, Rubric
from .submission import Submission, open_submission

CORPUS_FILE, RANKS_FILE = "text.txt", "mine.tiktoken"
MIN_CORPUS, MIN_HELD_OUT = 10_000, 1_000
PATTERN = "cl100k"


class OwnVocabulary(Submission):
    """A submitted folder, read by the library and by the reader's own file."""

    @cached_property
    def corpus(self) -> str:
        """The text that was learned from."""
        text = self._read(CORPUS_FILE, "put the text there that your tokenizer learned from")
        return text.replace("\r\n", "\n")  # as Python reads what it wrote on Windows

    @cached_property
    def ranks(self) -> dict[bytes, int]:
        """The vocabulary, read by the library."""
        if not (self.folder / RANKS_FILE).is_file():
            raise NotEarned(f"there is no {RANKS_FILE}", "write it with your tokenizer's `save`")
        return read_ranks(self.folder / RANKS_FILE)

    @cached_property
    def own(self) -> Any:
        """The reader's tokenizer, with the vocabulary that its `load` reads."""
        assert self.ranks
        mine: Any = run_text(text_until("trie"))
        return mine.Tokenizer.load(self.folder / RANKS_FILE, PATTERNS[PATTERN].regex)

    @cached_property
    def pair(self) -> dict[str, str]:
        """The two texts, by the names of their files."""
        return {CORPUS_FILE: self.corpus, "held-out.txt": self.text}


def _open(folder: Any) -> OwnVocabulary:
    return OwnVocabulary(open_submission(folder).folder)


def is_own(submission: OwnVocabulary) -> str:
    """Check that both texts are long enough, the reader's own, and have little in common."""
    sizes = {name: len(text.encode()) for name, text in submission.pair.items()}
    for (name, size), least in zip(sizes.items(), (MIN_CORPUS, MIN_HELD_OUT)):
        if size < least:
            raise NotEarned(f"{name} has {size:,} bytes", f"take at least {least:,}")
        lines = [line for line in submission.pair[name].splitlines() if len(line) > 15]
        known = book_text() if name == CORPUS_FILE else book_text() + submission.corpus
        seen = sum(line in known for line in lines)
        if seen > len(lines) / 2:
            raise NotEarned(
                f"of {len(lines):,} lines in {name}, {seen:,} are in this book or were learned from",
                "take a text of your own, and hold a part of it out",
            )
    return ", ".join(f"{name} has {size:,} bytes" for name, size in sizes.items())


def is_learned(submission: OwnVocabulary) -> str:
    """Check that the vocabulary is the one that training on the text gives."""
    expected = BPETokenizer.train(submission.corpus, len(submission.ranks), pattern=PATTERN, progress=False)
    if submission.ranks != dict(expected.model.ids) or len(submission.ranks) <= 256:
        raise NotEarned(
            f"{len(submission.ranks):,} tokens, and bpelab learns others",
            f"train on all of {CORPUS_FILE}, with {PATTERN}'s pattern, and save that vocabulary",
        )
    return f"{len(submission.ranks):,} tokens, those that bpelab learns"


def has_the_ids(submission: OwnVocabulary) -> str:
    """Check that the reader's tokenizer and the library return the same ids, and that these decode to the text."""
    library, counts = BPETokenizer(BPEModel.from_ranks(submission.ranks), pattern=PATTERN), []
    for name, text in submission.pair.items():
        ids = submission.own.encode(text)
        if ids != library.encode(text):
            raise NotEarned(f"other ids than bpelab's for {name}", "compare `encode` piece by piece")
        if submission.own.decode(ids) != text:
            raise NotEarned(f"{name} doesn't come back from its ids", "look at `decode`")
        counts.append(f"{len(ids):,} for {name}")
    return f"bpelab's ids, {' and '.join(counts)}; both texts come back"


def pays(submission: OwnVocabulary) -> str:
    """Check that the held-out text takes fewer tokens than with a vocabulary of the same size that the book taught."""
    book = BPETokenizer.train(book_text(), len(submission.ranks), pattern=PATTERN, progress=False)
    own, other = len(submission.own.encode(submission.text)), book.count_tokens(submission.text)
    finding = f"{own:,} tokens for held-out.txt, {other:,} with as large a vocabulary from this book's text"
    if own >= other:
        raise NotEarned(finding, "learn from more text of the kind that you held out")
    return f"{finding}: {1 - own / other:.0%} fewer"


RUBRIC = Rubric(
    _open,
    (
        Point("yours", 1, "The texts are your own, and one was held out.", is_own),
        Point("learned", 1, "The vocabulary comes from your text.", is_learned),
        Point("exact", 1, "Your tokenizer has the library's ids for both texts, and decodes them.", has_the_ids),
        Point("pays", 1, "It knows your kind of text better than one that learned from this book.", pays),
    ),
    pass_mark=4,
)
