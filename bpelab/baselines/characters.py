"""Character-level tokenization: one token for each character; those too rare for the vocabulary are unknown.

Training only lists characters. A small vocabulary makes the longest sequences, and a character that the training text
didn't have can't be encoded.

Chapter: Characters, words, subwords. Cost: O(n) for a text of n characters.
Source: none; the first thing anyone tries.
"""

from collections.abc import Iterable, Sequence

from .._support.textio import valid_text
from .common import Baseline, Corpus, count_words, most_frequent, require_vocab_size, tokens_of

UNKNOWN = "<unk>"


class CharacterTokenizer(Baseline):
    """A vocabulary of characters. The unknown token has the id 0 and decodes to U+FFFD.

    Args:
        characters: the characters of the vocabulary, which get the ids from 1 on.

    >>> tokenizer = CharacterTokenizer.train("the cat sat", vocab_size=6)
    >>> tokenizer.vocabulary
    ['<unk>', 't', ' ', 'a', 'c', 'e']
    >>> tokenizer.encode("the tea"), tokenizer.unknown_count("the tea")
    ([1, 0, 5, 2, 1, 5, 3], 1)

    Raises ValueError if a character is repeated, or if a string isn't one character.
    """

    def __init__(self, characters: Sequence[str]) -> None:
        for char in characters:
            if len(char) != 1:
                raise ValueError(f"{char!r} is not one character")
        if len(set(characters)) != len(characters):
            raise ValueError("a character is given twice")
        self.vocabulary = [UNKNOWN, *characters]
        self._ids = {char: index for index, char in enumerate(characters, start=1)}

    @classmethod
    def train(cls, corpus: Corpus, vocab_size: int) -> "CharacterTokenizer":
        """Keep the unknown token, and the `vocab_size` - 1 most frequent characters of a text (or of counted words).

        The vocabulary is smaller if the text has fewer characters. Raises TrainingError (a ValueError) for an empty
        corpus or a size below 2.
        """
        require_vocab_size(vocab_size, 2, "the unknown token and one character")
        counts = count_words(corpus, lambda text: list(valid_text(text)))
        return cls(most_frequent(counts, vocab_size - 1))

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, one for each character. Lone surrogates count as U+FFFD."""
        get = self._ids.get
        return [get(char, 0) for char in valid_text(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of `ids`. Raises UnknownTokenError (a KeyError) for an id that doesn't exist."""
        return "".join(tokens_of(ids, ["\ufffd", *self.vocabulary[1:]]))
