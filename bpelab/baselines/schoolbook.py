"""Character-level BPE, as first used for text: words of characters, an end-of-word mark `</w>`, merges by frequency.

Text is cut into words at white space, each distinct word is counted once, and a merge never crosses the end of a word.
Encoding repeatedly merges every occurrence of the pair that was learned first. A character that training didn't see is
unknown, and the kind and number of white space characters is lost: bytes as the alphabet and white space inside tokens
came later (GPT-2).

Chapter: Characters, words, subwords. Cost: training, for each merge the words that contain the pair; encoding, O(n) for
each merge used in a word of n characters.
Source: Sennrich, Haddow and Birch 2016, section 3.2 and algorithm 1; subword-nmt.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from .._support.textio import valid_text
from ..errors import ModelError
from ..trainers.naive import replace_pair
from .common import Baseline, Corpus, Pair, PairCounts, count_words, encode_words, require_vocab_size, tokens_of

UNKNOWN, END_OF_WORD = "<unk>", "</w>"
Symbol = tuple[str, bool]
"""Characters, and whether they end a word: a `</w>` in the text can't be mistaken for the mark."""


def _words(text: str) -> list[str]:
    return valid_text(text).split()


class SchoolbookBPE(Baseline):
    """Character-level BPE with end-of-word marks. Id 0 is the unknown token, id 1 the bare end mark.

    Args:
        characters: the alphabet, which gets the ids from 2 on.
        merges: pairs of ids in the order in which they were learned; their tokens get the ids that follow.

    >>> tokenizer = SchoolbookBPE.train({"low": 5, "lower": 2, "newest": 6, "widest": 3}, vocab_size=16)
    >>> tokenizer.vocabulary[12:]
    ['es', 't</w>', 'est</w>', 'lo']
    >>> tokenizer.tokens("lowest"), tokenizer.decode(tokenizer.encode("lowest  wind"))
    (['lo', 'w', 'est</w>'], 'lowest wind')

    Raises ModelError if a merge uses an id that doesn't exist yet, or repeats another merge.
    """

    def __init__(self, characters: Sequence[str], merges: Sequence[Pair] = ()) -> None:
        self._symbols: list[Symbol] = [("\ufffd", False), ("", True), *((char, False) for char in characters)]
        self._alphabet = {char: index for index, char in enumerate(characters, start=2)}
        self._merges: dict[Pair, int] = {}
        for rank, (left, right) in enumerate(merges):
            new = len(self._symbols)
            if not (0 < left < new and 0 < right < new) or self._symbols[left][1] or (left, right) in self._merges:
                raise ModelError(f"merge {rank} can't join {left} and {right}: {new} tokens exist so far")
            self._symbols.append((self._symbols[left][0] + self._symbols[right][0], self._symbols[right][1]))
            self._merges[left, right] = new
        self._pairs = {new: pair for pair, new in self._merges.items()}
        self.vocabulary = [UNKNOWN, *(chars + END_OF_WORD * ends for chars, ends in self._symbols[1:])]

    @classmethod
    def train(cls, corpus: Corpus, vocab_size: int, *, min_frequency: int = 2) -> "SchoolbookBPE":
        """Learn merges from a text or from counted words; ties go to the pair with smaller ids.

        The vocabulary is smaller if no pair occurs `min_frequency` times any more. Raises TrainingError (a
        ValueError) for an empty corpus, or a size without room for its characters, the unknown token and the end mark.
        """
        words = count_words(corpus, _words)
        characters = sorted({char for word in words for char in word})
        require_vocab_size(
            vocab_size, len(characters) + 2, f"{len(characters)} characters, {UNKNOWN} and {END_OF_WORD}"
        )
        ids = {char: index for index, char in enumerate(characters, start=2)}
        counts = PairCounts(([*map(ids.__getitem__, word), 1], count) for word, count in words.items())
        heap = [(-count, pair) for pair, count in counts.pairs.items() if count >= min_frequency]
        heapify(heap)
        merges: list[Pair] = []
        while heap and len(merges) < vocab_size - len(characters) - 2:
            claimed, pair = heappop(heap)
            if counts.pairs[pair] != -claimed:
                continue  # stale: the current entry is on the heap too
            new = len(characters) + 2 + len(merges)
            merges.append(pair)
            for changed in counts.merge(pair, new):
                if counts.pairs[changed] >= min_frequency:
                    heappush(heap, (-counts.pairs[changed], changed))
        return cls(characters, merges)

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The merges as strings, in the order in which they were learned."""
        return [(self.vocabulary[left], self.vocabulary[right]) for left, right in self._merges]

    def _encode_word(self, word: str) -> list[int]:
        ids = [*(self._alphabet.get(char, 0) for char in word), 1]
        while known := [self._merges[pair] for pair in set(zip(ids, ids[1:])) if pair in self._merges]:
            new = min(known)  # ids grow in the order of learning
            ids = replace_pair(ids, self._pairs[new], new)
        return ids

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`; its words end in a token that carries `</w>`."""
        return encode_words(_words(text), self._encode_word)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`, with one space between words and U+FFFD for the unknown token.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist.
        """
        return "".join(f"{chars} " if ends else chars for chars, ends in tokens_of(ids, self._symbols)).removesuffix(
            " "
        )
