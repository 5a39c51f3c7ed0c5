"""Unigram: a segmentation's probability is the product of its tokens' probabilities, and the likeliest one wins.

Training starts from far too many substrings. Expectation-maximization estimates their probabilities over *all* ways to
cut the words, then the tokens whose loss costs the least likelihood are dropped, and so on until the vocabulary has its
size. The Viterbi algorithm finds the best cut. Spaces are written as the mark U+2581, so decoding restores them.

Chapter: WordPiece and Unigram. Cost: O(n * longest token) to encode n characters; training, a few dozen passes
over the distinct words. Source: Kudo 2018, section 3.2; the mark: Kudo and Richardson 2018.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

from .._support.textio import valid_text
from ..errors import ModelError, TrainingError
from .common import Baseline, Corpus, count_words, encode_words, most_frequent, require_vocab_size, tokens_of
from .lattice import expected_counts, viterbi

UNKNOWN, MARK = "<unk>", "\u2581"
ESCAPED_MARK = "\ud800"
"""Replaces a U+2581 in the text itself. Valid text never contains it, so it is always unknown."""
MAX_LENGTH = 16
UNKNOWN_PENALTY = 10.0
"""An unknown character is e^10 times less likely than the least likely token, as in SentencePiece."""
_WORD = re.compile(f"{MARK}?[^{MARK}\\s]+|[{MARK}\\s]")


def marked_words(text: str) -> list[str]:
    """Write spaces as marks, add one in front, and split before each mark; other white space is a piece by itself.

    >>> marked_words("two  words")
    ['▁two', '▁', '▁words']
    """
    text = valid_text(text).replace(MARK, ESCAPED_MARK).replace(" ", MARK)
    return _WORD.findall(MARK + text) if text else []


class UnigramTokenizer(Baseline):
    """Tokens with log probabilities. The unknown token has the id 0 and decodes to U+FFFD.

    Args:
        log_probabilities: token -> natural logarithm of its probability, in the order of the ids from 1 on.

    >>> tokenizer = UnigramTokenizer({"▁": -3.0, "a": -2.0, "b": -2.0, "ab": -3.5, "▁a": -4.0, "▁ab": -7.5})
    >>> tokenizer.tokens("ab a"), tokenizer.decode(tokenizer.encode("ab  a"))
    (['▁a', 'b', '▁a'], 'ab  a')

    Raises ModelError for an empty vocabulary, an empty token, or a log probability that isn't a number of at most 0.
    """

    def __init__(self, log_probabilities: Mapping[str, float]) -> None:
        for piece, score in log_probabilities.items():
            if not piece or not -math.inf < score <= 0:
                raise ModelError(f"the token {piece!r} with the log probability {score!r}: it must be from -inf to 0")
        if not log_probabilities:
            raise ModelError("a vocabulary needs at least one token")
        self.log_probabilities = dict(log_probabilities)
        self.vocabulary = [UNKNOWN, *log_probabilities]
        self._ids = {piece: index for index, piece in enumerate(log_probabilities, start=1)}
        self._max_length = max(map(len, log_probabilities))
        self._unknown = min(log_probabilities.values()) - UNKNOWN_PENALTY

    @classmethod
    def train(
        cls, corpus: Corpus, vocab_size: int, *, seeds: int = 6, keep: float = 0.75, rounds: int = 2
    ) -> "UnigramTokenizer":
        """Learn tokens from a text or from counted words.

        `seeds`: how many substrings to start from, for each token wanted. `keep`: the share of the tokens that pruning
        leaves each time. `rounds`: how often the probabilities are estimated between two prunings.

        Single characters are never dropped. The vocabulary is smaller if the text has too few substrings that occur
        twice. Raises TrainingError (a ValueError) for an empty corpus or a size without room for its characters.
        """
        if not 0 < keep < 1 or min(seeds, rounds) < 1:
            raise TrainingError(f"keep={keep} must be between 0 and 1, seeds={seeds} and rounds={rounds} at least 1")
        words = count_words(corpus, lambda text: [p for word in marked_words(text) for p in word.split(ESCAPED_MARK)])
        words.pop("", None)
        characters = sorted({MARK, *chain.from_iterable(words)})
        require_vocab_size(vocab_size, len(characters) + 1, f"{len(characters)} characters and {UNKNOWN}")
        wanted = vocab_size - 1
        scores = _normalize(_seed_tokens(words, characters, seeds * vocab_size))
        while True:
            for _ in range(rounds):
                expected = expected_counts(words, scores)
                small = len(scores) <= wanted
                kept = [piece for piece in scores if small or len(piece) == 1 or expected.get(piece, 0.0) >= 0.5]
                scores = _normalize({piece: max(expected.get(piece, 0.0), 0.5) for piece in kept})
            if len(scores) <= wanted:
                break
            scores = _prune(scores, expected, max(wanted, int(keep * len(scores))))
        return cls(dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))))

    def best_cut(self, word: str) -> tuple[list[str], float]:
        """Return the likeliest segmentation of a marked word and its log probability; unknown characters are pieces."""
        return viterbi(word, self.log_probabilities, self._max_length, self._unknown)

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`; an unknown character is one 0. A U+2581 in the text counts as unknown."""
        return encode_words(marked_words(text), lambda word: [self._ids.get(p, 0) for p in self.best_cut(word)[0]])

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`, unchanged except for U+FFFD in place of each unknown character.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist.
        """
        return "".join(tokens_of(ids, ["\ufffd", *self.vocabulary[1:]])).removeprefix(MARK).replace(MARK, " ")


def _seed_tokens(words: Mapping[str, int], characters: list[str], count: int) -> dict[str, float]:
    """Return all characters and the substrings that cover the most text, with the number of characters each covers."""
    counts: Counter[str] = Counter()
    for word, occurrences in words.items():
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + MAX_LENGTH) + 1):
                counts[word[start:end]] += occurrences
    covered = {piece: n * len(piece) for piece, n in counts.items() if n >= 2 and len(piece) > 1}
    return {char: counts[char] + 0.5 for char in characters} | {p: covered[p] for p in most_frequent(covered, count)}


def _normalize(counts: Mapping[str, float]) -> dict[str, float]:
    total = math.log(sum(counts.values()))
    return {piece: min(0.0, math.log(count) - total) for piece, count in counts.items()}


def _prune(scores: dict[str, float], expected: Mapping[str, float], size: int) -> dict[str, float]:
    """Return `size` tokens: all single characters, and those whose removal would cost the most likelihood.

    The cost of a removal is the token's expected count times the log probability lost by cutting it into other tokens.
    """
    max_length, loss = max(map(len, scores)), {}
    for piece in [piece for piece in scores if len(piece) > 1]:
        score = scores.pop(piece)
        loss[piece] = expected[piece] * (score - viterbi(piece, scores, max_length, -math.inf)[1])
        scores[piece] = score
    characters = [piece for piece in scores if len(piece) == 1]
    kept = sorted(loss, key=lambda piece: (-loss[piece], piece))[: size - len(characters)]
    return {piece: scores[piece] for piece in [*characters, *kept]}
