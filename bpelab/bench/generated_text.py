"""Generate text of any size for measuring training: like real text, it keeps producing new words and phrases.

The text is a random walk through a source text. Each step goes to the next word, or continues from another occurrence
of the same word, or from anywhere; now and then it makes up a word, whose rank is drawn from Zipf's law. So most word
pairs have the source's frequencies, new pairs and new words never end, and phrases recur while the walk follows the
source. Thousands of walks run at once. A seed and a source give the same text on every machine with the same NumPy.

    python -m bpelab.bench.generated_text 1G big.txt            # from the book's text
    python -m bpelab.bench.generated_text 1G big.txt --like english.txt

Cost: 71 s of processor time for a gigabyte.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._support.byte_sizes import size_in_bytes
from .._support.numpy_import import NDArray, np
from ..notebook.live_source import book_text
from ..notebook.zipf_text import word

GOES_ON, SAME_WORD = 0.4, 0.36
"""How often a walk continues with the next word, and from another occurrence of the word; otherwise it jumps."""
MADE_UP = 0.03
"""How often a word is made up."""
S, Q = 1.5, 3_000.0
"""Parameters of Zipf's law, from which the ranks of these words are drawn (`notebook/zipf_text.py`)."""
WALKS, STEPS = 2_000, 500
MAX_RANK = 1 << 50


class Source:
    """A text as a list of words, each with the white space before it, and an index of every word's occurrences."""

    def __init__(self, text: str) -> None:
        found = re.findall(r"\s*\S+", text)
        words, self.word = np.unique(np.array(found, object), return_inverse=True)
        self.words: NDArray[np.object_] = words
        self.places = np.argsort(self.word, kind="stable")
        self.number = np.bincount(self.word, minlength=len(words))
        self.first = np.cumsum(self.number) - self.number

    def walks(self, random: np.random.Generator) -> NDArray[np.int64]:
        """Return the word ids of WALKS walks of STEPS steps; a made-up word is ~rank, a negative number."""
        size = len(self.word)
        found = np.empty((STEPS, WALKS), np.int64)
        at = random.integers(size, size=WALKS)
        for step in range(STEPS):
            draw, word = random.random(WALKS), self.word[at]
            found[step] = word
            same = self.places[self.first[word] + random.integers(self.number[word])]
            goes_on = np.where(draw < GOES_ON, at, same) + 1
            at = np.where(draw < GOES_ON + SAME_WORD, goes_on, random.integers(size, size=WALKS)) % size
        made = random.random(found.shape) < MADE_UP
        ranks = Q * random.random(int(made.sum())) ** (-1 / (S - 1)) - Q
        found[made] = ~np.minimum(ranks, MAX_RANK).astype(np.int64)
        return found.T


def generated_text(size: int, source: Source, seed: int = 0) -> Iterator[str]:
    """Yield parts of a text of about `size` characters in total.

    >>> parts = list(generated_text(1_000, Source("one of the best, some of the rest\\n")))
    >>> sum(map(len, parts)), " of the" in parts[0]
    (1000, True)
    """
    random = np.random.default_rng(seed)
    while size > 0:
        walks = source.walks(random)
        distinct, offsets = np.unique(walks, return_inverse=True)  # sorted: made-up words come first
        made = [f" {word(2_000 + ~number)}" for number in distinct[distinct < 0].tolist()]
        words = np.concatenate([np.array(made, object), source.words[distinct[distinct >= 0]]])
        text = "\n\n".join("".join(line) for line in words[offsets.reshape(walks.shape)].tolist())[:size]
        size -= len(text)
        yield text


def main(arguments: Iterable[str] | None = None) -> None:
    """Write a generated text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", type=size_in_bytes)
    parser.add_argument("out", type=Path)
    parser.add_argument("--like", type=Path, help="the source text, instead of the book's")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments if arguments is None else list(arguments))
    source = Source(args.like.read_text("utf-8") if args.like else book_text())
    with args.out.open("w", encoding="utf-8", newline="") as file:
        file.writelines(generated_text(args.size, source, args.seed))


if __name__ == "__main__":
    main()
