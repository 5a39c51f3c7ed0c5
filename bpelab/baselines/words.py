"""One token for each word. Words are cut at white space and around punctuation; the most frequent ones are kept.

Sequences are short, but every form of a word is a token of its own, what training didn't meet is one unknown token
whatever it was, and the white space is gone: decoding puts a space between all tokens.

Chapter: Characters, words, subwords. Cost: O(n) for a text of n characters.
Source: how text was cut before subwords; Sennrich, Haddow and Birch 2016 begin with what is wrong with it.
"""

from collections.abc import Iterable, Sequence

from .counting import Corpus, count_words, look_up, most_frequent, require_room, words_and_marks

UNKNOWN = "<unk>"


class WordTokenizer:
    """A vocabulary of words and punctuation marks. The unknown token has the id 0.

    Args:
        words: the words of the vocabulary, which get the ids from 1 on.

    >>> tokenizer = WordTokenizer.train("the cat sat. the cats sat, too.", vocab_size=5, min_frequency=2)
    >>> tokenizer.vocabulary
    ['<unk>', '.', 'sat', 'the']
    >>> tokenizer.decode(tokenizer.encode("the dog sat.")), tokenizer.unknown_count("the dog sat.")
    ('the <unk> sat .', 1)

    Raises ValueError for a word that is given twice, or that would be cut.
    """

    def __init__(self, words: Sequence[str]) -> None:
        for word in words:
            if words_and_marks(word) != [word]:
                raise ValueError(f"{word!r} is not one word: it would be cut into {words_and_marks(word)}")
        if len(set(words)) != len(words):
            raise ValueError("a word is given twice")
        self.vocabulary = [UNKNOWN, *words]
        self._ids = {word: number for number, word in enumerate(words, start=1)}

    @classmethod
    def train(cls, corpus: Corpus, vocab_size: int, *, min_frequency: int = 2) -> "WordTokenizer":
        """The `vocab_size` - 1 most frequent words that occur at least `min_frequency` times, and the unknown token.

        The vocabulary is smaller where fewer words are that frequent. Raises TrainingError (a ValueError) for an empty
        corpus or a size below 2.
        """
        require_room(vocab_size, 2, "the unknown token and one word")
        counts = count_words(corpus, words_and_marks)
        frequent = {word: number for word, number in counts.items() if number >= min_frequency}
        return cls(most_frequent(frequent, vocab_size - 1))

    def __len__(self) -> int:
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """The ids of the words of `text`."""
        get = self._ids.get
        return [get(word, 0) for word in words_and_marks(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """The words of `ids`, with a space between each two: the spaces of the text are not known any more.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist.
        """
        return " ".join(look_up(ids, self.vocabulary))

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text`, to be read."""
        return [self.vocabulary[token_id] for token_id in self.encode(text)]

    def unknown_count(self, text: str) -> int:
        """How many tokens of `text` are the unknown token."""
        return self.encode(text).count(0)
