"""What the baselines share: counting words, finding tokens, and pair counts that are kept up to date.

Chapter: Characters, words, subwords. Cost: linear, and for a merge the words that hold the pair.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ..decoding import as_ids
from ..errors import TrainingError, UnknownTokenError
from ..pretokenizers.unicode_tables import category
from ..textio import valid_text
from ..trainers.naive import replace_pair

Corpus = str | Mapping[str, int]
"""A text, or words and how often each occurs."""
Pair = tuple[int, int]
T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


class _Isolate(dict[int, str]):
    """For str.translate: a space on both sides of every punctuation mark and symbol."""

    def __missing__(self, code_point: int) -> str:
        char = chr(code_point)
        self[code_point] = f" {char} " if category(char)[0] in "PS" else char
        return self[code_point]


_ISOLATE = _Isolate()


def words_and_marks(text: str) -> list[str]:
    """The words of a text, and every punctuation mark and symbol as a word of its own. White space is not kept.

    >>> words_and_marks("Don't stop: 3.50!")
    ['Don', "'", 't', 'stop', ':', '3', '.', '50', '!']
    """
    return valid_text(text).translate(_ISOLATE).split()


def count_words(corpus: Corpus, split: Callable[[str], list[str]]) -> Counter[str]:
    """How often each word occurs in a corpus, in the order in which they are met.

    Raises TypeError for what is no corpus, and TrainingError for one without a word or with a count below 1.
    """
    words: Counter[str] = Counter()
    if isinstance(corpus, str):
        words.update(split(corpus))
    elif isinstance(corpus, Mapping):
        for text, number in corpus.items():
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"the count of {text!r} must be an integer, not {number!r}")
            if number < 1:
                raise TrainingError(f"the count of {text!r} must be at least 1, not {number}")
            for word in split(text):
                words[word] += number
    else:
        raise TypeError(f"a corpus is a str, or a dict of words and counts, not {type(corpus).__name__}")
    if not words:
        raise TrainingError("the corpus is empty: there is nothing to learn a vocabulary from")
    return words


def require_room(vocab_size: object, needed: int, for_what: str) -> None:
    """Raises TypeError or TrainingError where `vocab_size` is no number of at least `needed`."""
    if isinstance(vocab_size, bool) or not isinstance(vocab_size, int):
        raise TypeError(f"vocab_size must be an integer, not {vocab_size!r}")
    if vocab_size < needed:
        raise TrainingError(f"vocab_size={vocab_size} is too small: {needed} are needed for {for_what}")


def most_frequent(counts: Mapping[str, int], number: int) -> list[str]:
    """The `number` most frequent keys; of equals, the one that sorts first.

    >>> most_frequent({"b": 2, "a": 2, "c": 5}, 2)
    ['c', 'a']
    """
    return sorted(counts, key=lambda key: (-counts[key], key))[:number]


def look_up(ids: Iterable[Any], tokens: Sequence[T]) -> list[T]:
    """The token of each id. Raises UnknownTokenError for an id that doesn't exist, TypeError for what is no id."""
    found = []
    for position, token_id in enumerate(as_ids(ids)):
        if not 0 <= token_id < len(tokens):
            raise UnknownTokenError(
                f"there is no token with the id {token_id} (position {position}; the highest id is {len(tokens) - 1})"
            )
        found.append(tokens[token_id])
    return found


def encode_each(words: Iterable[str], encode_word: Callable[[str], list[int]]) -> list[int]:
    """The ids of all words, each distinct word encoded once."""
    known: dict[str, list[int]] = {}
    ids: list[int] = []
    for word in words:
        if word not in known:
            known[word] = encode_word(word)
        ids += known[word]
    return ids


class PairCounts:
    """How often each symbol and each pair of neighbours stands in counted words, kept right from merge to merge."""

    def __init__(self, words: Iterable[tuple[list[int], int]]) -> None:
        self.symbols: Counter[int] = Counter()
        self.pairs: Counter[Pair] = Counter()
        self.pairs_with: defaultdict[int, set[Pair]] = defaultdict(set)
        self._words = list(words)
        self._places: defaultdict[Pair, set[int]] = defaultdict(set)
        for number, (ids, occurrences) in enumerate(self._words):
            self._add(number, ids, occurrences)

    def _add(self, number: int, ids: list[int], occurrences: int) -> set[Pair]:
        changed = set(zip(ids, ids[1:]))
        for symbol in ids:
            self.symbols[symbol] += occurrences
        for pair in zip(ids, ids[1:]):
            self.pairs[pair] += occurrences
            self._places[pair].add(number)
        for pair in changed:
            self.pairs_with[pair[0]].add(pair)
            self.pairs_with[pair[1]].add(pair)
        return changed

    def merge(self, pair: Pair, new: int) -> set[Pair]:
        """Put `new` in place of `pair` everywhere; the pairs that were counted anew."""
        changed: set[Pair] = set()
        for number in sorted(self._places.pop(pair)):
            ids, occurrences = self._words[number]
            merged = replace_pair(ids, pair, new)
            if len(merged) == len(ids):
                continue  # another merge took the pair from this word
            for symbol in ids:
                self.symbols[symbol] -= occurrences
            for old in zip(ids, ids[1:]):
                self.pairs[old] -= occurrences
                changed.add(old)
            self._words[number] = merged, occurrences
            changed |= self._add(number, merged, occurrences)
        return changed
