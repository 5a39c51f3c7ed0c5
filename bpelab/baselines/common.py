"""What the baselines share: a base class, word counts, token lookup, and pair counts that are updated merge by merge.

Chapter: Characters, words, subwords. Cost: linear; each merge visits the words that contain the pair.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from .._support.textio import valid_text
from .._support.validate import whole_number
from ..core.detokenize import to_ids
from ..errors import TrainingError, UnknownTokenError
from ..trainers.naive import replace_pair
from ..unicode.tables import category

Corpus = str | Mapping[str, int]
"""A text, or words and how often each occurs."""
Pair = tuple[int, int]
T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


class _PunctuationSpacer(dict[int, str]):
    """A table for str.translate that puts spaces around every punctuation mark and symbol."""

    def __missing__(self, code_point: int) -> str:
        char = chr(code_point)
        self[code_point] = f" {char} " if category(char)[0] in "PS" else char
        return self[code_point]


_PUNCTUATION_SPACER = _PunctuationSpacer()


def words_and_marks(text: str) -> list[str]:
    """Return the words of a text, with each punctuation mark and symbol as a word of its own. White space is dropped.

    >>> words_and_marks("Don't stop: 3.50!")
    ['Don', "'", 't', 'stop', ':', '3', '.', '50', '!']
    """
    return valid_text(text).translate(_PUNCTUATION_SPACER).split()


def count_words(corpus: Corpus, split: Callable[[str], list[str]]) -> Counter[str]:
    """Count the words of a corpus, in the order of their first occurrence.

    Raises TypeError if it isn't a corpus, and TrainingError if it has no words or a count below 1.
    """
    words: Counter[str] = Counter()
    if isinstance(corpus, str):
        words.update(split(corpus))
    elif isinstance(corpus, Mapping):
        for text, count in corpus.items():
            if whole_number(f"the count of {text!r}", count) < 1:
                raise TrainingError(f"the count of {text!r} must be at least 1, not {count}")
            for word in split(text):
                words[word] += count
    else:
        raise TypeError(f"a corpus is a str, or a dict of words and counts, not {type(corpus).__name__}")
    if not words:
        raise TrainingError("the corpus is empty: there is nothing to learn a vocabulary from")
    return words


def require_vocab_size(vocab_size: int, needed: int, for_what: str) -> None:
    """Raise TypeError or TrainingError unless `vocab_size` is an integer of at least `needed`."""
    if whole_number("vocab_size", vocab_size) < needed:
        raise TrainingError(f"vocab_size={vocab_size} is too small: {needed} are needed for {for_what}")


def most_frequent(counts: Mapping[str, int], count: int) -> list[str]:
    """Return the `count` most frequent keys; ties go to the key that sorts first.

    >>> most_frequent({"b": 2, "a": 2, "c": 5}, 2)
    ['c', 'a']
    """
    return sorted(counts, key=lambda key: (-counts[key], key))[:count]


def tokens_of(ids: Iterable[Any], tokens: Sequence[T]) -> list[T]:
    """Return the token of each id.

    Raises UnknownTokenError if an id doesn't exist, and TypeError if it isn't an integer.
    """
    found = []
    for position, token_id in enumerate(to_ids(ids)):
        if not 0 <= token_id < len(tokens):
            raise UnknownTokenError(
                f"there is no token with the id {token_id} (position {position}; the highest id is {len(tokens) - 1})"
            )
        found.append(tokens[token_id])
    return found


def encode_words(words: Iterable[str], encode_word: Callable[[str], list[int]]) -> list[int]:
    """Return the ids of all words, each distinct word encoded once."""
    known: dict[str, list[int]] = {}
    ids: list[int] = []
    for word in words:
        if word not in known:
            known[word] = encode_word(word)
        ids += known[word]
    return ids


class Baseline(ABC):
    """What the baselines share: a vocabulary of strings in which id 0 is the unknown token."""

    vocabulary: list[str]

    def __len__(self) -> int:
        return len(self.vocabulary)

    @classmethod
    @abstractmethod
    def train(cls, corpus: Corpus, vocab_size: int) -> "Baseline":
        """Learn a vocabulary from a text or from counted words."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`."""

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of `text` as strings, for display."""
        return [self.vocabulary[token_id] for token_id in self.encode(text)]

    def unknown_count(self, text: str) -> int:
        """Count the unknown tokens in `text`."""
        return self.encode(text).count(0)


class PairCounts:
    """Counts of symbols and of neighbouring pairs in counted words, updated by each merge."""

    def __init__(self, words: Iterable[tuple[list[int], int]]) -> None:
        self.symbols: Counter[int] = Counter()
        self.pairs: Counter[Pair] = Counter()
        self.pairs_with: defaultdict[int, set[Pair]] = defaultdict(set)
        self._words = list(words)
        self._words_with: defaultdict[Pair, set[int]] = defaultdict(set)
        for index, (ids, occurrences) in enumerate(self._words):
            self._add(index, ids, occurrences)

    def _add(self, index: int, ids: list[int], occurrences: int) -> set[Pair]:
        changed = set(zip(ids, ids[1:]))
        for symbol in ids:
            self.symbols[symbol] += occurrences
        for pair in zip(ids, ids[1:]):
            self.pairs[pair] += occurrences
            self._words_with[pair].add(index)
        for pair in changed:
            self.pairs_with[pair[0]].add(pair)
            self.pairs_with[pair[1]].add(pair)
        return changed

    def merge(self, pair: Pair, new: int) -> set[Pair]:
        """Replace `pair` with `new` everywhere; return the pairs whose counts may have changed."""
        changed: set[Pair] = set()
        for index in sorted(self._words_with.pop(pair)):
            ids, occurrences = self._words[index]
            merged = replace_pair(ids, pair, new)
            if len(merged) == len(ids):
                continue  # an earlier merge removed the pair from this word
            for symbol in ids:
                self.symbols[symbol] -= occurrences
            for old in zip(ids, ids[1:]):
                self.pairs[old] -= occurrences
                changed.add(old)
            self._words[index] = merged, occurrences
            changed |= self._add(index, merged, occurrences)
        return changed
