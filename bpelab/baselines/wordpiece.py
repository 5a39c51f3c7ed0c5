"""WordPiece: training merges the pair that occurs most often compared with chance; encoding is greedy longest match.

A token that continues a word is written with `##`. Encoding takes the longest matching token from left to right; if
none matches, the whole word becomes `[UNK]`. Google never published its trainer. The score here, count(ab) / (count(a)
* count(b)), is the usual reading of "increases the likelihood most"; it ranks pairs by how strongly the parts belong
together, not by the total gain. Hugging Face's trainer of the same name merges by frequency, as BPE does.

Chapter: WordPiece and Unigram. Cost: training, for each merge the words that contain the pair and the pairs that
share a part with it; encoding, O(n * longest token) for a word of n characters.
Source: Schuster and Nakajima 2012 (training), Wu et al. 2016, BERT's `tokenization.py` (`##`, `[UNK]`).
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush

from .common import (
    Baseline,
    Corpus,
    Pair,
    PairCounts,
    count_words,
    encode_words,
    require_vocab_size,
    tokens_of,
    words_and_marks,
)

UNKNOWN, CONTINUATION = "[UNK]", "##"


class WordPieceTokenizer(Baseline):
    """Subwords of words that are split at white space and punctuation. The unknown token has the id 0.

    Args:
        pieces: the vocabulary from id 1 on; a piece inside a word starts with `##`.

    >>> tokenizer = WordPieceTokenizer(["un", "unhappy", "##happi", "##ness", "##h"])
    >>> tokenizer.tokens("unhappiness")
    ['un', '##happi', '##ness']
    >>> tokenizer.tokens("unhappier"), tokenizer.unknown_count("unhappier")
    (['[UNK]'], 1)

    Raises ValueError if a piece is repeated or empty.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        if len(set(pieces)) != len(pieces) or not all(piece.removeprefix(CONTINUATION) for piece in pieces):
            raise ValueError("a piece is empty or given twice")
        self.vocabulary = [UNKNOWN, *pieces]
        self._ids = {piece: index for index, piece in enumerate(pieces, start=1)}
        self._max_length = max((len(piece.removeprefix(CONTINUATION)) for piece in pieces), default=0)

    @classmethod
    def train(
        cls, corpus: Corpus, vocab_size: int, *, min_frequency: int = 2, score: str = "likelihood"
    ) -> "WordPieceTokenizer":
        """Learn pieces from a text or from counted words; ties go to the pair with smaller ids.

        `score` is "likelihood", count(ab) / (count(a) * count(b)), or "frequency", count(ab).

        Pairs that occur less than `min_frequency` times are not merged. The vocabulary is smaller if none is left.
        Raises TrainingError (a ValueError) for an empty corpus, or a size without room for its characters, which count
        twice if they occur both at the start of words and inside them; ValueError for any other score.
        """
        if score not in ("likelihood", "frequency"):
            raise ValueError(f'score is "likelihood" or "frequency", not {score!r}')
        min_frequency = max(1, min_frequency)
        words = count_words(corpus, words_and_marks)
        spelled = {word: [word[0], *(CONTINUATION + char for char in word[1:])] for word in words}
        pieces = sorted({piece for spelling in spelled.values() for piece in spelling})
        require_vocab_size(vocab_size, len(pieces) + 1, f"{len(pieces)} characters and {UNKNOWN}")
        ids = {piece: index for index, piece in enumerate(pieces)}
        counts = PairCounts(([ids[piece] for piece in spelled[word]], count) for word, count in words.items())

        def entry(pair: Pair) -> tuple[float, Pair]:
            chance = counts.symbols[pair[0]] * counts.symbols[pair[1]] if score == "likelihood" else 1
            return -counts.pairs[pair] / chance, pair

        heap = [entry(pair) for pair, count in counts.pairs.items() if count >= min_frequency]
        heapify(heap)
        while heap and len(pieces) < vocab_size - 1:
            claimed = heappop(heap)
            pair = left, right = claimed[1]
            if counts.pairs[pair] < min_frequency or claimed != entry(pair):
                continue  # stale: the current entry is on the heap too
            piece = pieces[left] + pieces[right].removeprefix(CONTINUATION)
            new = ids.setdefault(piece, len(pieces))
            if new == len(pieces):
                pieces.append(piece)
            counts.merge(pair, new)
            for changed in counts.pairs_with[left] | counts.pairs_with[right] | counts.pairs_with[new]:
                if counts.pairs[changed] >= min_frequency:
                    heappush(heap, entry(changed))
        return cls(pieces)

    def encode_word(self, word: str, record: Callable[[int, int, int | None], object] | None = None) -> list[int]:
        """Return the ids of a word; `record` is called for each lookup with the piece's start, end, and id or None."""
        ids: list[int] = []
        start = 0
        while start < len(word):
            mark = CONTINUATION if start else ""
            for end in range(min(len(word), start + self._max_length), start, -1):
                found = self._ids.get(mark + word[start:end])
                if record is not None:
                    record(start, end, found)
                if found is not None:
                    ids.append(found)
                    start = end
                    break
            else:
                return [0]
        return ids

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`: the longest pieces from left to right, and one 0 for a word they can't spell."""
        return encode_words(words_and_marks(text), self.encode_word)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words of `ids`, with one space between them: the text's own spaces are lost.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist.
        """
        parts = tokens_of(ids, self.vocabulary)
        spaced = (p.removeprefix(CONTINUATION) if p.startswith(CONTINUATION) else f" {p}" for p in parts)
        return "".join(spaced).lstrip(" ")
