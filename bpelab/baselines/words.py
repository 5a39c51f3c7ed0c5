"""Word-level tokenization: one token for each of the most frequent words, split at white space and punctuation.

Sequences are short, but every form of a word is a token of its own, every word that training didn't see is the same
unknown token, and white space is lost: decoding puts a space between all tokens.

Chapter: Characters, words, subwords. Cost: O(n) for a text of n characters.
Source: how text was tokenized before subwords; Sennrich, Haddow and Birch 2016 start from its problems.
"""

from collections.abc import Iterable, Sequence

from .common import Baseline, Corpus, count_words, most_frequent, require_vocab_size, tokens_of, words_and_marks

UNKNOWN = "<unk>"


class WordTokenizer(Baseline):
    """A vocabulary of words and punctuation marks. The unknown token has the id 0.

    Args:
        words: the words of the vocabulary, which get the ids from 1 on.

    >>> tokenizer = WordTokenizer.train("the cat sat. the cats sat, too.", vocab_size=5, min_frequency=2)
    >>> tokenizer.vocabulary
    ['<unk>', '.', 'sat', 'the']
    >>> tokenizer.decode(tokenizer.encode("the dog sat.")), tokenizer.unknown_count("the dog sat.")
    ('the <unk> sat .', 1)

    Raises ValueError if a word is repeated, or would itself be cut.
    """

    def __init__(self, words: Sequence[str]) -> None:
        for word in words:
            if words_and_marks(word) != [word]:
                raise ValueError(f"{word!r} is not one word: it would be cut into {words_and_marks(word)}")
        if len(set(words)) != len(words):
            raise ValueError("a word is given twice")
        self.vocabulary = [UNKNOWN, *words]
        self._ids = {word: index for index, word in enumerate(words, start=1)}

    @classmethod
    def train(cls, corpus: Corpus, vocab_size: int, *, min_frequency: int = 2) -> "WordTokenizer":
        """Keep the unknown token and the `vocab_size` - 1 most frequent words that occur `min_frequency` times or more.

        The vocabulary is smaller if fewer words are that frequent. Raises TrainingError (a ValueError) for an empty
        corpus or a size below 2.
        """
        require_vocab_size(vocab_size, 2, "the unknown token and one word")
        counts = count_words(corpus, words_and_marks)
        frequent = {word: count for word, count in counts.items() if count >= min_frequency}
        return cls(most_frequent(frequent, vocab_size - 1))

    def encode(self, text: str) -> list[int]:
        """Return the ids of the words of `text`."""
        get = self._ids.get
        return [get(word, 0) for word in words_and_marks(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words of `ids`, with one space between them: the text's own spaces are lost.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist.
        """
        return " ".join(tokens_of(ids, self.vocabulary))
